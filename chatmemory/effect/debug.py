"""Development mode: warns of an effect that never runs, and of a failure that nobody looks at, with the line of each.

``CHATMEMORY_DEBUG=1`` switches it on when the kernel is imported, ``enable()`` at any time.  While it is off it costs
nothing: what watches is put into the classes of the kernel when it is switched on.

An effect counts as used once it runs, or is handed to another effect, a layer or a stream.  A failure counts as looked at
once anybody matches it, asks for its class, compares it, prints it or reads one of its attributes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterable
from functools import partial, wraps
from inspect import currentframe
from types import CellType, FrameType, FunctionType, MethodType
from typing import Any, Final, TypeAlias, cast, final

from attrs import define, frozen
from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.layers.shape import Leaf
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.effect.running.runtime import ManagedRuntime
from chatmemory.effect.running.thread_runtime import ThreadRuntime
from chatmemory.effect.stream.stream import Stream

__all__ = ["EffectWarning", "disable", "enable", "is_enabled"]

A = TypeVar("A")
E = TypeVar("E")

KERNEL: Final = "chatmemory.effect"
OURS: Final = ("chatmemory", "chatmemory_layers")
LOOPS: Final = frozenset({"anyio", "asyncio", "concurrent", "threading", "trio"})
DEPTH: Final = 8  # how deep an effect is looked for in what another one is made of


class EffectWarning(RuntimeWarning):
    """An effect never ran, or a failure was dropped; shown in development mode."""


def enable() -> None:
    """Watch the effects and failures that are made from now on."""
    for owner, name, watching in _SWAPS:
        if (owner, name) not in _plain:
            _plain[owner, name] = vars(owner)[name]
            setattr(owner, name, watching)


def disable() -> None:
    """Watch no more; what is watched already stays so."""
    for (owner, name), plain in _plain.items():
        setattr(owner, name, plain)
    _plain.clear()


def is_enabled() -> bool:
    """Tell whether development mode is on."""
    return bool(_plain)


_plain: Final[dict[tuple[type, str], Any]] = {}


# --- where something happens ---


@final
@frozen
class Spot:
    """A line of a program, and the line of ours that it led to, if there is one between it and the kernel."""

    path: str
    line: int
    within: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}{self.within}"


def _spot() -> Spot | None:
    """Return the line outside chatmemory that led here; None where an event loop did, and nothing of ours."""
    frame: FrameType | None = currentframe()
    while frame is not None and _module(frame).startswith(KERNEL):
        frame = frame.f_back
    ours = frame
    while frame is not None and _module(frame).partition(".")[0] in OURS:
        frame = frame.f_back
    if frame is None or _module(frame).partition(".")[0] in LOOPS:
        frame = ours
    if frame is None or _module(frame).partition(".")[0] in LOOPS:
        return None
    within = "" if frame is ours or ours is None else f" (within {ours.f_code.co_filename}:{ours.f_lineno})"
    return Spot(frame.f_code.co_filename, frame.f_lineno, within)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _warn(text: str, spot: Spot | None) -> None:
    if spot is None:
        warnings.warn_explicit(text, EffectWarning, "<an event loop>", 0)
    else:
        warnings.warn_explicit(text, EffectWarning, spot.path, spot.line)


# --- effects ---


@final
@define
class _Life:
    made_at: Spot | None
    is_plain: bool  # a value or a failure as it is: nothing is lost unless it is dropped where it was made
    is_used: bool = False


_lives: Final[dict[int, _Life]] = {}


@final
class WatchedEffect(Effect[Any, Any, Any]):  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]  final, for nobody else
    """An effect that knows where it was made.  It has the layout of ``Effect``, which is made one by its class."""

    __slots__ = ()

    @property
    def _source(self) -> Any:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]  the slot beneath is read here
        _use(self)  # whoever runs an effect asks for this first
        return _source_of(self)

    def __await__(self) -> Generator[Any, Any, Outcome[Any, Any]]:
        _use(self)
        return _outcome_of(super().__await__(), _spot() or _made_at(self))

    def run_sync(self) -> Outcome[Any, Any]:
        """Run as ``Effect.run_sync`` does, and watch the failure."""
        return watched(super().run_sync(), _spot() or _made_at(self))

    def __repr__(self) -> str:
        return super().__repr__().replace("<Effect", f"<Effect made at {_made_at(self)}", 1)

    def __del__(self) -> None:
        life = _lives.pop(id(self), None)
        if life is None or life.is_used or life.made_at is None or sys.is_finalizing():
            return
        if life.is_plain and _spot() != life.made_at:
            return
        text = "this effect never ran: await it, return it, or hand it to another one"
        _warn(f"{text} (made at {life.made_at})", life.made_at)


def _outcome_of(
    steps: Generator[Any, Any, Outcome[Any, Any]], spot: Spot | None
) -> Generator[Any, Any, Outcome[Any, Any]]:
    return watched((yield from steps), spot)


_source_of: Final = vars(Effect)["_source"].__get__
_init: Final = vars(Effect)["__init__"]
_kind_of: Final = vars(Effect)["_kind"].__get__
_PLAIN_KINDS: Final = frozenset({_kind_of(Effect.succeed(None)), _kind_of(Effect.fail(None))})


def _make(
    self: Effect[Any, Any, Any], source: Effect[Any, Any, Any] | None, kind: int, function: Any
) -> None:
    _init(self, source, kind, function)
    _lives[id(self)] = _Life(_spot(), is_plain=source is None and kind in _PLAIN_KINDS)
    self.__class__ = WatchedEffect
    _adopt((source, function))


def _made_at(effect: object) -> Spot | None:
    life = _lives.get(id(effect))
    return None if life is None else life.made_at


def _use(effect: object) -> None:
    if (life := _lives.get(id(effect))) is not None:
        life.is_used = True


def _adopt(part: object) -> None:
    """Count the effects that *part* holds as used: in closures, arguments, containers and parts of the kernel."""
    waiting, seen = [(part, DEPTH)], set[int]()
    while waiting:
        one, depth = waiting.pop()
        if id(one) in _lives:
            _use(one)
        elif depth > 0 and id(one) not in seen:
            seen.add(id(one))
            waiting += [(inner, depth - 1) for inner in _parts(one)]


def _parts(part: Any) -> list[Any]:
    if isinstance(part, FunctionType):
        cells = [_content(cell) for cell in part.__closure__ or ()]
        return [*cells, *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]
    if isinstance(part, partial):
        return [part.func, *part.args, *part.keywords.values()]
    if isinstance(part, MethodType):
        return [part.__self__, part.__func__]
    if isinstance(part, tuple | list | set | frozenset):
        return list(cast("Iterable[Any]", part))
    if isinstance(part, dict):
        return list(cast("Any", part).values())
    if type(part).__module__.startswith(KERNEL):
        slots = [slot for kind in type(part).__mro__ for slot in vars(kind).get("__slots__", ())]
        return [getattr(part, slot, None) for slot in slots]
    return []


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


# --- failures ---


@final
class WatchedFailure(Failure[Any]):  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]  as above
    """A failure that left the kernel, and knows whether anybody has looked at it."""

    __slots__ = ("_is_seen", "_spot")
    __qualname__ = "Failure"

    def __init__(self, error: Any, spot: Spot | None) -> None:
        super().__init__(error)
        object.__setattr__(self, "_is_seen", False)
        object.__setattr__(self, "_spot", spot)

    def __getattribute__(self, name: str) -> Any:
        # `isinstance` and `match` come here too: they ask for __class__.
        object.__setattr__(self, "_is_seen", True)
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        object.__setattr__(self, "_is_seen", True)
        return super().__eq__(other)

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        return f"<Failure: {self._inner_value}>"

    def __reduce__(self) -> Any:
        return Failure, (self._inner_value,)

    def __del__(self) -> None:
        if not object.__getattribute__(self, "_is_seen") and not sys.is_finalizing():
            spot: Spot | None = object.__getattribute__(self, "_spot")
            error: object = object.__getattribute__(self, "_inner_value")
            text = f"nobody looked at this failure: {type(error).__name__}: {error}"
            cure = "match the outcome, or write `await effect.or_raise()`"
            _warn(f"{text} (awaited at {spot}); {cure}", spot)


def watched(outcome: Outcome[A, E], spot: Spot | None) -> Outcome[A, E]:
    """Return *outcome*, watched if it is a failure; *spot* is where it leaves the kernel."""
    return outcome if type(outcome) is Success else WatchedFailure(outcome.failure(), spot)


# --- what is swapped ---

Running: TypeAlias = Callable[[Any, Effect[Any, Any, Any]], Awaitable[Outcome[Any, Any]]]


def _awaited(plain: Running) -> Running:
    @wraps(plain)
    async def run(runtime: Any, effect: Effect[Any, Any, Any]) -> Outcome[Any, Any]:
        _use(effect)
        return watched(await plain(runtime, effect), _spot() or _made_at(effect))

    return run


def _called(
    plain: Callable[[Any, Effect[Any, Any, Any]], Outcome[Any, Any]],
) -> Callable[..., Outcome[Any, Any]]:
    @wraps(plain)
    def run(runtime: Any, effect: Effect[Any, Any, Any]) -> Outcome[Any, Any]:
        _use(effect)
        return watched(plain(runtime, effect), _spot() or _made_at(effect))

    return run


def _holding(plain: Callable[..., None]) -> Callable[..., None]:
    @wraps(plain)
    def make(self: object, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        _adopt((args, kwargs))

    return make


_SWAPS: Final[tuple[tuple[type, str, Any], ...]] = (
    (Effect, "__init__", _make),
    (Leaf, "__init__", _holding(vars(Leaf)["__init__"])),
    (Stream, "__init__", _holding(vars(Stream)["__init__"])),
    (ManagedRuntime, "run", _awaited(vars(ManagedRuntime)["run"])),
    (ManagedRuntime, "run_sync", _called(vars(ManagedRuntime)["run_sync"])),
    (ThreadRuntime, "run", _awaited(vars(ThreadRuntime)["run"])),
    (ThreadRuntime, "run_blocking", _called(vars(ThreadRuntime)["run_blocking"])),
)
