"""Stages that need tasks of their own: buffers, concurrent streams or effects, and groups limited by time.

Without an event loop they do one thing after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Never

from typing_extensions import TypeVar

from chatmemory.effect.concurrency.deferred import Deferred
from chatmemory.effect.concurrency.queue import OnFull, Queue
from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import EffectInterrupted, Outcome, Success
from chatmemory.effect.scope import Scope
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.stream.conveyor import Conveyor
from chatmemory.effect.stream.pull import Open, Pull, StreamFailed
from chatmemory.effect.stream.sources import value_in, values
from chatmemory.effect.stream.stages import each_value, in_sequence, one_by_one
from chatmemory.effect.suspended import has_event_loop

A = TypeVar("A")
B = TypeVar("B")


def buffered(open_: Open[A], capacity: int, on_full: OnFull) -> Open[A]:
    """Yield the values; up to *capacity* of them wait for the consumer.

    Args:
        open_: opens the stream.
        capacity: how many values may wait.
        on_full: what happens to one more value.
    """

    async def open_buffered(context: Context[Any], scope: Scope) -> Pull[A]:
        if not has_event_loop():
            return await open_(context, scope)
        queue: Queue[A] = Queue(capacity, on_full)
        conveyor = Conveyor(queue)
        await conveyor.load(open_, lambda chunk: [queue.offer(value) for value in chunk], context, scope)
        return lambda: conveyor.pull(1)  # the rest of a larger chunk would wait outside the buffer

    return open_buffered


def merged(opens: Sequence[Open[A]]) -> Open[A]:
    """Yield the values of all streams in the order in which they come; each stream runs at most two chunks ahead."""

    async def open_merged(context: Context[Any], scope: Scope) -> Pull[A]:
        if not has_event_loop():
            return await in_sequence(values(opens), lambda open_: open_)(context, scope)
        queue: Queue[Sequence[A]] = Queue(len(opens), "suspend")
        conveyor = Conveyor(queue)
        for open_ in opens:
            await conveyor.load(open_, lambda chunk: [queue.offer(chunk)], context, scope)

        async def pull() -> Sequence[A]:
            return [value for chunk in await conveyor.pull(1) for value in chunk]

        return pull

    return open_merged


def mapped_at_once(
    open_: Open[A], effect_of: Callable[[A], Effect[B, Any, Any]], concurrency: int
) -> Open[B]:
    """Yield the values of the effects in the order of the source; at most *concurrency* of them run or wait."""

    async def open_mapped(context: Context[Any], scope: Scope) -> Pull[B]:
        if not has_event_loop():
            return await each_value(open_, effect_of)(context, scope)
        results: Queue[Deferred[B]] = Queue(concurrency - 1, "suspend")  # the consumer holds one more
        conveyor = Conveyor(results)
        unsettled: set[Deferred[B]] = set()

        async def work(value: A, slot: Deferred[B], context: Context[Any]) -> Outcome[None, Never]:
            try:
                slot.succeed(await value_in(effect_of(value), context)).run_sync()
            except BaseException as exception:  # raised when the consumer pulls
                if (failure := defect_of(exception)) is None:
                    raise
                conveyor.fail(failure)
                for other in unsettled:
                    other.interrupt().run_sync()
            return Success(None)

        def offers_of(chunk: Sequence[A]) -> Sequence[Effect[bool]]:
            return [begin(value) for value in chunk]

        def begin(value: A) -> Effect[bool]:
            slot: Deferred[B] = Deferred()
            unsettled.add(slot)
            worker: Effect[None] = Effect.in_context(lambda context: work(value, slot, context))
            begun = worker.fork_in(scope).map(lambda _: True)
            return results.offer(slot).bind(
                lambda is_wanted: begun if is_wanted else Effect.succeed(False)  # False after a failure
            )

        await conveyor.load(open_, offers_of, context, scope)

        async def pull() -> Sequence[B]:
            for slot in await conveyor.pull(1):
                try:
                    return [(await slot.await_()).unwrap()]
                except EffectInterrupted:
                    raise conveyor.failure or EffectInterrupted() from None
                finally:
                    unsettled.discard(slot)
            return ()

        return pull

    return open_mapped


def grouped(open_: Open[A], size: int) -> Open[list[A]]:
    """Yield lists of *size* values; the last one may have fewer, also before a failure."""

    async def open_grouped(context: Context[Any], scope: Scope) -> Pull[list[A]]:
        next_value = one_by_one(await open_(context, scope))
        failure: StreamFailed | None = None

        async def pull() -> Sequence[list[A]]:
            nonlocal failure
            if failure is not None:
                raise failure
            group: list[A] = []
            try:
                while len(group) < size and (value := await next_value()):
                    group.extend(value)
            except StreamFailed as failed:
                if not group:
                    raise
                failure = failed
            return [group] if group else ()

        return pull

    return open_grouped


def grouped_within(open_: Open[A], size: int, seconds: float) -> Open[list[A]]:
    """Yield lists of *size* values, or of fewer when *seconds* have passed since the first value of the list came."""

    async def open_grouped(context: Context[Any], scope: Scope) -> Pull[list[A]]:
        if not has_event_loop():
            return await grouped(open_, size)(context, scope)
        queue: Queue[A] = Queue(size, "suspend")
        conveyor = Conveyor(queue)
        await conveyor.load(open_, lambda chunk: [queue.offer(value) for value in chunk], context, scope)
        clock = context.get(ClockTag)

        async def pull() -> Sequence[list[A]]:
            group = await conveyor.pull(size)
            closes_at = clock.monotonic() + seconds
            while group and len(group) < size:
                left = size - len(group)
                more = Effect.promise(lambda: conveyor.pull(left))  # noqa: B023  it runs before the next round
                try:
                    outcome = await more.timeout(closes_at - clock.monotonic(), list[A]).run_in(context)
                except Exception:  # noqa: BLE001  raised by the next pull, after this group
                    break
                if not (type(outcome) is Success and outcome.unwrap()):
                    break
                group += outcome.unwrap()
            return [group] if group else ()

        return pull

    return open_grouped
