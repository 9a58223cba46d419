"""The argument checks of the constructors of effects, layers and schedules; running an effect need not repeat them."""

from __future__ import annotations

from collections.abc import Awaitable
from types import CodeType
from typing import Final

from typing_extensions import TypeVar

from chatmemory.effect.checks.mistakes import no_function, no_seconds, shown

__all__ = [
    "ATTEMPT",
    "COROUTINE",
    "awaitable_of",
    "require_awaitable",
    "require_coroutine",
    "require_count",
    "require_exceptions",
    "require_plain",
    "require_seconds",
]

A = TypeVar("A")

COROUTINE: Final = 0x80  # a flag of a code object; `inspect`, which names it, is slow to import
ATTEMPT: Final = "Effect.attempt(lambda: read(path), OSError, to=...)"


def require_plain(function: object, where: str, *, instead: str) -> None:
    """Check that *function* is a function and not a coroutine function.

    Args:
        function: the argument to check.
        where: the method that received it.
        instead: the method that takes a coroutine function.
    """
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        if not callable(function):
            raise no_function(function, where=where, example="lambda: ...")
    elif code.co_flags & COROUTINE:
        msg = (
            f"{where} takes a plain function, and {shown(function)} is a coroutine function: write {instead}"
        )
        raise TypeError(msg)


def require_coroutine(function: object, where: str) -> None:
    """Check that *function* is a coroutine function, as *where*, the decorator, expects."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or not code.co_flags & COROUTINE:
        msg = f"{where} takes a coroutine function, not {shown(function)}: write it above an `async def`"
        raise TypeError(msg)


def require_exceptions(exceptions: tuple[object, ...], verb: str) -> None:
    """Raise ``TypeError`` for anything but classes; Python would report it only when another exception is raised."""
    for exception in exceptions:
        if not isinstance(exception, type):
            msg = f"Effect.{verb} takes the classes of exceptions, not {exception!r}: write {type(exception).__name__}"
            raise TypeError(msg)


def require_seconds(seconds: object) -> None:
    """Raise ``TypeError`` for a value that is not a number."""
    if not isinstance(seconds, float | int) and not hasattr(seconds, "__float__"):
        raise no_seconds(seconds)


def require_count(number: object, *, example: str) -> None:
    """Raise ``TypeError`` for a value that is not a whole number; *example* shows a correct call."""
    if not isinstance(number, int):
        raise TypeError(f"a whole number is wanted, not {shown(number)}: write {example}")


def awaitable_of(made: Awaitable[A], function: object, instead: str) -> Awaitable[A]:
    """Return *made*; raise ``TypeError`` if it cannot be awaited, because *function* is a plain function."""
    require_awaitable(made, function, instead)
    return made


def require_awaitable(made: object, function: object, instead: str) -> None:
    """Raise ``TypeError`` if *made*, which *function* returned, cannot be awaited."""
    if not hasattr(made, "__await__"):
        msg = f"{shown(function)} has returned {shown(made)}, which cannot be awaited: write {instead}"
        raise TypeError(msg)
