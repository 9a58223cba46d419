"""Conversions from what ``returns`` makes of functions to effects.

``Result`` needs none: ``Effect.from_result`` takes one, and the outcome of an effect *is* one.  The other way round there
are ``Effect.awaitable`` (``IOResult``) and ``Effect.future_result``.  A ``FutureResult`` runs once and an effect again and
again, so both functions take a function that makes one.

The modules of ``returns`` are imported on use, so that programs that do not use them do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Failure, Outcome, Success

if TYPE_CHECKING:
    from returns.future import FutureResult
    from returns.result import Result

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")


def from_safe(function: Callable[P, Result[A, E]]) -> Callable[P, Effect[A, E]]:
    """Make a function that returns effects from one that returns a ``Result``, such as one decorated with ``@safe``.

    The function runs when its effect does: ``effect.bind(from_safe(parse))``, or ``@from_safe`` above ``@safe(...)``.
    Name the exceptions, as in ``@safe(exceptions=(ValueError,))``; otherwise defects become failures too.
    """

    @wraps(function)
    def make(*args: P.args, **kwargs: P.kwargs) -> Effect[A, E]:
        return Effect.sync(lambda: function(*args, **kwargs)).bind(Effect.from_result)

    return make


def from_future_safe(function: Callable[P, FutureResult[A, E]]) -> Callable[P, Effect[A, E]]:
    """Make a function that returns effects from one that returns a ``FutureResult``, as with ``@future_safe``.

    See ``from_safe``.
    """

    @wraps(function)
    def make(*args: P.args, **kwargs: P.kwargs) -> Effect[A, E]:
        async def run() -> Outcome[A, E]:
            from returns.io import IOFailure
            from returns.unsafe import unsafe_perform_io

            result = await function(*args, **kwargs)
            if isinstance(result, IOFailure):
                return Failure(unsafe_perform_io(result.failure()))
            return Success(unsafe_perform_io(result.unwrap()))

        return Effect.from_outcome(run)

    return make
