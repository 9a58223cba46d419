"""What layers promise beyond Effect: checks before anything is acquired, tasks of their own, graphs of any size."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import reduce
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from numbered_layers import Journal, One, Three, Two, build_and_interrupt, build_and_release

from chatmemory.effect import (
    Effect,
    EffectFailed,
    Layer,
    LayerCycleError,
    ManagedRuntime,
    MissingServiceError,
    Reference,
    Success,
    Tag,
)
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


def opening(journal: Journal, number: int) -> Callable[..., AbstractAsyncContextManager[int]]:
    """A resource with a task group of its own, which must be left in the task that entered it."""

    @asynccontextmanager
    async def open_(*_: int) -> AsyncGenerator[int]:
        async with anyio.create_task_group() as tasks:
            await anyio.lowlevel.checkpoint()
            journal.append(f"a{number}")
            yield number
            journal.append(f"r{number}")
            tasks.cancel_scope.cancel()

    return open_


async def test_a_missing_service_is_reported_with_its_consumer_before_anything_is_acquired() -> None:
    journal = Journal()
    layer: Layer[Any] = journal.layer(1) >> journal.layer(2, One, Three)
    with pytest.raises(
        MissingServiceError, match=r"Service not found: Three, needed by layer Two \(available: One\)"
    ):
        await build_and_release(layer)
    assert journal == []


async def test_a_missing_service_under_a_combinator_is_found_as_early() -> None:
    journal = Journal()
    layer: Layer[Any] = journal.layer(1) >> journal.layer(2, Three).tap(lambda _: Effect.succeed(None))
    with pytest.raises(MissingServiceError, match="Three, needed by layer Two"):
        await build_and_release(layer)
    assert journal == []


async def test_a_service_that_an_effect_asks_for_without_saying_so_is_named_with_its_layer() -> None:
    with pytest.raises(MissingServiceError, match="Service not found: One, needed by layer Two"):
        await build_and_release(Layer.effect(Two, One.get()))


async def test_a_missing_service_is_a_defect_that_no_recovery_sees() -> None:
    layer: Layer[Any] = Layer.effect(Two, One.get()).or_else(lambda _: Layer.succeed(Two, 2))
    with pytest.raises(MissingServiceError):
        await build_and_release(layer)


async def test_a_cycle_through_suspend_is_reported_before_anything_is_acquired() -> None:
    journal = Journal()
    one: Layer[Any] = Layer.suspend(lambda: two >> journal.layer(1))
    two: Layer[Any] = Layer.suspend(lambda: one >> journal.layer(2))
    with pytest.raises(LayerCycleError, match="dependency cycle: suspend"):
        await build_and_release(journal.layer(3) | one)
    assert journal == []


async def test_a_layer_that_recovers_with_itself_is_a_cycle_and_no_deadlock() -> None:
    layer: Layer[One, str] = Layer.fail(One, "broken").or_else(lambda _: layer)
    with anyio.fail_after(5), pytest.raises(LayerCycleError, match=r"One\.or_else -> One\.or_else"):
        await build_and_release(layer)


async def test_override_never_builds_the_live_layer() -> None:
    journal = Journal()
    live = journal.layer(1)
    consumer = journal.layer(2, One)
    await build_and_release(Layer.succeed(One, 7) >> consumer)
    assert "a1" not in journal
    await build_and_release(live >> consumer)
    assert "a1" in journal


async def test_a_reference_needs_no_layer_and_yields_to_one() -> None:
    class Pace(Reference[int]):
        @classmethod
        def default(cls) -> int:
            return 50

    @asynccontextmanager
    async def open_(pace: int) -> AsyncGenerator[int]:
        yield pace

    layer = Layer.scoped(One, open_, Pace)
    async with ManagedRuntime(layer) as runtime:
        assert await runtime.service(One) == 50
    async with ManagedRuntime(Layer.succeed(Pace, 7) >> layer) as runtime:
        assert await runtime.service(One) == 7


async def test_task_group_resources_are_built_in_parallel_and_released() -> None:
    journal = Journal()
    one, two = Layer.scoped(One, opening(journal, 1)), Layer.scoped(Two, opening(journal, 2))
    await build_and_release((one | two) >> Layer.scoped(Three, opening(journal, 3), One, Two))
    assert sorted(journal[:2]) == ["a1", "a2"]
    assert journal[2:4] == ["a3", "r3"]
    assert sorted(journal[4:]) == ["r1", "r2"]


async def test_an_outer_cancel_releases_in_reverse_order() -> None:
    journal, built = Journal(), anyio.Event()
    layer = (
        Layer.scoped(One, opening(journal, 1))
        >> Layer.scoped(Two, opening(journal, 2), One)
        >> Layer.scoped(Three, opening(journal, 3), Two)
    )

    async def use() -> None:
        async with ManagedRuntime(layer):
            built.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(use)
        await built.wait()
        tasks.cancel_scope.cancel()
    assert journal == ["a1", "a2", "a3", "r3", "r2", "r1"]


async def test_a_failing_acquire_is_raised_bare_after_the_release_of_the_others() -> None:
    journal = Journal()

    @asynccontextmanager
    async def fail(_: int) -> AsyncGenerator[int]:
        await anyio.lowlevel.checkpoint()
        raise OSError("disk full")
        yield 0

    layer = Layer.scoped(One, opening(journal, 1)) >> Layer.scoped(Two, fail, One)
    with pytest.raises(OSError, match="disk full"):
        await build_and_release(layer)
    assert journal == ["a1", "r1"]


async def test_a_failure_in_the_body_is_raised_bare() -> None:
    with pytest.raises(OSError, match="disk full"):
        async with ManagedRuntime(Layer.scoped(One, opening(Journal(), 1))):
            raise OSError("disk full")


async def test_a_failing_release_does_not_stop_the_others() -> None:
    journal = Journal()

    @asynccontextmanager
    async def fail_in_the_end(_: int) -> AsyncGenerator[int]:
        yield 0
        raise OSError("disk full")

    layer = Layer.scoped(One, opening(journal, 1)) >> Layer.scoped(Two, fail_in_the_end, One)
    with pytest.raises(OSError, match="disk full"):
        await build_and_release(layer)
    assert journal == ["a1", "r1"]


async def test_the_first_failure_cancels_those_still_acquiring() -> None:
    journal, started = Journal(), anyio.Event()

    async def fail() -> Any:
        await started.wait()
        return await Effect.fail("broken")

    slow = journal.slow_layer(1, started)
    with anyio.fail_after(5), pytest.raises(EffectFailed, match="broken"):
        await build_and_release(slow | Layer.effect(Two, Effect.from_outcome(fail)))
    assert journal == ["a1", "r1"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_second_native_cancel_during_close_still_releases_in_order(anyio_backend: str) -> None:
    journal, built, releasing = Journal(), asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slow_to_leave(_: int) -> AsyncGenerator[int]:
        yield 0
        releasing.set()
        await asyncio.sleep(0.02)
        journal.append("r2")

    layer = Layer.scoped(One, opening(journal, 1)) >> Layer.scoped(Two, slow_to_leave, One)

    async def use() -> None:
        async with ManagedRuntime(layer):
            built.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(use())
    await built.wait()
    task.cancel()
    await releasing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert journal == ["a1", "r2", "r1"]


def numbered(count: int) -> list[Any]:
    return [type(f"Service{number}", (Tag,), {}) for number in range(count)]


def counting(tags: list[Any], number: int) -> Layer[Any]:
    """Give *number*, which is one more than the service before, so that nothing is left out unnoticed."""
    if number == 0:
        return Layer.succeed(tags[0], 0)
    before = tags[number - 1]
    return Layer.effect(tags[number], before.get().map(lambda value: value + 1), needs=[before])


@for_each("nesting", ["left", "right", "keep"])
async def test_a_chain_of_1000_layers_builds(nesting: str) -> None:
    tags = numbered(1000)
    layers = [counting(tags, number) for number in range(1000)]
    chain = {
        "left": lambda: reduce(operator.rshift, layers),
        "right": lambda: reduce(lambda below, above: above >> below, reversed(layers)),
        "keep": lambda: reduce(lambda below, above: below.feed_keep(above), layers),
    }[nesting]()
    async with ManagedRuntime(chain) as runtime:
        assert await runtime.service(tags[-1]) == 999


async def test_1000_layers_side_by_side_build() -> None:
    tags = numbered(1000)
    wide = reduce(operator.or_, [Layer.succeed(tag, number) for number, tag in enumerate(tags)])
    async with ManagedRuntime(wide) as runtime:
        assert [await runtime.service(tag) for tag in tags] == list(range(1000))


async def test_a_graph_that_is_used_on_many_paths_is_walked_once() -> None:
    tags = numbered(60)
    graphs = [Layer.succeed(tags[0], 0), Layer.succeed(tags[1], 1)]
    for number in range(2, 60):  # as many paths as the 60th Fibonacci number
        value = tags[number - 1].get().map(lambda value: value + 1)
        graphs.append((graphs[-1] | graphs[-2]) >> Layer.effect(tags[number], value))
    async with ManagedRuntime(graphs[-1]) as runtime:
        assert await runtime.run(tags[-1].get()) == Success(59)


async def test_nothing_is_acquired_after_a_failure() -> None:
    journal = Journal()
    with pytest.raises(EffectFailed, match="broken"):
        await build_and_release(Layer.fail(Three, "broken") | journal.layer(1) | journal.layer(2))
    assert journal == []


async def test_an_interrupted_opening_is_cancelled_and_waited_for() -> None:
    journal, started = Journal(), anyio.Event()

    @asynccontextmanager
    async def opened() -> AsyncGenerator[int]:
        try:
            started.set()
            await anyio.sleep_forever()
            yield 1
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.02)
            journal.append("cleaned up")

    await build_and_interrupt(Layer.scoped(One, opened), started)
    assert journal == ["cleaned up"]
