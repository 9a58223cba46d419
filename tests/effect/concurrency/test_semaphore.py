"""``Semaphore``: Effect's cases."""

from __future__ import annotations

import asyncio
from typing import Any, Never

import anyio
import pytest
from left_running import nothing_left_running

from chatmemory.effect import (
    ClockTag,
    Context,
    Do,
    Effect,
    Failure,
    Semaphore,
    Success,
    SuspendedError,
    TestClock,
)
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


async def test_semaphore_works() -> None:
    clock, semaphore, done = TestClock(), Semaphore(4), list[int]()

    def process(number: int) -> Effect[None]:
        work = Effect.sleep(2).map(lambda _: done.append(number))
        return work.pipe(semaphore.with_permits(2))

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        fiber = await do(Effect.all(map(process, range(4)), concurrency=None).fork())
        await clock.advance(3)
        assert len(done) == 2
        await clock.advance(3)
        assert len(done) == 4
        await do(fiber.join())

    async with nothing_left_running():
        await program().provide(Context.of(ClockTag, clock)).or_raise()
    assert semaphore.available() == 4


async def test_permits_are_returned_on_failure_and_on_a_defect() -> None:
    semaphore = Semaphore(1)
    assert await Effect.fail("no").pipe(semaphore.with_permits(1)) == Failure("no")
    with pytest.raises(ZeroDivisionError):
        await Effect.sync(lambda: 1 / 0).pipe(semaphore.with_permits(1))
    assert semaphore.available() == 1


async def test_permits_are_returned_on_interruption() -> None:
    semaphore = Semaphore(1)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        holding = await do(Effect.never().pipe(semaphore.with_permits(1)).fork())
        await anyio.wait_all_tasks_blocked()
        waiting = await do(Effect.succeed("next").pipe(semaphore.with_permits(1)).fork())
        await anyio.wait_all_tasks_blocked()
        assert (semaphore.available(), waiting.poll()) == (0, None)
        await do(holding.interrupt())
        assert await do(waiting.join()) == "next"

    await program().or_raise()
    assert semaphore.available() == 1


async def test_take_interruption_does_not_leak_permits() -> None:
    semaphore = Semaphore(2)

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        holding = await do(Effect.never().pipe(semaphore.with_permits(1)).fork())
        await anyio.wait_all_tasks_blocked()
        asks_for_many = await do(Effect.succeed(1).pipe(semaphore.with_permits(2)).fork())
        await anyio.wait_all_tasks_blocked()
        asks_for_one = await do(Effect.succeed(2).pipe(semaphore.with_permits(1)).fork())
        await anyio.wait_all_tasks_blocked()
        assert asks_for_one.poll() is None  # who asks for many is not passed over
        await do(asks_for_many.interrupt())
        assert await do(asks_for_one.join()) == 2
        await do(holding.interrupt())

    await program().or_raise()
    assert semaphore.available() == 2


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_permit_on_its_way_to_a_task_that_is_cancelled_is_given_back() -> None:
    semaphore = Semaphore(1)
    await semaphore._take(1)
    waiting = asyncio.create_task(Effect.succeed(1).pipe(semaphore.with_permits(1)).or_raise())
    await anyio.wait_all_tasks_blocked()
    semaphore._give_back(1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert semaphore.available() == 1


@for_each("permits", [-1, 3])
async def test_to_ask_for_what_nobody_can_have_is_an_error_at_once(permits: int) -> None:
    with pytest.raises(ValueError, match=f"{permits} permits were asked for, and there are 2"):
        Semaphore(2).with_permits(permits)


def test_without_an_event_loop_a_free_permit_is_enough() -> None:
    semaphore = Semaphore(1)
    twice: Effect[Any] = Effect.succeed(1).pipe(semaphore.with_permits(1)).pipe(semaphore.with_permits(1))
    assert Effect.succeed(1).pipe(semaphore.with_permits(1)).run_sync() == Success(1)
    with pytest.raises(SuspendedError):
        twice.run_sync()
    assert semaphore.available() == 1
