"""Development mode: warns of an effect that never runs and of a failure that nobody looks at, with the line of each.

``CHATMEMORY_DEBUG=1`` switches it on when the kernel is imported, ``enable()`` at any time.  While it is off it costs
nothing: the watching code is added to the classes of the kernel when it is switched on.

An effect counts as used once it runs, or is passed to another effect, a layer or a stream.  A failure counts as
looked at once it is matched, compared or printed, or its class or another attribute is read.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterable
from functools import partial, wraps
from inspect import currentframe
from types import CellType, FrameType, FunctionType, MethodType
from typing import Any, Final, TypeAlias, cast, final

from attrs import frozen
from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.layer import Leaf
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
DEPTH: Final = 9  # how many levels of nested values are searched for the effects that an effect is made of


class EffectWarning(RuntimeWarning):
    """An effect never ran, or a failure was dropped; issued in development mode only."""


def enable() -> None:
    """Watch the effects and failures that are made from now on."""
    for owner, name, watching in _SWAPS:
        if (owner, name) not in _plain:
            _plain[owner, name] = vars(owner)[name]
            setattr(owner, name, watching)


def disable() -> None:
    """Stop watching; effects and failures that are already watched stay watched."""
    for (owner, name), plain in _plain.items():
        setattr(owner, name, plain)
    _plain.clear()


def is_enabled() -> bool:
    """Return whether development mode is on."""
    return bool(_plain)


_plain: Final[dict[tuple[type, str], Any]] = {}


# --- where something happens ---


@final
@frozen
class Spot:
    """A line of a program, and the line of chatmemory code before the kernel that it called, if there is one."""

    path: str
    line: int
    within_path: str | None
    within_line: int | None

    def __str__(self) -> str:
        within = f" (within {self.within_path}:{self.within_line})" if self.within_path else ""
        return f"{self.path}:{self.line}{within}"


def _spot() -> Spot | None:
    """Return the line outside chatmemory that led here, or else chatmemory's own; None if only an event loop led here."""
    frame: FrameType | None = currentframe()
    while frame is not None and _room(frame) == KERNEL:
        frame = frame.f_back
    ours = frame
    while frame is not None and _room(frame) in OURS:
        frame = frame.f_back
    if frame is None or _room(frame) in LOOPS:
        frame = ours
    if frame is None or _room(frame) in LOOPS:
        return None
    within = ours if ours is not frame else None
    return Spot(
        frame.f_code.co_filename,
        frame.f_lineno,
        within and within.f_code.co_filename,
        within and within.f_lineno,
    )


_rooms: Final[dict[str, str]] = {}


def _room(frame: FrameType) -> str:
    """Return the package of the code that *frame* runs: the kernel, or the top-level package."""
    path = frame.f_code.co_filename
    room = _rooms.get(path)
    if room is None:
        module = str(frame.f_globals.get("__name__", ""))
        room = KERNEL if module.startswith(KERNEL) else module.partition(".")[0]
        if not path.startswith("<"):  # generated code of several modules may have the same file name
            _rooms[path] = room
    return room


def _warn(text: str, spot: Spot | None) -> None:
    if spot is None:
        warnings.warn_explicit(text, EffectWarning, "<an event loop>", 0)
    else:
        warnings.warn_explicit(text, EffectWarning, spot.path, spot.line)


# --- effects ---

_made_at: Final[dict[int, Spot | None]] = {}
# Where the newest effect was made; that effect may be deleted already.
_newest: Final[list[Spot | None]] = [None]
_waiting: Final = set[int]()  # the ids of effects that are not used yet


@final
class WatchedEffect(Effect[Any, Any, Any]):  # type: ignore[misc]  # final for all other code
    """An effect that remembers where it was made.  An ``Effect`` gets this class assigned, so both have the same layout."""

    __slots__ = ()

    @property
    def _source(self) -> Any:  # type: ignore[override]  # this property reads the slot that it hides
        _use(self)  # every run of an effect reads this first
        return _source_of(self)

    def __await__(self) -> Generator[Any, Any, Outcome[Any, Any]]:
        _use(self)
        return _outcome_of(self, super().__await__())

    def run_sync(self) -> Outcome[Any, Any]:
        """Run as ``Effect.run_sync`` does, and watch the failure."""
        return watched(super().run_sync(), self)

    def __repr__(self) -> str:
        return super().__repr__().replace("<Effect", f"<Effect made at {_made_at.get(id(self))}", 1)

    def __del__(self) -> None:
        spot = _made_at.pop(id(self), None)
        is_newest = spot is _newest[0]
        if id(self) not in _waiting:
            return
        _use(self)
        if spot is None or sys.is_finalizing():
            return
        # An effect that only holds a value or a failure loses no work.  Warn only if it is dropped where it was made,
        # and not by a garbage collection that happens to run on that line.
        if _kind_of(self) in _PLAIN_KINDS and not (is_newest and _spot() == spot):
            return
        text = "this effect never ran: await it, return it, or hand it to another one"
        _warn(f"{text} (made at {spot})", spot)


