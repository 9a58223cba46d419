"""``Stream``: values that come one after the other, and may fail and need services on the way.

``pull.py`` defines how a run hands over its values, ``sources.py`` where they come from, and ``stages.py`` what is done
with them.
"""

# ruff: noqa: SLF001  a combined stream opens its parts

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Generic, Never, final, overload

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Exit, Failure, Outcome, Success, exit_from_exception
from chatmemory.effect.scope import Scope
from chatmemory.effect.stream import sources, stages
from chatmemory.effect.stream.pull import Open, Pull, StreamFailed, exit_of_stream, opened

__all__ = ["Stream"]

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


@final
class Stream(Generic[A_co, E_co, R_co]):
    """Values ``A`` that come one after the other; the stream may fail with ``E``, and needs the services ``R``.

    A stream is a value, as an effect is.  It runs when the effect of ``run_collect`` runs, or within ``async with
    stream.iterate()``; each run starts again if the source allows it.  Nothing is pulled from the source before a consumer
    asks for it.  The source is released at the end, after a failure, and when the consumer stops.  A failure that the type
    names is the outcome; any other exception is a defect and is raised.
    """

    __slots__ = ("_open",)

    def __init__(self, open_: Open[A_co]) -> None:
        """Make a stream from *open_*; callers use the constructors below."""
        self._open = open_

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
        return Stream(stages.in_sequence(sources.value_of(effect), lambda stream: stream._open))

    @staticmethod
    def from_iterable(iterable: Iterable[A]) -> Stream[A]:
        """Return a stream of the values of *iterable*; those of a list or another sequence are processed in chunks."""
        return Stream(sources.values(iterable))

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
        return Stream(sources.async_values(source, exceptions, to))

    # --- continuing from a stream ---

    def map(self, function: Callable[[A_co], B]) -> Stream[B, E_co, R_co]:
        """Replace each value by the result of *function*."""
        return Stream(stages.each_chunk(self._open, lambda chunk: list(map(function, chunk))))

    def tap(self: Stream[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]) -> Stream[A, E | E2, R | R2]:
        """Run the effect that *function* makes from each value, and keep the value."""
        return Stream(stages.each_value(self._open, lambda value: function(value).map(lambda _: value)))

    def filter(self, predicate: Callable[[A_co], bool]) -> Stream[A_co, E_co, R_co]:
        """Keep the values for which *predicate* returns True."""
        return Stream(stages.each_chunk(self._open, lambda chunk: list(filter(predicate, chunk))))

    def take(self, count: int) -> Stream[A_co, E_co, R_co]:
        """Keep the first *count* values, then release the source."""
        return Stream(stages.first(self._open, count))

    def on_end(self: Stream[A, E, R], effect: Effect[Any, E2, R2]) -> Stream[A, E | E2, R | R2]:
        """Run *effect* after the last value; a failure of *effect* is a failure of the stream.

        It does not run when the stream fails or is left earlier.
        """
        return Stream(stages.ended_by(self._open, effect))

    def on_exit(
        self: Stream[A, E, R], finalizer: Callable[[Exit[None, E]], Effect[Any, Never, R2]]
    ) -> Stream[A, E, R | R2]:
        """Run the effect that *finalizer* makes from how the run ended, after the source is released.

        It cannot be interrupted.  A run that its consumer leaves early counts as a success.
        """
        return Stream(stages.finalized(self._open, finalizer))

    def provide(self: Stream[A, E, R], context: Context[R]) -> Stream[A, E]:
        """Provide all the services that the stream needs."""
        return Stream(lambda outer, scope: self._open(outer.merge(context), scope))

    # --- running it ---

    def run_collect(self: Stream[A, E, R]) -> Effect[list[A], E, R]:
        """Return an effect that succeeds with the list of all values."""

        async def run(context: Context[Any]) -> Outcome[list[A], Any]:
            values: list[A] = []
            try:
                async with opened(self._open, context) as pull:
                    while chunk := await pull():
                        values.extend(chunk)
            except StreamFailed as failed:
                return Failure(failed.error)
            return Success(values)

        return Effect.in_context(run)

    @asynccontextmanager
    async def iterate(self: Stream[A, E]) -> AsyncGenerator[AsyncIterator[A]]:
        """Run the stream for ``async for``: ``async with stream.iterate() as values: async for value in values: ...``.

        Leaving releases the source, even when values are left.  For a typed failure the iterator raises what ``or_raise``
        raises.
        """
        scope = Scope()
        values: _Values[A] | None = None
        try:
            values = _Values(await self._open(Context.empty(), scope))
            yield values
        except BaseException as exception:
            failed = values and values.failed
            await scope.close(exit_of_stream(failed) if failed else exit_from_exception(exception))
            raise
        else:
            await scope.close()


@final
class _Values(AsyncIterator[A]):
    """The values of one run, one by one."""

    def __init__(self, pull: Pull[A]) -> None:
        self.failed: StreamFailed | None = None
        self._next = stages.one_by_one(pull)

    async def __anext__(self) -> A:
        try:
            chunk = await self._next()
        except StreamFailed as failed:
            self.failed = failed
            return await Effect.fail(failed.error).or_raise()
        if not chunk:
            raise StopAsyncIteration
        return chunk[0]
