"""Streams with tasks of their own: Effect's cases of buffers, merging, effects at once and groups by time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Never

import anyio
import anyio.lowlevel
import pytest
from left_running import nothing_left_running

from chatmemory.effect import (
    ClockTag,
    Context,
    Deferred,
    Do,
    Effect,
    Failure,
    Queue,
    Stream,
    Success,
    TestClock,
)
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


class Journal(list[str]):
    def note(self, line: str) -> Effect[None]:
        return Effect.sync(lambda: self.append(line))


async def test_buffer_maintains_elements_and_ordering() -> None:
    async with nothing_left_running():
        numbers = Stream.from_iterable(range(100)).buffer(2)
        assert await numbers.run_collect() == Success(list(range(100)))


async def test_buffer_buffers_a_stream_with_a_failure() -> None:
    seen: list[int] = []
    failing = Stream.from_iterable(range(10)).concat(Stream.fail("boom")).buffer(2)
    assert await failing.run_for_each(lambda n: Effect.sync(lambda: seen.append(n))) == Failure("boom")
    assert seen == list(range(10))


async def test_buffer_fast_producer_progresses_independently_and_no_further() -> None:
    pulled: list[int] = []
    numbers = Stream.from_iterable(iter(range(1, 100))).tap(lambda n: Effect.sync(lambda: pulled.append(n)))
    async with nothing_left_running(), numbers.buffer(2).iterate() as buffered:
        assert [await anext(buffered), await anext(buffered)] == [1, 2]
        await anyio.wait_all_tasks_blocked()
        assert pulled == [1, 2, 3, 4, 5]  # two given, two that wait, and one that is offered


@for_each(("on_full", "left"), [("dropping", [0, 1]), ("sliding", [8, 9])])
async def test_buffer_may_drop_what_is_too_much(on_full: Any, left: list[int]) -> None:
    async with Stream.from_iterable(range(10)).buffer(2, on_full=on_full).iterate() as buffered:
        await anyio.wait_all_tasks_blocked()
        assert [number async for number in buffered] == left


async def test_a_source_that_holds_a_task_group_is_opened_and_closed_in_one_task() -> None:
    async def numbers() -> AsyncIterator[int]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            for number in range(10):
                yield number
            tasks.cancel_scope.cancel()

    async with nothing_left_running():
        stream = Stream.from_async_iterable(numbers).buffer(1)
        assert await stream.take(3).run_collect().timeout(60, lambda: "late") == Success([0, 1, 2])
        assert await stream.run_collect() == Success(list(range(10)))


async def test_merge_equivalence_with_set_union() -> None:
    merged = await Stream.of(1, 2, 3, 4).merge(Stream.of(5, 6, 7, 8)).run_collect().or_raise()
    assert set(merged) == set(range(1, 9))


async def test_merge_fails_as_soon_as_one_stream_fails() -> None:
    journal = Journal()
    stuck = Stream.from_effect(Effect.never()).ensuring(journal.note("released"))
    async with nothing_left_running():
        assert await stuck.merge(Stream.fail("Ouch")).run_collect() == Failure("Ouch")
    assert journal == ["released"]


async def test_merge_short_circuiting() -> None:
    async with nothing_left_running():
        one = Stream.from_effect(Effect.never()).merge(Stream.of(1)).take(1)
        assert await one.run_collect() == Success([1])


async def test_merge_runs_hardly_ahead_of_demand() -> None:
    pulled: list[int] = []
    numbers = Stream.from_iterable(iter(range(100))).tap(lambda n: Effect.sync(lambda: pulled.append(n)))
    async with numbers.merge(Stream.from_effect(Effect.never())).iterate() as merged:
        await anext(merged)
        await anyio.wait_all_tasks_blocked()
        assert len(pulled) <= 4


async def test_map_effect_at_once_guarantees_ordering_and_bounds_concurrency() -> None:
    clock = TestClock()
    running: set[int] = set()
    most = 0

    def work(number: int) -> Effect[int]:
        nonlocal most
        running.add(number)
        most = max(most, len(running))
        return Effect.sleep(10 - number).map(lambda _: running.discard(number)).map(lambda _: number)

    @Effect.gen
    async def program(do: Do[Never]) -> list[int]:
        fiber = await do(Stream.from_iterable(range(10)).map_effect(work, concurrency=3).run_collect().fork())
        await clock.advance(100)
        return await do(fiber.join())

    async with nothing_left_running():
        outcome = await program().provide(Context.of(ClockTag, clock))
    assert (outcome, most) == (Success(list(range(10))), 3)


async def test_map_effect_at_once_interrupts_pending_tasks_when_one_of_the_tasks_fails() -> None:
    journal, started = Journal(), [Deferred[None](), Deferred[None]()]

    def work(number: int) -> Effect[int, str]:
        if number < 2:
            stuck = started[number].succeed(None).bind(lambda _: Effect.never())
            return stuck.ensuring(journal.note("interrupted"))
        return started[0].await_().zip(started[1].await_()).bind(lambda _: Effect.fail("boom"))

    async with nothing_left_running():
        numbers = Stream.from_iterable(range(100)).map_effect(work, concurrency=3)
        assert await numbers.run_drain() == Failure("boom")
    assert journal == ["interrupted", "interrupted"]


async def test_map_effect_at_once_propagates_the_error_of_the_original_stream() -> None:
    numbers = Stream.from_iterable(range(10)).concat(Stream.fail("boom"))
    assert await numbers.map_effect(Effect.succeed, concurrency=4).run_collect() == Failure("boom")


async def test_map_effect_at_once_propagates_the_correct_error_through_a_second_one() -> None:
    def work(number: int) -> Effect[int, str]:
        return Effect.succeed(number) if number < 10 else Effect.fail("boom")

    numbers = Stream.from_iterable(range(50)).map_effect(work, concurrency=20)
    async with nothing_left_running():
        assert await numbers.map_effect(Effect.succeed, concurrency=20).run_collect() == Failure("boom")


async def test_map_effect_at_once_interruption_propagation() -> None:
    journal, latch = Journal(), Deferred[None]()
    stuck = latch.succeed(None).bind(lambda _: Effect.never()).ensuring(journal.note("interrupted"))

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        fiber = await do(Stream.of(1).map_effect(lambda _: stuck, concurrency=2).run_drain().fork())
        await do(latch.await_())
        await do(fiber.interrupt())
        assert journal == ["interrupted"]

    async with nothing_left_running():
        await program().or_raise()


async def test_a_defect_of_a_task_is_raised_where_the_stream_runs() -> None:
    async with nothing_left_running():
        with pytest.raises(ZeroDivisionError):
            await Stream.of(1, 0).map_effect(lambda n: Effect.sync(lambda: 1 // n), concurrency=2).run_drain()
        with pytest.raises(ZeroDivisionError):
            await Stream.of(0).map(lambda n: 1 // n).buffer(1).run_drain()


async def test_grouped_within_groups_based_on_time_passed() -> None:
    clock, queue, groups = TestClock(), Queue[int].unbounded(), list[list[int]]()

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        grouped = Stream.from_queue(queue).grouped(10, within=2)
        fiber = await do(grouped.run_for_each(lambda group: Effect.sync(lambda: groups.append(group))).fork())
        for pair in ((1, 2), (3, 4)):
            for number in pair:
                await do(queue.offer(number))
            await clock.advance(1)
            assert pair not in map(tuple, groups)
            await clock.advance(1)
            assert tuple(groups[-1]) == pair
        await do(queue.offer(5))
        await do(queue.end())
        await do(fiber.join())

    async with nothing_left_running():
        await program().provide(Context.of(ClockTag, clock)).or_raise()
    assert groups == [[1, 2], [3, 4], [5]]


async def test_grouped_within_groups_immediately_when_the_size_is_reached() -> None:
    groups = Stream.of(1, 2, 3, 4).grouped(2, within=10).provide(Context.of(ClockTag, TestClock()))
    assert await groups.run_collect() == Success([[1, 2], [3, 4]])


async def test_grouped_within_gives_what_came_before_a_failure() -> None:
    seen: list[list[int]] = []
    failing = Stream.of(1, 2, 3).concat(Stream.fail("Ouch")).grouped(2, within=10)
    outcome = await failing.run_for_each(lambda group: Effect.sync(lambda: seen.append(group)))
    assert (outcome, seen) == (Failure("Ouch"), [[1, 2], [3]])
