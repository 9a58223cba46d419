"""Streams: Effect's cases of making, going on, ending and releasing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Never

import anyio
import anyio.lowlevel
import pytest
from left_running import nothing_left_running

from chatmemory.effect import (
    Cause,
    Context,
    Do,
    Effect,
    EffectFailed,
    Fail,
    Failure,
    Interrupt,
    Layer,
    ManagedRuntime,
    Queue,
    Stream,
    Success,
    Tag,
)

pytestmark = pytest.mark.anyio


class Price(Tag[int]): ...


class Journal(list[str]):
    def note(self, line: str) -> Effect[None]:
        return Effect.sync(lambda: self.append(line))


class Source:
    """An async generator that tells how far it was pulled and whether it was closed."""

    def __init__(self, *, fails_after: int = 1000) -> None:
        self.pulled = 0
        self.closed = 0
        self.fails_after = fails_after

    async def numbers(self) -> AsyncGenerator[int]:
        try:
            for number in range(self.fails_after):
                await anyio.lowlevel.checkpoint()
                self.pulled += 1
                yield number
            raise OSError("torn")
        finally:
            await anyio.lowlevel.checkpoint()
            self.closed += 1

    def stream(self) -> Stream[int, str]:
        return Stream.from_async_iterable(self.numbers, OSError, to=str)


async def test_map_filter_take_and_scan() -> None:
    numbers = Stream.from_iterable(range(10))
    assert await numbers.map(lambda n: n * 2).run_collect() == Success(list(range(0, 20, 2)))
    assert await numbers.filter(lambda n: n > 7).run_collect() == Success([8, 9])
    assert await numbers.take(3).run_collect() == Success([0, 1, 2])
    assert await numbers.take(0).run_collect() == Success([])
    assert await numbers.take(3).scan(0, lambda total, n: total + n).run_collect() == Success([0, 0, 1, 3])
    assert await numbers.run_fold(0, lambda total, n: total + n) == Success(45)


async def test_a_stream_runs_again_and_never_by_being_made() -> None:
    runs: list[int] = []
    stream = Stream.of("你好").tap(lambda _: Effect.sync(lambda: runs.append(1)))
    assert runs == []
    assert await stream.run_collect() == Success(["你好"])
    assert await stream.run_collect() == Success(["你好"])
    assert runs == [1, 1]
    assert repr(stream) == "<Stream: gives nothing until it is run>"


async def test_map_effect_laziness_on_chunks() -> None:
    seen: list[int] = []

    def look(n: int) -> Effect[int, str]:
        return Effect.fail("boom") if n == 3 else Effect.succeed(n)

    stream = Stream.of(1, 2, 3, 4).map_effect(look).tap(lambda n: Effect.sync(lambda: seen.append(n)))
    assert await stream.run_collect() == Failure("boom")
    assert seen == [1, 2]


async def test_flat_map_and_concat_release_each_before_the_next_begins() -> None:
    journal = Journal()

    def inner(n: int) -> Stream[int]:
        return Stream.of(n, n).on_exit(lambda _: journal.note(f"released {n}"))

    numbers = Stream.of(1, 2).flat_map(inner).tap(lambda n: journal.note(f"got {n}"))
    assert await numbers.concat(Stream.of(3)).run_collect() == Success([1, 1, 2, 2, 3])
    assert journal == ["got 1", "got 1", "released 1", "got 2", "got 2", "released 2"]


async def test_unwrap_gives_the_stream_of_an_effect() -> None:
    assert await Stream.unwrap(Effect.succeed(Stream.of(1, 2))).run_collect() == Success([1, 2])
    assert await Stream.unwrap(Effect.fail("no")).run_collect() == Failure("no")


async def test_grouped_emits_elements_properly_when_a_failure_occurs() -> None:
    seen: list[list[int]] = []
    groups = Stream.from_iterable(range(1, 9)).concat(Stream.fail("Ouch")).grouped(3)
    outcome = await groups.run_for_each(lambda group: Effect.sync(lambda: seen.append(group)))
    assert (outcome, seen) == (Failure("Ouch"), [[1, 2, 3], [4, 5, 6], [7, 8]])
    assert await Stream.from_iterable(list[int]()).grouped(5).run_collect() == Success([])


async def test_back_pressure_the_source_is_not_pulled_ahead_of_demand() -> None:
    source, seen = Source(), list[tuple[int, int]]()

    def look(number: int) -> Effect[None]:
        return Effect.sync(lambda: seen.append((number, source.pulled)))

    await source.stream().map(abs).filter(lambda _: True).run_for_each(look).pipe(_stopped_after(seen, 3))
    assert seen[:3] == [(0, 1), (1, 2), (2, 3)]

    def numbers() -> Iterator[int]:
        for source.pulled in range(100):
            yield source.pulled

    assert await Stream.from_iterable(numbers()).take(2).run_collect() == Success([0, 1])
    assert source.pulled == 1


def _stopped_after(seen: list[Any], count: int) -> Any:
    async def enough() -> None:
        while len(seen) < count:
            await anyio.lowlevel.checkpoint()

    return lambda effect: effect.race(Effect.promise(enough))


async def test_failing_stream_releases_its_source() -> None:
    source = Source(fails_after=2)
    async with nothing_left_running():
        assert await source.stream().run_collect() == Failure("torn")
        assert source.closed == 1
        source = Source()
        failing = source.stream().map_effect(lambda n: Effect.fail("no") if n == 2 else Effect.succeed(n))
        assert await failing.run_collect() == Failure("no")
        assert (source.pulled, source.closed) == (3, 1)


async def test_take_stops_the_source() -> None:
    source, journal = Source(), Journal()
    both = source.stream().take(2).concat(Stream.of(7)).tap(lambda _: journal.note(f"closed {source.closed}"))
    assert await both.run_collect() == Success([0, 1, 7])
    assert (source.pulled, source.closed) == (2, 1)
    assert journal == ["closed 0", "closed 0", "closed 1"]


async def test_a_defect_releases_the_source_and_is_raised() -> None:
    source = Source()
    with pytest.raises(ZeroDivisionError):
        await source.stream().map(lambda n: 1 // n).catch(lambda _: Stream.of(7)).run_drain()
    assert source.closed == 1

    async def torn() -> AsyncIterator[int]:
        yield 1
        raise ValueError("torn")

    with pytest.raises(ValueError, match="torn"):
        await Stream.from_async_iterable(torn).run_drain()


async def test_an_interrupted_stream_releases_its_source() -> None:
    source, journal = Source(), Journal()
    stuck = source.stream().tap(lambda _: Effect.never()).on_exit(lambda exit_: journal.note(str(exit_)))

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        fiber = await do(stuck.run_drain().fork())
        await anyio.wait_all_tasks_blocked()
        await do(fiber.interrupt())

    async with nothing_left_running():
        await program()
    assert (source.pulled, source.closed) == (1, 1)
    assert journal == [str(Failure(Cause((Interrupt(),))))]


async def test_catch_goes_on_after_the_source_has_been_released() -> None:
    journal = Journal()
    failing = Stream.of(1).concat(Stream.fail("no")).on_exit(lambda _: journal.note("released"))
    instead = failing.catch(lambda error: Stream.from_effect(journal.note(error).map(lambda _: 2)))
    assert await instead.run_collect() == Success([1, 2])
    assert journal == ["released", "no"]
    assert await failing.alt(len).run_collect() == Failure(2)


async def test_a_failure_of_what_catch_goes_on_with_is_not_caught_again() -> None:
    stream = Stream.fail("first").catch(lambda error: Stream.fail(f"after {error}"))
    assert await stream.run_collect() == Failure("after first")


async def test_on_end_runs_after_the_last_value_and_its_failure_is_the_streams() -> None:
    journal = Journal()
    assert await Stream.of(1).on_end(journal.note("end")).run_collect() == Success([1])
    assert await Stream.of(1).on_end(Effect.fail("no")).run_collect() == Failure("no")
    assert await Stream.fail("torn").on_end(journal.note("never")).run_collect() == Failure("torn")
    assert await Stream.of(1, 2).on_end(journal.note("never")).take(1).run_collect() == Success([1])
    assert journal == ["end"]


async def test_on_exit_is_told_how_it_ended_and_runs_after_the_source_is_released() -> None:
    source, exits = Source(fails_after=1), list[Any]()

    def look(exit_: Any) -> Effect[None]:
        return Effect.sync(lambda: exits.append((exit_, source.closed)))

    assert await source.stream().on_exit(look).run_drain() == Failure("torn")
    await Stream.of(1).on_exit(look).run_drain()
    assert exits == [(Failure(Cause((Fail("torn"),))), 1), (Success(None), 1)]


async def test_scoped_leaves_what_it_entered_when_the_run_ends() -> None:
    journal = Journal()

    @asynccontextmanager
    async def connection() -> AsyncGenerator[str]:
        journal.append("opened")
        yield "模型"
        journal.append("closed")

    reply = Stream.scoped(connection).flat_map(lambda name: Stream.of(name, "!"))
    assert await reply.tap(journal.note).run_collect() == Success(["模型", "!"])
    assert journal == ["opened", "模型", "!", "closed"]


async def test_from_queue_ends_when_the_queue_has_ended_and_is_interrupted_when_it_is_shut_down() -> None:
    queue = Queue[int].unbounded()
    for number in (1, 2):
        await queue.offer(number)
    await queue.end()
    assert await Stream.from_queue(queue).run_collect() == Success([1, 2])
    await queue.shutdown()
    exit_ = await Stream.from_queue(queue).run_collect().exit()
    assert exit_ == Success(Failure(Cause((Interrupt(),))))


async def test_services_reach_every_stage() -> None:
    prices = Stream.of(1, 2).map_effect(lambda n: Price.get().map(lambda price: n * price))
    async with ManagedRuntime(Layer.succeed(Price, 3)) as runtime:
        assert await runtime.run(prices.run_collect()) == Success([3, 6])
    assert await prices.provide(Context.of(Price, 5)).run_collect() == Success([5, 10])


async def test_iterate_gives_the_values_and_releases_the_source_when_it_is_left() -> None:
    source = Source()
    async with nothing_left_running(), source.stream().iterate() as numbers:
        async for number in numbers:
            if number == 2:
                break
        assert source.closed == 0
    assert (source.pulled, source.closed) == (3, 1)


async def test_iterate_raises_a_typed_failure_and_tells_the_finalizers_which() -> None:
    exits: list[Any] = []
    failing = Source(fails_after=1).stream().on_exit(lambda exit_: Effect.sync(lambda: exits.append(exit_)))

    async def read() -> list[int]:
        async with failing.iterate() as numbers:
            return [number async for number in numbers]

    with pytest.raises(EffectFailed, match="torn"):
        await read()
    assert exits == [Failure(Cause((Fail("torn"),)))]


async def test_forks_of_an_iterated_stream_end_with_it() -> None:
    journal = Journal()
    forking = Effect.never().ensuring(journal.note("ended")).fork()
    async with nothing_left_running():
        async with Stream.of(1).tap(lambda _: forking).iterate() as values:
            await anext(values)
            await anyio.wait_all_tasks_blocked()
            assert journal == []
        assert journal == ["ended"]


def test_without_an_event_loop_a_stream_runs_that_never_waits() -> None:
    numbers = Stream.from_iterable(range(4))
    stream = (
        numbers.buffer(1).map_effect(Effect.succeed, concurrency=3).merge(Stream.of(9)).grouped(2, within=1)
    )
    assert stream.run_collect().run_sync() == Success([[0, 1], [2, 3], [9]])
