"""``Deferred``: Effect's cases."""

from __future__ import annotations

from typing import Never

import anyio
import pytest
from left_running import nothing_left_running

from chatmemory.effect import (
    Cause,
    Deferred,
    Do,
    Effect,
    EffectInterrupted,
    Failure,
    Interrupt,
    Ref,
    Success,
    SuspendedError,
)

pytestmark = pytest.mark.anyio


async def test_complete_a_deferred_using_succeed() -> None:
    deferred = Deferred[int]()
    assert await deferred.succeed(32) == Success(True)
    assert await deferred.await_() == Success(32)


async def test_complete_a_deferred_using_complete_runs_the_effect_once() -> None:
    deferred, ref = Deferred[int](), Ref(13)
    assert await deferred.complete(ref.update_and_get(lambda value: value + 1)) == Success(True)
    assert await deferred.await_() == Success(14)
    assert await deferred.await_() == Success(14)


async def test_complete_once_later_completions_say_false() -> None:
    deferred = Deferred[int, str]()
    await deferred.succeed(1)
    assert await deferred.complete(Effect.succeed(9)) == Success(False)
    assert await deferred.fail("late") == Success(False)
    assert await deferred.interrupt() == Success(False)
    assert await deferred.await_() == Success(1)


async def test_fail_a_deferred() -> None:
    deferred = Deferred[int, str]()
    assert await deferred.fail("no") == Success(True)
    assert await deferred.await_() == Failure("no")


async def test_complete_with_a_defect_raises_it_where_it_is_awaited() -> None:
    deferred = Deferred[float]()
    assert await deferred.complete(Effect.sync(lambda: 1 / 0)) == Success(True)
    with pytest.raises(ZeroDivisionError):
        await deferred.await_()


async def test_interrupt_a_deferred() -> None:
    deferred = Deferred[int]()
    assert await deferred.interrupt() == Success(True)
    assert await deferred.await_().exit() == Success(Failure(Cause((Interrupt(),))))


async def test_a_completion_that_is_interrupted_leaves_nobody_waiting() -> None:
    deferred = Deferred[int]()

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        completing = await do(deferred.complete(Effect.never()).fork())
        await anyio.wait_all_tasks_blocked()
        await do(completing.interrupt())
        await do(deferred.await_())

    with pytest.raises(EffectInterrupted):
        await program()


async def test_poll_and_is_done() -> None:
    deferred = Deferred[int]()
    assert (deferred.poll(), deferred.is_done()) == (None, False)
    await deferred.succeed(12)
    assert (deferred.poll(), deferred.is_done()) == (Success(12), True)


async def test_all_who_wait_are_woken() -> None:
    deferred = Deferred[str]()

    @Effect.gen
    async def program(do: Do[Never]) -> list[str]:
        waiting = [await do(deferred.await_().fork()) for _ in range(3)]
        await anyio.wait_all_tasks_blocked()
        await do(deferred.succeed("到了"))
        return [await do(fiber.join()) for fiber in waiting]

    async with nothing_left_running():
        assert await program() == Success(["到了"] * 3)


def test_without_an_event_loop_only_what_is_there_can_be_awaited() -> None:
    deferred = Deferred[int]()
    with pytest.raises(SuspendedError):
        deferred.await_().run_sync()
    deferred.succeed(1).run_sync()
    assert deferred.await_().run_sync() == Success(1)
