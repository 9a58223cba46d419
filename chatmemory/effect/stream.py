"""``Stream``: values that come one after the other, and may fail and need services on the way.

A run is a chain of async generators.  An ``AsyncExitStack`` closes each of them, the last one first, and runs the finalizers
between them.
"""

# ruff: noqa: SLF001  a combined stream runs its parts

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Generic, Never, TypeAlias, final, overload

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import (
    Exit,
    Fail,
    Failure,
    Outcome,
    Success,
    exception_of,
    exit_from_exception,
)
from chatmemory.effect.suspended import shield

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
E2 = TypeVar("E2")
R = TypeVar("R")
R2 = TypeVar("R2")
X = TypeVar("X", bound=Exception)
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True, default=Never)
R_co = TypeVar("R_co", covariant=True, default=Never)

Values: TypeAlias = Callable[[Context[Any], AsyncExitStack], AsyncGenerator[A]]
"""Starts a run with the given services; the stack holds what the run has to release."""


class _StreamFailed(Exception):  # noqa: N818  a failure on its way, never seen by users
    """Carries a typed failure of a stream from stage to stage."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


@final
class Stream(Generic[A_co, E_co, R_co]):
    """Values ``A`` that come one after the other; the stream may fail with ``E``, and needs the services ``R``.

    A stream is a value, as an effect is.  It runs when the effect of ``run_collect`` runs, or within ``async with
    stream.iterate()``; each run starts again if the source allows it.  Nothing is pulled from the source before a consumer
    asks for it.  The source is released at the end, after a failure, and when the consumer stops.  A failure that the type
    names is the outcome; any other exception is a defect and is raised.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Values[A_co]) -> None:
        """Make a stream from *values*; callers use the constructors below."""
        self._values = values

    def __repr__(self) -> str:
        return "<Stream: gives nothing until it is run>"

    # --- constructors ---

    @overload
    @staticmethod
    def unwrap(effect: Effect[Stream[A, E], E2]) -> Stream[A, E | E2]: ...
    @overload
    @staticmethod
    def unwrap(effect: Effect[Stream[A, E, R], E2, R2]) -> Stream[A, E | E2, R | R2]: ...
    @staticmethod
    def unwrap(effect: Effect[Stream[Any, Any, Any], Any, Any]) -> Stream[Any, Any, Any]:
        """Return the stream with which *effect* succeeds, as a stream."""

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[Any]:
            stream = await _value_of(effect, context)
            async for value in stream._run(context, stack):
                yield value

        return Stream(values)

    @staticmethod
    def from_iterable(iterable: Iterable[A]) -> Stream[A]:
        """Return a stream of the values of *iterable*; a generator is closed when the run ends."""

        async def values(_: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A]:
            iterator = iter(iterable)
            if isinstance(iterator, Generator):
                stack.callback(iterator.close)
            for value in iterator:
                yield value

        return Stream(values)

    @overload
    @staticmethod
    def from_async_iterable(source: AsyncIterable[A] | Callable[[], AsyncIterable[A]]) -> Stream[A]: ...
    @overload
    @staticmethod
    def from_async_iterable(
        source: AsyncIterable[A] | Callable[[], AsyncIterable[A]],
        *exceptions: type[X],
        to: Callable[[X], E],
    ) -> Stream[A, E]: ...
    @staticmethod
    def from_async_iterable(
        source: AsyncIterable[A] | Callable[[], AsyncIterable[A]],
        *exceptions: type[Exception],
        to: Callable[[Any], Any] = lambda exception: exception,
    ) -> Stream[A, Any]:
        """Return a stream of the values of *source*, which is closed when the run ends.

        The source runs in the task of the consumer, so it must not hold a task group between two values.

        Args:
            source: an async iterable, or a function without arguments that returns one, such as an async generator
                function.  Only a function lets the stream run more than once.
            exceptions: the exception classes that become failures; any other exception is a defect.
            to: makes the error from the exception.
        """
        # With a callable that is also an iterable, pyright would lose the type of the values.
        given: Any = source
        make: Callable[[], AsyncIterable[A]] = (lambda: given) if isinstance(source, AsyncIterable) else given

        async def values(_: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A]:
            try:
                iterator = aiter(make())
                if (close := getattr(iterator, "aclose", None)) is not None:
                    stack.push_async_callback(close)
                async for value in iterator:
                    yield value
            except exceptions as exception:
                raise _StreamFailed(to(exception)) from exception

        return Stream(values)

    # --- continuing from a stream ---

    def map(self, function: Callable[[A_co], B]) -> Stream[B, E_co, R_co]:
        """Replace each value by the result of *function*."""

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[B]:
            async for value in self._run(context, stack):
                yield function(value)

        return Stream(values)

    def tap(self: Stream[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]) -> Stream[A, E | E2, R | R2]:
        """Run the effect that *function* makes from each value, and keep the value."""

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A]:
            async for value in self._run(context, stack):
                await _value_of(function(value), context)
                yield value

        return Stream(values)

    def filter(self, predicate: Callable[[A_co], bool]) -> Stream[A_co, E_co, R_co]:
        """Keep the values for which *predicate* returns True."""

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A_co]:
            async for value in self._run(context, stack):
                if predicate(value):
                    yield value

        return Stream(values)

    def take(self, count: int) -> Stream[A_co, E_co, R_co]:
        """Keep the first *count* values, then release the source."""

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A_co]:
            source, left = AsyncExitStack(), count
            stack.push_async_exit(source)
            if left > 0:
                async for value in self._run(context, source):
                    yield value
                    left -= 1
                    if left == 0:
                        break
            await source.aclose()

        return Stream(values)

    def on_end(self: Stream[A, E, R], effect: Effect[Any, E2, R2]) -> Stream[A, E | E2, R | R2]:
        """Run *effect* after the last value; a failure of *effect* is a failure of the stream.

        It does not run when the stream fails or is left earlier.
        """

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A]:
            async for value in self._run(context, stack):
                yield value
            await _value_of(effect, context)

        return Stream(values)

    def on_exit(
        self: Stream[A, E, R], finalizer: Callable[[Exit[None, E]], Effect[Any, Never, R2]]
    ) -> Stream[A, E, R | R2]:
        """Run the effect that *finalizer* makes from how the run ended, after the source is released.

        It cannot be interrupted.  A run that its consumer leaves early counts as a success.
        """

        async def values(context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A]:
            async def finalize(
                _: type[BaseException] | None, exception: BaseException | None, __: TracebackType | None
            ) -> None:
                try:
                    await finalizer(_exit_of(exception)).run_in(context)
                except BaseException as own:  # an AsyncExitStack would drop the exception before it
                    own.__context__ = own.__context__ or exception
                    raise

            stack.push_async_exit(finalize)
            async for value in self._run(context, stack):
                yield value

        return Stream(values)

    # --- running it ---

    def _run(self, context: Context[Any], stack: AsyncExitStack) -> AsyncGenerator[A_co]:
        values = self._values(context, stack)
        stack.push_async_callback(values.aclose)
        return values

    def run_collect(self: Stream[A, E, R]) -> Effect[list[A], E, R]:
        """Return an effect that succeeds with the list of all values."""

        async def run(context: Context[Any]) -> Outcome[list[A], Any]:
            try:
                async with _closing() as stack:
                    return Success([value async for value in self._run(context, stack)])
            except _StreamFailed as failed:
                return Failure(failed.error)

        return Effect.in_context(run)

    @asynccontextmanager
    async def iterate(self: Stream[A, E]) -> AsyncGenerator[AsyncIterator[A]]:
        """Run the stream for ``async for``: ``async with stream.iterate() as values: async for value in values: ...``.

        Leaving releases the source, even when values are left.  For a typed failure the iterator raises what ``or_raise``
        raises.
        """
        failures: list[object] = []

        async def values(stack: AsyncExitStack) -> AsyncGenerator[A]:
            try:
                async for value in self._run(Context.empty(), stack):
                    yield value
            except _StreamFailed as failed:
                failures.append(failed.error)
                exception = exception_of(failed.error)
                raise exception from exception.__cause__

        async with _closing(failures) as stack:
            iterator = values(stack)
            stack.push_async_callback(iterator.aclose)
            yield iterator


@asynccontextmanager
async def _closing(failures: Sequence[object] = ()) -> AsyncGenerator[AsyncExitStack]:
    """Give a stack, and close it with how the block ended: with the first of *failures*, if there is one."""
    stack = AsyncExitStack()
    try:
        yield stack
    except BaseException as exception:
        cause = _StreamFailed(failures[0]) if failures else exception
        with shield():
            await stack.__aexit__(type(cause), cause, cause.__traceback__)
        raise
    with shield():
        await stack.aclose()


def _exit_of(exception: BaseException | None) -> Exit[None, Any]:
    if exception is None:
        return Success(None)
    if isinstance(exception, _StreamFailed):
        return Failure(Fail(exception.error))
    return exit_from_exception(exception)


async def _value_of(effect: Effect[A, Any, Any], context: Context[Any]) -> A:
    """Run *effect* as a step of a stream, and return its value.

    Raises:
        _StreamFailed: the effect failed.
    """
    outcome = await effect.run_in(context)
    if type(outcome) is Success:
        return outcome.unwrap()
    raise _StreamFailed(outcome.failure())
