"""Conversions from the containers of ``returns`` to effects.

``Result`` needs none: ``Effect.from_result`` takes one, and the outcome of an effect *is* one.  The other way round there
are ``Effect.awaitable`` (``IOResult``) and ``Effect.future_result``.  A container that runs anything is given as a function
that makes it, because an effect can run again and a ``Future`` cannot.

The modules of ``returns`` are imported on use, so that programs that do not use them do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Failure, Outcome, Success

if TYPE_CHECKING:
    from returns.context import RequiresContextFutureResult
    from returns.future import FutureResult
    from returns.io import IOResult
    from returns.result import Result

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")
P = ParamSpec("P")


def from_io_result(make: Callable[[], IOResult[A, E]]) -> Effect[A, E]:
    """Return an effect that calls *make* and ends as the ``IOResult`` does."""

    async def run() -> Outcome[A, E]:
        return _outcome_of_io(make())

    return Effect.from_outcome(run)


def from_future_result(make: Callable[[], FutureResult[A, E]]) -> Effect[A, E]:
    """Return an effect that awaits what *make* returns and ends as it does."""

    async def run() -> Outcome[A, E]:
        return _outcome_of_io(await make())

    return Effect.from_outcome(run)


def from_context_future_result(reader: RequiresContextFutureResult[A, E, Context[R]]) -> Effect[A, E, R]:
    """Return an effect that calls *reader* with the services and ends as it does."""

    async def run(context: Context[R]) -> Outcome[A, E]:
        return _outcome_of_io(await reader(context))

    return Effect.in_context(run)


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
        return from_future_result(lambda: function(*args, **kwargs))

    return make


def _outcome_of_io(result: IOResult[A, E]) -> Outcome[A, E]:
    from returns.io import IOFailure
    from returns.unsafe import unsafe_perform_io

    if isinstance(result, IOFailure):
        return Failure(unsafe_perform_io(result.failure()))
    return Success(unsafe_perform_io(result.unwrap()))
