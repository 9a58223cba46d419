"""``Queue``: Effect's cases."""

from __future__ import annotations

import asyncio
from typing import Any, Never

import anyio
import pytest
from left_running import nothing_left_running

from chatmemory.effect import (
    Cause,
    Do,
    Effect,
    EffectInterrupted,
    Failure,
    Fiber,
    Interrupt,
    Queue,
    Success,
    SuspendedError,
)

pytestmark = pytest.mark.anyio

INTERRUPTED: Failure[Any] = Failure(Cause((Interrupt(),)))


async def begun(effect: Effect[Any, Any], do: Do[Never]) -> Fiber[Any, Any]:
    """Fork *effect* and let it run until it waits."""
    fiber = await do(effect.fork())
    await anyio.wait_all_tasks_blocked()
    return fiber


async def fill(queue: Queue[int], *numbers: int) -> None:
    for number in numbers:
        await queue.offer(number).or_raise()


async def test_first_in_first_out() -> None:
    queue = Queue[int].unbounded()
    await fill(queue, 1, 2, 3)
    assert queue.size() == 3
    assert await queue.take() == Success(1)
    assert await queue.take_all() == Success([2, 3])
    assert await queue.take_all() == Success([])


async def test_bounded_back_pressure_suspends_offer() -> None:
    queue = Queue[int].bounded(2)
    await fill(queue, 1, 2)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        offering = await begun(queue.offer(3), do)
        assert offering.poll() is None
        assert await do(queue.take()) == 1
        assert await do(offering.join()) is True
        assert await do(queue.take_all()) == [2, 3]

    async with nothing_left_running():
        await program().or_raise()


async def test_take_all_admits_those_who_wait_for_room() -> None:
    queue = Queue[int].bounded(1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        await do(queue.offer(1))
        for number in (2, 3):
            await begun(queue.offer(number), do)
        assert await do(queue.take_all()) == [1, 2, 3]

    await program().or_raise()


async def test_dropping_returns_false() -> None:
    queue = Queue[int].dropping(2)
    await fill(queue, 1, 2)
    assert await queue.offer(3) == Success(False)
    assert await queue.take_all() == Success([1, 2])


async def test_sliding_drops_the_oldest() -> None:
    queue = Queue[int].sliding(2)
    await fill(queue, 1, 2)
    assert await queue.offer(3) == Success(True)
    assert await queue.take_all() == Success([2, 3])


async def test_shutdown_interrupts_takers_and_offerers() -> None:
    full, empty = Queue[int].bounded(1), Queue[int].bounded(1)
    await fill(full, 1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        offering, taking = await begun(full.offer(2), do), await begun(empty.take(), do)
        await do(full.shutdown())
        await do(empty.shutdown())
        assert await do(offering.await_()) == INTERRUPTED
        assert await do(taking.await_()) == INTERRUPTED

    async with nothing_left_running():
        await program().or_raise()
    assert full.is_shutdown()
    for late in (full.offer(3), full.take(), full.take_all()):
        with pytest.raises(EffectInterrupted, match="the queue was shut down"):
            await late


async def test_a_full_queue_that_is_left_leaves_nothing_running() -> None:
    queue = Queue[int].bounded(1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        for number in range(5):
            await begun(queue.offer(number), do)

    async with nothing_left_running():
        await program().or_raise()
    assert await queue.take_all() == Success([0])


async def test_end_lets_what_is_there_be_taken_and_then_interrupts_takers() -> None:
    queue = Queue[int].bounded(1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        await do(queue.offer(1))
        offering = await begun(queue.offer(2), do)
        await do(queue.end())
        assert await do(queue.offer(3)) is False
        assert [await do(queue.take()), await do(queue.take())] == [1, 2]
        assert await do(offering.join()) is True
        assert await do(queue.take().exit()) == INTERRUPTED

    await program().or_raise()


async def test_end_interrupts_takers_that_wait() -> None:
    queue = Queue[int].bounded(1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        taking = [await begun(queue.take(), do) for _ in range(2)]
        await do(queue.offer(1))
        await do(queue.end())
        assert [await do(fiber.await_()) for fiber in taking] == [Success(1), INTERRUPTED]

    await program().or_raise()


async def test_take_can_be_interrupted_without_losing_offers() -> None:
    queue = Queue[int].unbounded()

    @Effect.gen
    async def program(do: Do[Never]) -> int:
        taking = await begun(queue.take(), do)
        assert await do(taking.interrupt()) == INTERRUPTED
        live = await begun(queue.take(), do)
        await do(queue.offer(1))
        return await do(live.join())

    assert await program() == Success(1)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_value_on_its_way_to_a_task_that_is_cancelled_goes_to_the_next() -> None:
    queue = Queue[int].unbounded()
    first, second = (asyncio.create_task(queue.take().or_raise()) for _ in range(2))
    await anyio.wait_all_tasks_blocked()
    await queue.offer(1)
    first.cancel()
    await anyio.wait_all_tasks_blocked()
    assert second.done()
    assert await second == 1
    assert first.cancelled()


async def test_an_offer_that_is_interrupted_is_not_made() -> None:
    queue = Queue[int].bounded(1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        await do(queue.offer(1))
        offering = await begun(queue.offer(2), do)
        await do(offering.interrupt())
        assert await do(queue.take_all()) == [1]
        await do(queue.offer(5))
        assert await do(queue.take_all()) == [5]

    await program().or_raise()


async def test_takers_are_served_in_the_order_in_which_they_came() -> None:
    queue = Queue[int].unbounded()

    @Effect.gen
    async def program(do: Do[Never]) -> list[int]:
        taking = [await begun(queue.take(), do) for _ in range(3)]
        for number in range(3):
            await do(queue.offer(number))
        return [await do(fiber.join()) for fiber in taking]

    assert await program() == Success([0, 1, 2])


def test_a_queue_holds_at_least_one_value() -> None:
    with pytest.raises(ValueError, match="at least 1 value, not 0"):
        Queue[int].bounded(0)


def test_without_an_event_loop_a_queue_works_while_nobody_has_to_wait() -> None:
    queue = Queue[int].bounded(1)
    assert queue.offer(1).run_sync() == Success(True)
    with pytest.raises(SuspendedError):
        queue.offer(2).run_sync()
    assert queue.take().run_sync() == Success(1)
    with pytest.raises(SuspendedError):
        queue.take().run_sync()
