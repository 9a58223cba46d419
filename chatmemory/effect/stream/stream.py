"""``Stream``: values that come one after the other, and may fail and need services on the way.

How a run hands them over is defined in ``pull.py``, where they come from in ``sources.py``, what is done with them in
``stages.py`` and, by tasks of their own, in ``at_once.py``.
"""

# ruff: noqa: SLF001  a stream made of others opens those

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
    """Values ``A`` that come one after the other; it may fail with ``E``, and needs the services ``R``.

    A stream is a value, as an effect is: it runs when one of the ``run_...`` effects runs, or within ``async with
    stream.iterate()``, and anew each time if its source does.  Nothing is pulled from the source before somebody asks
    for it, unless a method says otherwise; the source is released at the end, at a failure, and when nobody goes on.
    A failure that the type names can be caught, any other exception is a defect and is raised.
    """

    __slots__ = ("_open",)

    def __init__(self, open_: Open[A_co]) -> None:
        """Use the constructors below."""
        self._open = open_

    def __repr__(self) -> str:
        return "<Stream: gives nothing until it is run>"

    # --- making one ---

    @staticmethod
    def of(*values: A) -> Stream[A]:
        """Give *values*."""
        return Stream(sources.values(values))

    @staticmethod
    def fail(error: E) -> Stream[Never, E]:
        """Fail with *error*."""
        return Stream.from_effect(Effect.fail(error))

    @staticmethod
    def from_effect(effect: Effect[A, E, R]) -> Stream[A, E, R]:
        """Give the one value of *effect*."""
        return Stream(sources.value_of(effect))

    @overload
    @staticmethod
    def unwrap(effect: Effect[Stream[A, E], E2]) -> Stream[A, E | E2]: ...
    @overload
    @staticmethod
    def unwrap(effect: Effect[Stream[A, E, R], E2, R2]) -> Stream[A, E | E2, R | R2]: ...
    @staticmethod
    def unwrap(effect: Effect[Stream[Any, Any, Any], Any, Any]) -> Stream[Any, Any, Any]:
        """Give the values of the stream that *effect* succeeds with."""
        return Stream.from_effect(effect).flat_map(lambda stream: stream)

    @staticmethod
    def from_iterable(iterable: Iterable[A]) -> Stream[A]:
        """Give the values of *iterable*; a list or another sequence goes through the stages in chunks."""
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
        """Give the values of *source*, and close it when the run ends.

        Whoever pulls runs it in their task.  If it holds a task group between two values, put ``buffer`` behind it,
        which opens, runs and closes it in one task.

        Args:
            source: an async iterable, or a function without arguments that returns one; only a function, an async
                generator function for example, lets the stream run more than once.
            exceptions: those that become failures; any other is a defect.
            to: makes a failure of such an exception.
        """
        return Stream(sources.async_values(source, exceptions, to))

    @staticmethod
    def from_queue(queue: Queue[A]) -> Stream[A]:
        """Give what is taken from *queue*, until it has ended; if it is shut down, the stream is interrupted."""
        return Stream(sources.queued(queue))

    @staticmethod
    def scoped(open_: Callable[[], AbstractAsyncContextManager[A]]) -> Stream[A]:
        """Enter what *open_* returns, give the value of that, and leave it when the run ends."""
        return Stream(sources.entered(open_))

    # --- going on from one ---

    def map(self, function: Callable[[A_co], B]) -> Stream[B, E_co, R_co]:
        """Give what *function* makes of each value."""
        return Stream(stages.each_chunk(self._open, lambda chunk: list(map(function, chunk))))

    def map_effect(
        self, function: Callable[[A_co], Effect[B, E2, R2]], *, concurrency: int = 1
    ) -> Stream[B, E_co | E2, R_co | R2]:
        """Give the values of the effects that *function* makes, in the order of the source.

        Args:
            function: makes an effect of each value.
            concurrency: at most so many effects run at once, or have ended before their turn; with more than 1, the
                source is pulled by a task of its own, and the first failure interrupts the others.
        """
        if concurrency == 1:
            return Stream(stages.each_value(self._open, function))
        return Stream(at_once.mapped_at_once(self._open, function, concurrency))

    def tap(self: Stream[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]) -> Stream[A, E | E2, R | R2]:
        """Run the effect that *function* makes of each value, and give the value."""
        return self.map_effect(lambda value: function(value).map(lambda _: value))

    def filter(self, predicate: Callable[[A_co], bool]) -> Stream[A_co, E_co, R_co]:
        """Give the values for which *predicate* holds."""
        return Stream(stages.each_chunk(self._open, lambda chunk: list(filter(predicate, chunk))))

    def take(self, count: int) -> Stream[A_co, E_co, R_co]:
        """Give the first *count* values, and release the source."""
        return Stream(stages.first(self._open, count))

    def scan(self, initial: B, function: Callable[[B, A_co], B]) -> Stream[B, E_co, R_co]:
        """Give *initial*, and then what *function* makes of the result so far and each value."""
        return Stream(stages.scanned(self._open, initial, function))

    def flat_map(
        self: Stream[A, E, R], function: Callable[[A], Stream[B, E2, R2]]
    ) -> Stream[B, E | E2, R | R2]:
        """Give the values of the streams that *function* makes, one stream after the other."""
        return Stream(stages.in_sequence(self._open, lambda value: function(value)._open))

    def concat(self, other: Stream[B, E2, R2]) -> Stream[A_co | B, E_co | E2, R_co | R2]:
        """Give the values of this stream, and then those of *other*."""
        both: list[Stream[Any, Any, Any]] = [self, other]
        return Stream.from_iterable(both).flat_map(lambda stream: stream)

    def merge(self, other: Stream[B, E2, R2]) -> Stream[A_co | B, E_co | E2, R_co | R2]:
        """Give the values of both as they come; the first failure ends both.  Each is pulled by a task of its own."""
        return Stream(at_once.merged([self._open, other._open]))

    def grouped(self: Stream[A, E, R], size: int, *, within: float | None = None) -> Stream[list[A], E, R]:
        """Give lists of values.

        Args:
            size: how many values a list has; the last one may have fewer.
            within: seconds of the clock at hand; so long after its first value, a list is given with what it has.
                Then the source is pulled by a task of its own.
        """
        if within is None:
            return Stream(at_once.grouped(self._open, size))
        return Stream(at_once.grouped_within(self._open, size, within))

    def buffer(self, capacity: int, *, on_full: OnFull = "suspend") -> Stream[A_co, E_co, R_co]:
        """Pull the source by a task of its own, ahead of who asks for the values.

        Args:
            capacity: how many values may wait.
            on_full: what happens to one more: ``suspend`` lets the source wait, ``dropping`` drops the value,
                ``sliding`` drops the oldest one.
        """
        return Stream(at_once.buffered(self._open, capacity, on_full))

    def alt(self: Stream[A, E, R], function: Callable[[E], E2]) -> Stream[A, E2, R]:
        """Fail with what *function* makes of the error."""
        return self.catch(lambda error: Stream.fail(function(error)))

    def catch(self: Stream[A, E, R], function: Callable[[E], Stream[B, E2, R2]]) -> Stream[A | B, E2, R | R2]:
        """After a failure, release the source and go on with the stream that *function* makes of the error."""
        return Stream(stages.caught(self._open, lambda error: function(error)._open))

    def on_end(self: Stream[A, E, R], effect: Effect[Any, E2, R2]) -> Stream[A, E | E2, R | R2]:
        """Run *effect* after the last value, if it came so far; its failure is one of the stream."""
        return Stream(stages.ended_by(self._open, effect))

    def on_exit(
        self: Stream[A, E, R], finalizer: Callable[[Exit[None, E]], Effect[Any, Never, R2]]
    ) -> Stream[A, E, R | R2]:
        """Run *finalizer* when the source has been released, whatever the end was; it cannot be interrupted.

        A stream that nobody pulls any further has succeeded.
        """
        return Stream(stages.finalized(self._open, finalizer))

    def ensuring(self: Stream[A, E, R], finalizer: Effect[Any, Never, R2]) -> Stream[A, E, R | R2]:
        """Run *finalizer* when the source has been released, whatever the end was; it cannot be interrupted."""
        return self.on_exit(lambda _: finalizer)

    def pipe(self, function: Callable[[Self], B]) -> B:
        """Apply *function*."""
        return function(self)

    def provide(self: Stream[A, E, R], context: Context[R]) -> Stream[A, E]:
        """Give all the services that are needed."""
        return Stream(lambda outer, scope: self._open(outer.merge(context), scope))

    # --- running it ---

    def run_fold(self, initial: B, function: Callable[[B, A_co], B]) -> Effect[B, E_co, R_co]:
        """Succeed with what *function* makes of *initial* and all values, one after the other."""

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
        """Succeed with the list of all values."""
        return Effect.succeed(None).bind(lambda _: self.run_fold(list[A](), _appended))

    def run_for_each(
        self: Stream[A, E, R], function: Callable[[A], Effect[Any, E2, R2]]
    ) -> Effect[None, E | E2, R | R2]:
        """Run the effect that *function* makes of each value before the next one is pulled."""
        return self.tap(function).run_drain()

    def run_drain(self) -> Effect[None, E_co, R_co]:
        """Pull all values for the sake of what happens on the way."""
        return self.run_fold(None, _nothing)

    @asynccontextmanager
    async def iterate(self: Stream[A, E]) -> AsyncGenerator[AsyncIterator[A]]:
        """Run the stream for ``async for``: ``async with stream.iterate() as values: async for value in values: ...``.

        Leaving releases the source, also when not all values were asked for.  The iterator raises what ``or_raise``
        would raise for a typed failure.
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
    """Keep nothing of the values."""


def _appended(values: list[A], value: A) -> list[A]:
    values.append(value)
    return values
