"""Conversions between effects and the containers of ``returns``.

``Result`` needs none: ``Effect.from_result`` takes one, and the outcome of an effect *is* one.  ``IOResult`` and
``FutureResult`` have methods too (``Effect.awaitable``, ``Effect.future_result``).  A container that runs anything
is given as a function that makes it, because an effect can run again and a ``Future`` cannot.  The containers with a
context read it as ``Context``.

The modules of ``returns`` are imported on use, so that programs that do not use them do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Never, ParamSpec

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Failure, Outcome, Success, as_outcome
from chatmemory.effect.suspended import run_without_waiting

if TYPE_CHECKING:
    from returns.context import (
        RequiresContext,
        RequiresContextFutureResult,
        RequiresContextIOResult,
        RequiresContextResult,
    )
    from returns.future import Future, FutureResult
    from returns.io import IO, IOResult
    from returns.maybe import Maybe
    from returns.result import Result

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")
P = ParamSpec("P")


# --- into an effect ---


def from_maybe(maybe: Maybe[A]) -> Effect[A, None]:
    """Return an effect that succeeds with the value of *maybe*, or fails with ``None``."""
    from returns.converters import maybe_to_result

    return Effect.from_result(maybe_to_result(maybe))


def from_io(make: Callable[[], IO[A]]) -> Effect[A]:
    """Return an effect that calls *make* and succeeds with the value in the ``IO``."""
    from returns.unsafe import unsafe_perform_io

    return Effect.sync(lambda: unsafe_perform_io(make()))


def from_io_result(make: Callable[[], IOResult[A, E]]) -> Effect[A, E]:
    """Return an effect that calls *make* and ends as the ``IOResult`` does."""

    async def run() -> Outcome[A, E]:
        return _outcome_of_io(make())

    return Effect.from_outcome(run)


def from_future(make: Callable[[], Future[A]]) -> Effect[A]:
    """Return an effect that awaits what *make* returns and succeeds with its value."""
    from returns.unsafe import unsafe_perform_io

    async def run() -> Outcome[A, Never]:
        return Success(unsafe_perform_io(await make()))

    return Effect.from_outcome(run)


def from_future_result(make: Callable[[], FutureResult[A, E]]) -> Effect[A, E]:
    """Return an effect that awaits what *make* returns and ends as it does."""

    async def run() -> Outcome[A, E]:
        return _outcome_of_io(await make())

    return Effect.from_outcome(run)


def from_context(reader: RequiresContext[A, Context[R]]) -> Effect[A, Never, R]:
    """Return an effect that succeeds with what *reader* reads from the services."""

    async def run(context: Context[R]) -> Outcome[A, Never]:
        return Success(reader(context))

    return Effect.in_context(run)


def from_context_result(reader: RequiresContextResult[A, E, Context[R]]) -> Effect[A, E, R]:
    """Return an effect that calls *reader* with the services and ends as it does."""

    async def run(context: Context[R]) -> Outcome[A, E]:
        return as_outcome(reader(context))

    return Effect.in_context(run)


def from_context_io_result(reader: RequiresContextIOResult[A, E, Context[R]]) -> Effect[A, E, R]:
    """Return an effect that calls *reader* with the services and ends as it does."""

    async def run(context: Context[R]) -> Outcome[A, E]:
        return _outcome_of_io(reader(context))

    return Effect.in_context(run)


def from_context_future_result(reader: RequiresContextFutureResult[A, E, Context[R]]) -> Effect[A, E, R]:
    """Return an effect that calls *reader* with the services and ends as it does."""

    async def run(context: Context[R]) -> Outcome[A, E]:
        return _outcome_of_io(await reader(context))

    return Effect.in_context(run)


# --- functions that return containers ---


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


# --- out of an effect ---


def to_result(effect: Effect[A, E]) -> Result[A, E]:
    """Run *effect* without an event loop and return its result.

    Raises:
        SuspendedError: *effect* has to wait for something.
    """
    return effect.run_sync()


def to_maybe(effect: Effect[A, object]) -> Maybe[A]:
    """Run *effect* without an event loop; a failure and ``None`` become ``Nothing``.

    Raises:
        SuspendedError: *effect* has to wait for something.
    """
    from returns.maybe import Maybe

    return Maybe.from_optional(effect.run_sync().value_or(None))


def to_io(effect: Effect[A]) -> IO[A]:
    """Run *effect*, which cannot fail, without an event loop.

    Raises:
        SuspendedError: *effect* has to wait for something.
    """
    from returns.io import IO

    return IO(effect.run_sync().unwrap())


def to_io_result(effect: Effect[A, E]) -> IOResult[A, E]:
    """Run *effect* without an event loop.

    Raises:
        SuspendedError: *effect* has to wait for something.
    """
    from returns.io import IOResult

    return IOResult.from_result(effect.run_sync())


def to_future(effect: Effect[A]) -> Future[A]:
    """Return a future of *effect*, which cannot fail.  It runs once and must be awaited."""
    from returns.future import Future

    return Future(effect.or_raise())


def to_future_result(effect: Effect[A, E]) -> FutureResult[A, E]:
    """Return a future of *effect*.  It runs once and must be awaited."""
    return effect.future_result()


def to_context(effect: Effect[A, Never, R]) -> RequiresContext[A, Context[R]]:
    """Return a function from services to the value of *effect*, which cannot fail; the effect runs during the call."""
    from returns.context import RequiresContext

    return RequiresContext(lambda context: run_without_waiting(effect.run_in(context)).unwrap())


def to_context_result(effect: Effect[A, E, R]) -> RequiresContextResult[A, E, Context[R]]:
    """Return a function from services to the result of *effect*; the effect runs during the call."""
    from returns.context import RequiresContextResult

    return RequiresContextResult(lambda context: run_without_waiting(effect.run_in(context)))


def to_context_io_result(effect: Effect[A, E, R]) -> RequiresContextIOResult[A, E, Context[R]]:
    """Return a function from services to the result of *effect*; the effect runs during the call."""
    from returns.context import RequiresContextIOResult
    from returns.io import IOResult

    return RequiresContextIOResult(
        lambda context: IOResult.from_result(run_without_waiting(effect.run_in(context)))
    )


def to_context_future_result(effect: Effect[A, E, R]) -> RequiresContextFutureResult[A, E, Context[R]]:
    """Return a function from services to a future of *effect*; each future runs once and must be awaited."""
    from returns.context import RequiresContextFutureResult
    from returns.future import FutureResult

    return RequiresContextFutureResult(lambda context: FutureResult(effect.run_in(context)))


def _outcome_of_io(result: IOResult[A, E]) -> Outcome[A, E]:
    from returns.io import IOFailure
    from returns.unsafe import unsafe_perform_io

    if isinstance(result, IOFailure):
        return Failure(unsafe_perform_io(result.failure()))
    return Success(unsafe_perform_io(result.unwrap()))
