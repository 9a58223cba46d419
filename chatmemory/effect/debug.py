"""Development mode: warns of an effect that never ran, with the line that made it.

``CHATMEMORY_DEBUG=1`` switches it on when the kernel is imported, ``enable()`` at any time.  While it is off it costs
nothing: the methods that watch are added to the classes of the kernel when it is switched on.

The newest effect is watched until it runs, until another effect is made, or until a layer or a stream is made.  When it is
deleted before, it was never awaited.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import CO_COROUTINE, currentframe
from types import FrameType
from typing import Any, Final, TypeAlias

from chatmemory.effect.effect import Effect
from chatmemory.effect.layers.layer import Leaf
from chatmemory.effect.running.runtime import ManagedRuntime
from chatmemory.effect.running.thread_runtime import ThreadRuntime
from chatmemory.effect.stream import Stream

KERNEL: Final = "chatmemory.effect"
OURS: Final = ("chatmemory", "chatmemory_layers")
Line: TypeAlias = tuple[str, int]


class EffectWarning(RuntimeWarning):
    """An effect never ran; issued in development mode only."""


def enable() -> None:
    """Watch the effects that are made from now on."""
    for owner, name, watching in _WATCHING:
        if (owner, name) not in _plain:
            _plain[owner, name] = vars(owner).get(name)
            setattr(owner, name, watching)


def disable() -> None:
    """Stop watching."""
    for (owner, name), plain in _plain.items():
        if plain is None:
            delattr(owner, name)
        else:
            setattr(owner, name, plain)
    _plain.clear()
    _newest.clear()


def is_enabled() -> bool:
    """Return whether development mode is on."""
    return bool(_plain)


_plain: Final[dict[tuple[type, str], Any]] = {}
_newest: Final[dict[int, Line | None]] = {}
"""The id of the newest effect, and the line that made it."""


def _is_returned_to_the_kernel() -> bool:
    """Return whether a function is running that the kernel has called for its effect, such as the function of ``bind``."""
    frame, is_called = currentframe(), False
    while frame is not None:
        is_kernel, is_coroutine = (
            _module(frame).startswith(KERNEL),
            bool(frame.f_code.co_flags & CO_COROUTINE),
        )
        if is_kernel and (is_called or is_coroutine):
            return True
        if is_coroutine:
            return False
        is_called = is_called or not is_kernel
        frame = frame.f_back
    return False


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _line() -> Line | None:
    """Return the line outside chatmemory that led here; None if there is none."""
    frame: FrameType | None = currentframe()
    while frame is not None and _module(frame).partition(".")[0] in OURS:
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


_init: Final = vars(Effect)["__init__"]
_kind_of: Final = vars(Effect)["_kind"].__get__
_PLAIN_KINDS: Final = frozenset({_kind_of(Effect.succeed(None)), _kind_of(Effect.fail(None))})


def _make(self: Effect[Any, Any, Any], source: object, kind: int, function: object) -> None:
    _init(self, source, kind, function)
    _newest.clear()
    if not _is_returned_to_the_kernel():
        _newest[id(self)] = _line()


def _delete(
    self: Effect[Any, Any, Any],
    newest: dict[int, Line | None] = _newest,  # at the end of the program, the names of the module are gone
    is_finalizing: Callable[[], bool] = sys.is_finalizing,
) -> None:
    line = newest.pop(id(self), None)
    if line is None or is_finalizing():
        return
    # An effect that only holds a value or a failure loses no work, unless the line that made it drops it.
    if _kind_of(self) not in _PLAIN_KINDS or _line() == line:
        text = "this effect never ran: await it, return it, or hand it to another one"
        warnings.warn_explicit(text, EffectWarning, *line)


def _using(plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def use(*args: Any, **kwargs: Any) -> Any:
        _newest.clear()
        return plain(*args, **kwargs)

    return use


_USING: Final[Mapping[type, tuple[str, ...]]] = {
    Effect: ("__await__", "run_in"),
    Leaf: ("__init__",),
    Stream: ("__init__",),
    ManagedRuntime: ("run", "run_sync"),
    ThreadRuntime: ("run", "run_blocking"),
}
_WATCHING: Final[tuple[tuple[type, str, Any], ...]] = (
    (Effect, "__init__", _make),
    (Effect, "__del__", _delete),
    *((owner, name, _using(vars(owner)[name])) for owner, names in _USING.items() for name in names),
)
