"""``Stream``: values that come one after the other, and may fail and need services on the way.

``pull.py`` defines how a run hands over its values, ``sources.py`` where they come from, ``stages.py`` what is done with
them, and ``at_once.py`` the stages that need tasks of their own.
"""

# ruff: noqa: SLF001  a combined stream opens its parts

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, Never, Self, final, overload

from typing_extensions import TypeVar

from chatmemory.effect.concurrency.queue import OnFull, Queue
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.family import Family
from chatmemory.effect.outcome import Exit, Failure, Outcome, Success, exit_from_exception
from chatmemory.effect.scope import Scope
from chatmemory.effect.stream import at_once, sources, stages
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

    A stream is a value, as an effect is.  It runs when one of the ``run_...`` effects runs, or within ``async with
    stream.iterate()``; each run starts again if the source allows it.  Nothing is pulled from the source before a consumer
    asks for it, unless a method says otherwise.  The source is released at the end, after a failure, and when the consumer
    stops.  A failure that the type names can be caught; any other exception is a defect and is raised.
    """

    __slots__ = ("_open",)

    def __init__(self, open_: Open[A_co]) -> None:
        """Make a stream from *open_*; callers use the constructors below."""
        self._open = open_

    def __repr__(self) -> str:
        return "<Stream: gives nothing until it is run>"

    # --- constructors ---

    @staticmethod
    def of(*values: A) -> Stream[A]:
        """Return a stream of *values*."""
        return Stream(sources.values(values))

    @staticmethod
    def fail(error: E) -> Stream[Never, E]:
        """Return a stream that fails with *error*."""
        return Stream.from_effect(Effect.fail(error))

    @staticmethod
    def from_effect(effect: Effect[A, E, R]) -> Stream[A, E, R]:
        """Return a stream of one value, that of *effect*."""
        return Stream(sources.value_of(effect))

    @overload
    @staticmethod
    def unwrap(effect: Effect[Stream[A, E], E2]) -> Stream[A, E | E2]: ...
    @overload
    @staticmethod
    def unwrap(effect: Effect[Stream[A, E, R], E2, R2]) -> Stream[A, E | E2, R | R2]: ...
    @staticmethod
    def unwrap(effect: Effect[Stream[Any, Any, Any], Any, Any]) -> Stream[Any, Any, Any]:
        """Return the stream with which *effect* succeeds, as a stream."""
        return Stream.from_effect(effect).flat_map(lambda stream: stream)

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

        The source runs in the task of the consumer.  If it holds a task group between two values, add ``buffer`` after it,
        which opens, runs and closes it in one task.

        Args:
            source: an async iterable, or a function without arguments that returns one, such as an async generator
                function.  Only a function lets the stream run more than once.
            exceptions: the exception classes that become failures; any other exception is a defect.
            to: makes the error from the exception.
        """
        return Stream(sources.async_values(source, exceptions, to))

    @staticmethod
    def from_queue(queue: Queue[A]) -> Stream[A]:
        """Return a stream of the values of *queue*, until it has ended; if it is shut down, the stream is interrupted."""
        return Stream(sources.queued(queue))

    @staticmethod
    def scoped(open_: Callable[[], AbstractAsyncContextManager[A]]) -> Stream[A]:
        """Return a stream of one value, that of a context manager, which is left when the run ends."""
        return Stream(sources.entered(open_))

    # --- continuing from a stream ---

    def map(self, function: Callable[[A_co], B]) -> Stream[B, E_co, R_co]:
        """Replace each value by the result of *function*."""
        return Stream(stages.each_chunk(self._open, lambda chunk: list(map(function, chunk))))

    def map_effect(
        self, function: Callable[[A_co], Effect[B, E2, R2]], *, concurrency: int = 1
    ) -> Stream[B, E_co | E2, R_co | R2]:
        """Replace each value by the value of the effect that *function* makes from it, in the order of the source.

        Args:
            function: makes an effect from each value.
            concurrency: how many effects may run, or wait for their turn, at the same time.  With more than 1, a task of
                its own pulls the source, and the first failure interrupts the other effects.
        """
        if concurrency == 1:
            return Stream(stages.each_value(self._open, function))
        return Stream(at_once.mapped_at_once(self._open, function, concurrency))

    def tap(self: Stream[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]) -> Stream[A, E | E2, R | R2]:
        """Run the effect that *function* makes from each value, and keep the value."""
        return self.map_effect(lambda value: function(value).map(lambda _: value))

    def filter(self, predicate: Callable[[A_co], bool]) -> Stream[A_co, E_co, R_co]:
        """Keep the values for which *predicate* returns True."""
        return Stream(stages.each_chunk(self._open, lambda chunk: list(filter(predicate, chunk))))

    def take(self, count: int) -> Stream[A_co, E_co, R_co]:
        """Keep the first *count* values, then release the source."""
        return Stream(stages.first(self._open, count))

    def scan(self, initial: B, function: Callable[[B, A_co], B]) -> Stream[B, E_co, R_co]:
        """Yield *initial*, then for each value the result so far.

        Args:
            initial: the first result.
            function: makes the next result from the last result and a value.
        """
        return Stream(stages.scanned(self._open, initial, function))

    def flat_map(
        self: Stream[A, E, R], function: Callable[[A], Stream[B, E2, R2]]
    ) -> Stream[B, E | E2, R | R2]:
        """Yield the values of the streams that *function* makes from each value, one stream after the other."""
        return Stream(stages.in_sequence(self._open, lambda value: function(value)._open))

    def concat(self, other: Stream[B, E2, R2]) -> Stream[A_co | B, E_co | E2, R_co | R2]:
        """Yield the values of this stream, then those of *other*."""
        both: list[Stream[Any, Any, Any]] = [self, other]
        return Stream.from_iterable(both).flat_map(lambda stream: stream)

    def merge(self, other: Stream[B, E2, R2]) -> Stream[A_co | B, E_co | E2, R_co | R2]:
        """Yield the values of both streams in the order in which they come; the first failure ends both.

        Each stream is pulled by a task of its own.
        """
        return Stream(at_once.merged([self._open, other._open]))

    def grouped(self: Stream[A, E, R], size: int, *, within: float | None = None) -> Stream[list[A], E, R]:
        """Collect the values in lists.

        Args:
            size: how many values a list has; the last list may have fewer.
            within: a list is yielded this many seconds after its first value, even if it has fewer values; a task of
                its own pulls the source.  The seconds are those of the provided ``Clock``.  None: wait for *size*
                values.
        """
        if within is None:
            return Stream(at_once.grouped(self._open, size))
        return Stream(at_once.grouped_within(self._open, size, within))

    def buffer(self, capacity: int, *, on_full: OnFull = "suspend") -> Stream[A_co, E_co, R_co]:
        """Pull the source in a task of its own, ahead of the consumer.

        Args:
            capacity: how many values may wait for the consumer.
            on_full: what happens to one more value: ``suspend`` lets the source wait, ``dropping`` drops the value,
                ``sliding`` drops the oldest value.
        """
        return Stream(at_once.buffered(self._open, capacity, on_full))

    def alt(self: Stream[A, E, R], function: Callable[[E], E2]) -> Stream[A, E2, R]:
        """Replace the error by the result of *function*."""
        return self.catch(lambda error: Stream.fail(function(error)))

    def catch(self: Stream[A, E, R], function: Callable[[E], Stream[B, E2, R2]]) -> Stream[A | B, E2, R | R2]:
        """After a failure, release the source and continue with the stream that *function* makes from the error."""
        return Stream(stages.caught(self._open, lambda error: function(error)._open))

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

    def ensuring(self: Stream[A, E, R], finalizer: Effect[Any, Never, R2]) -> Stream[A, E, R | R2]:
        """Run *finalizer* when the source is released, however the run ends; it cannot be interrupted."""
        return self.on_exit(lambda _: finalizer)

    def pipe(self, function: Callable[[Self], B]) -> B:
        """Return ``function(self)``."""
        return function(self)

    def provide(self: Stream[A, E, R], context: Context[R]) -> Stream[A, E]:
        """Provide all the services that the stream needs."""
        return Stream(lambda outer, scope: self._open(outer.merge(context), scope))

    # --- running it ---

    def run_fold(self, initial: B, function: Callable[[B, A_co], B]) -> Effect[B, E_co, R_co]:
        """Return an effect that combines all values into one result.

        Args:
            initial: the first result, which is also the result of an empty stream.
            function: makes the next result from the last result and a value.
        """

        async def run(context: Context[Any]) -> Outcome[B, Any]:
            result = initial
            try:
                async with opened(self._open, context) as pull:
                    while chunk := await pull():
                        for value in chunk:
                            result = function(result, value)
            except StreamFailed as failed:
                return Failure(failed.error)
            return Success(result)

        return Effect.in_context(run)

    def run_collect(self: Stream[A, E, R]) -> Effect[list[A], E, R]:
        """Return an effect that succeeds with the list of all values."""
        return Effect.succeed(None).bind(lambda _: self.run_fold(list[A](), _appended))

    def run_for_each(
        self: Stream[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]
    ) -> Effect[None, E | E2, R | R2]:
        """Return an effect that runs the effect of *function* for each value before it pulls the next one."""
        return self.tap(function).run_drain()

    def run_drain(self) -> Effect[None, E_co, R_co]:
        """Return an effect that pulls all values and drops them."""
        return self.run_fold(None, _nothing)

    @asynccontextmanager
    async def iterate(self: Stream[A, E]) -> AsyncGenerator[AsyncIterator[A]]:
        """Run the stream for ``async for``: ``async with stream.iterate() as values: async for value in values: ...``.

        Leaving releases the source, even when values are left.  For a typed failure the iterator raises what ``or_raise``
        raises.
        """
        scope, family = Scope(), Family()
        await scope.add(lambda _: family.end())
        values: _Values[A] | None = None
        try:
            values = _Values(await self._open(Context(family=family), scope))
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


def _nothing(_: object, __: object) -> None:
    """Drop the value."""


def _appended(values: list[A], value: A) -> list[A]:
    values.append(value)
    return values
