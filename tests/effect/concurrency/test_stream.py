"""Streams: Effect's cases of making, going on, ending and releasing."""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    Die,
    Effect,
    EffectFailed,
    Fail,
    Failure,
    Interrupt,
    Layer,
    ManagedRuntime,
    Stream,
    Success,
    Tag,
)
from tests.effect.concurrency.left_running import nothing_left_running
from tests.effect.numbered_layers import Journal
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


class Price(Tag[int]): ...


def of(*values: Any) -> Stream[Any]:
    return Stream.from_iterable(values)


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


COLLECTED: list[tuple[Stream[Any, Any], Success[Any] | Failure[Any]]] = [
    (of(1, 2, 3).map(lambda n: n * 2), Success([2, 4, 6])),
    (of(1, 2, 3).filter(lambda n: n > 1), Success([2, 3])),
    (Stream.from_iterable(range(5000)).filter(lambda n: n > 4997), Success([4998, 4999])),
    (of(1, 2, 3).take(2), Success([1, 2])),
    (of(1, 2, 3).take(0), Success([])),
    (of(1, 2).tap(lambda _: Effect.fail("no")), Failure("no")),
    (Stream.unwrap(Effect.succeed(of(1, 2))), Success([1, 2])),
    (Stream.unwrap(Effect.fail("no")), Failure("no")),
]


@for_each(("stream", "outcome"), COLLECTED)
async def test_what_a_stream_gives_whenever_it_is_run(stream: Stream[Any, Any], outcome: object) -> None:
    assert await stream.run_collect() == await stream.run_collect() == outcome


async def test_a_stream_that_is_made_gives_nothing_and_its_source_is_not_pulled_ahead_of_demand() -> None:
    source, journal = Source(), Journal()
    looked = source.stream().map(abs).filter(lambda _: True).tap(lambda n: journal.write((n, source.pulled)))
    assert (journal, source.pulled) == ([], 0)
    assert repr(looked) == "<Stream: gives nothing until it is run>"
    assert await looked.take(3).run_collect() == Success([0, 1, 2])
    assert journal == [(0, 1), (1, 2), (2, 3)]

    def numbers() -> Iterator[int]:
        for source.pulled in range(100):
            yield source.pulled

    assert await Stream.from_iterable(numbers()).take(2).run_collect() == Success([0, 1])
    assert source.pulled == 1
    seen = of(1, 2, 3).tap(lambda n: Effect.fail("boom") if n == 2 else journal.write(n))
    assert await seen.tap(lambda n: journal.write(f"after {n}")).run_collect() == Failure("boom")
    assert journal[3:] == [1, "after 1"]


def failing(n: int) -> Effect[None, str]:
    return Effect.fail("no") if n == 2 else Effect.succeed(None)


ENDINGS: list[tuple[Callable[[Stream[int, str]], Stream[Any, str]], int, object]] = [
    (lambda numbers: numbers.take(2), 2, Success([0, 1])),
    (lambda numbers: numbers.tap(failing), 3, Failure("no")),
    (lambda numbers: numbers.map(lambda n: 1 // n), 1, ZeroDivisionError),
]


@for_each(("change", "pulled", "ends"), ENDINGS)
async def test_however_a_run_ends_the_source_is_released_and_pulled_no_further(
    change: Callable[[Stream[int, str]], Stream[Any, str]], pulled: int, ends: Any
) -> None:
    source = Source()
    async with nothing_left_running():
        if isinstance(ends, type):
            with pytest.raises(ends):
                await change(source.stream()).run_collect()
        else:
            assert await change(source.stream()).run_collect() == ends
        assert (source.pulled, source.closed) == (pulled, 1)


async def test_a_generator_that_is_left_early_is_closed() -> None:
    closed: list[int] = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(9)
        finally:
            closed.append(1)

    assert await Stream.from_iterable(numbers()).take(2).run_collect() == Success([0, 1])
    assert closed == [1]


async def test_a_failure_of_the_source_is_typed_only_if_it_is_named() -> None:
    source = Source(fails_after=2)
    assert await source.stream().run_collect() == Failure("torn")
    assert source.closed == 1
    with pytest.raises(OSError, match="torn"):
        await Stream.from_async_iterable(source.numbers()).run_collect()


async def test_an_interrupted_stream_releases_its_source() -> None:
    source, journal = Source(), Journal()
    stuck = source.stream().tap(lambda _: Effect.never()).on_exit(journal.write)
    async with nothing_left_running(), anyio.create_task_group() as tasks:
        tasks.start_soon(stuck.run_collect().run)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert (source.pulled, source.closed) == (1, 1)
    assert journal == [Failure(Interrupt())]


async def test_on_end_runs_after_the_last_value_and_its_failure_is_the_streams() -> None:
    journal = Journal()
    assert await of(1).on_end(journal.write("end")).run_collect() == Success([1])
    assert await of(1).on_end(Effect.fail("no")).run_collect() == Failure("no")
    assert await of(1).tap(Effect.fail).on_end(journal.write("never")).run_collect() == Failure(1)
    assert await of(1, 2).on_end(journal.write("never")).take(1).run_collect() == Success([1])
    assert journal == ["end"]


async def test_on_exit_is_told_how_it_ended_and_runs_after_the_source_is_released() -> None:
    source, journal = Source(fails_after=1), Journal()

    def look(exit_: Any) -> Effect[None]:
        return journal.write((exit_, source.closed))

    assert await source.stream().on_exit(look).run_collect() == Failure("torn")
    await of(1).on_exit(look).run_collect()
    died = await of(0).map(lambda n: 1 // n).on_exit(look).run_collect().exit()
    assert journal[:2] == [(Failure(Fail("torn")), 1), (Success(None), 1)]
    assert journal[2][0] == died.unwrap()
    assert isinstance(died.unwrap().failure(), Die)


async def test_a_finalizer_that_dies_is_raised_behind_a_source_that_cannot_be_closed() -> None:
    async def numbers() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            raise OSError("cannot be closed")

    def die(_: object) -> Effect[None]:
        return Effect.sync(lambda: {}["key"])

    with pytest.raises(KeyError) as caught:
        await Stream.from_async_iterable(numbers).on_exit(die).take(1).run_collect()
    assert str(caught.value.__context__) == "cannot be closed"


async def test_services_reach_every_stage() -> None:
    journal = Journal()
    prices = of(1).tap(lambda _: Price.get().bind(journal.write)).on_end(Price.get().bind(journal.write))
    async with ManagedRuntime(Layer.succeed(Price, 3)) as runtime:
        assert await runtime.run(prices.run_collect()) == Success([1])
    assert journal == [3, 3]


async def test_iterate_gives_the_values_and_releases_the_source_when_it_is_left() -> None:
    source = Source()
    async with nothing_left_running(), source.stream().iterate() as numbers:
        async for number in numbers:
            if number == 2:
                break
        assert source.closed == 0
    assert (source.pulled, source.closed) == (3, 1)
    async with of(1, 2).iterate() as values:
        assert [value async for value in values] == [1, 2]


async def test_iterate_raises_a_typed_failure_and_tells_the_finalizers_which() -> None:
    journal = Journal()

    async def read() -> list[int]:
        async with Source(fails_after=1).stream().on_exit(journal.write).iterate() as numbers:
            return [number async for number in numbers]

    with pytest.raises(EffectFailed, match="torn"):
        await read()
    assert journal == [Failure(Fail("torn"))]


def test_without_an_event_loop_a_stream_runs_that_never_waits() -> None:
    assert of(1, 2).tap(Effect.succeed).map(str).run_collect().run_sync() == Success(["1", "2"])