def _outcome_of(
    effect: Effect[Any, Any, Any], steps: Generator[Any, Any, Outcome[Any, Any]]
) -> Generator[Any, Any, Outcome[Any, Any]]:
    return watched((yield from steps), effect)


_source_of: Final = vars(Effect)["_source"].__get__
_init: Final = vars(Effect)["__init__"]
_kind_of: Final = vars(Effect)["_kind"].__get__
_PLAIN_KINDS: Final = frozenset({_kind_of(Effect.succeed(None)), _kind_of(Effect.fail(None))})


def _make(
    self: Effect[Any, Any, Any], source: Effect[Any, Any, Any] | None, kind: int, function: Any
) -> None:
    _init(self, source, kind, function)
    self.__class__ = WatchedEffect
    if source is not None:
        _use(source)
    _adopt(function)
    _made_at[id(self)] = _newest[0] = _spot()
    _waiting.add(id(self))


def _use(effect: object) -> None:
    _waiting.discard(id(effect))


def _adopt(part: object) -> None:
    """Mark the effects inside *part* as used: in closures, arguments, containers and objects of the kernel."""
    parts, seen = [part], set[int]()
    for _ in range(DEPTH):
        if not _waiting or not parts:
            return
        inner = list[object]()
        for one in parts:
            if type(one) is WatchedEffect:
                _use(one)
            elif id(one) not in seen:
                seen.add(id(one))
                inner += _parts(one)
        parts = inner


def _parts(part: Any) -> Iterable[object]:
    if isinstance(part, FunctionType):
        cells = [_content(cell) for cell in part.__closure__ or ()]
        return [*cells, *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]
    if isinstance(part, partial):
        return [part.func, *part.args, *part.keywords.values()]
    if isinstance(part, MethodType):
        return [part.__self__, part.__func__]
    if isinstance(part, tuple | list | set | frozenset):
        return cast("Iterable[object]", part)
    if isinstance(part, dict):
        return cast("Iterable[object]", cast("Any", part).values())
    holder: object = part
    return [getattr(holder, slot, None) for slot in _slots(type(holder))]


_slots_of: Final[dict[type, tuple[str, ...]]] = {}


def _slots(kind: type) -> tuple[str, ...]:
    """Return the slots of a class of the kernel; empty for any other class."""
    if kind not in _slots_of:
        bases = kind.__mro__ if kind.__module__.startswith(KERNEL) else ()
        _slots_of[kind] = tuple(slot for base in bases for slot in vars(base).get("__slots__", ()))
    return _slots_of[kind]


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None


# --- failures ---


@final
class WatchedFailure(Failure[Any]):  # type: ignore[misc]  # as above
    """A failure that has left the kernel; it records whether anybody has looked at it."""

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


def watched(outcome: Outcome[A, E], effect: Effect[Any, Any, Any]) -> Outcome[A, E]:
    """Return *outcome*; if it is a failure, watch it from now on, because it leaves the kernel here.

    Args:
        outcome: how the effect ended.
        effect: the effect, for the warning.
    """
    if type(outcome) is Success:
        return outcome
    return WatchedFailure(outcome.failure(), _spot() or _made_at.get(id(effect)))


# --- the methods that development mode replaces ---

Running: TypeAlias = Callable[[Any, Effect[Any, Any, Any]], Awaitable[Outcome[Any, Any]]]


def _awaited(plain: Running) -> Running:
    @wraps(plain)
    async def run(runtime: Any, effect: Effect[Any, Any, Any]) -> Outcome[Any, Any]:
        _use(effect)
        return watched(await plain(runtime, effect), effect)

    return run


def _called(
    plain: Callable[[Any, Effect[Any, Any, Any]], Outcome[Any, Any]],
) -> Callable[..., Outcome[Any, Any]]:
    @wraps(plain)
    def run(runtime: Any, effect: Effect[Any, Any, Any]) -> Outcome[Any, Any]:
        _use(effect)
        return watched(plain(runtime, effect), effect)

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
