"""Effects side by side: Effect's cases of ``race`` and ``sleep``."""

from __future__ import annotations

import asyncio
from typing import Any, Never

import anyio
import pytest

from chatmemory.effect import (
    ClockTag,
    Context,
    Effect,
    Failure,
    Outcome,
    Success,
    TestClock,
)
from tests.effect.concurrency.left_running import nothing_left_running
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


class Journal(list[str]):
    def note(self, line: str) -> Effect[None]:
        return Effect.sync(lambda: self.append(line))


def die(text: str) -> Effect[Never]:
    return Effect.sync(lambda: _raise(ValueError(text)))


def _raise(exception: Exception) -> Never:
    raise exception


def after(seconds: float, end: Effect[Any, Any]) -> Effect[Any, Any]:
    return Effect.sleep(seconds).bind(lambda _: end)


async def run_for(seconds: float, effect: Effect[Any, Any]) -> Outcome[Any, Any]:
    """Run *effect* while *seconds* pass in no time."""
    clock, outcomes = TestClock(), list[Outcome[Any, Any]]()

    async def run() -> None:
        outcomes.append(await effect.provide(Context.of(ClockTag, clock)))

    async with nothing_left_running(), anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await clock.advance(seconds)
    return outcomes[0]


@for_each(
    ("left", "right", "value"),
    [
        (Effect.fail(42), Effect.succeed(24), 24),
        (Effect.succeed(24), Effect.fail(42), 24),
        (die("torn"), Effect.succeed(24), 24),
        (Effect.succeed(42), Effect.never(), 42),
        (Effect.never(), Effect.succeed(42), 42),
        (Effect.succeed("left"), Effect.succeed("right"), "left"),
    ],
)
async def test_a_race_goes_to_the_first_success(
    left: Effect[Any, Any], right: Effect[Any, Any], value: object
) -> None:
    assert await left.race(right) == Success(value)


async def test_race_loser_is_interrupted_and_waited_for() -> None:
    journal = Journal()
    slow = Effect.sleep(200).on_exit(lambda _: journal.note("finalize b"))
    fast = (
        Effect.sleep(100).bind(lambda _: journal.note("done a")).on_exit(lambda _: journal.note("finalize a"))
    )
    await run_for(300, fast.race(slow).tap(lambda _: journal.note("race done")))
    assert journal == ["done a", "finalize a", "finalize b", "race done"]


async def test_a_race_of_failures_ends_as_the_first_one_or_with_a_defect() -> None:
    assert await run_for(100, Effect.fail(42).race(after(100, Effect.succeed(24)))) == Success(24)
    both_fail = after(2, Effect.fail("late")).race(after(1, Effect.fail("early")))
    assert await run_for(2, both_fail) == Failure("early")
    with pytest.raises(ValueError, match="torn"):
        await Effect.fail("no").race(die("torn"))
    with pytest.raises(ValueError, match="torn"):
        await die("torn").race(Effect.fail("no"))


async def test_a_race_that_is_won_ignores_a_loser_whose_finalizer_dies() -> None:
    dies = Effect.never().on_exit(lambda _: die("torn"))
    assert await run_for(1, after(1, Effect.succeed(1)).race(dies)) == Success(1)


async def test_a_race_that_is_cancelled_leaves_nothing_running() -> None:
    journal = Journal()
    loser = Effect.never().on_exit(lambda _: journal.note("finalized"))
    async with nothing_left_running(), anyio.create_task_group() as running:
        running.start_soon(loser.race(loser).or_raise)
        await anyio.wait_all_tasks_blocked()
        running.cancel_scope.cancel()
    assert journal == ["finalized", "finalized"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_race_that_is_cancelled_by_asyncio_leaves_nothing_running() -> None:
    journal = Journal()
    loser = Effect.never().on_exit(lambda _: journal.note("finalized"))
    async with nothing_left_running():
        racing = asyncio.create_task(loser.race(loser).or_raise())
        await anyio.wait_all_tasks_blocked()
        racing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await racing
    assert journal == ["finalized", "finalized"]


async def test_sleep_goes_by_the_clock_at_hand() -> None:
    slept = Effect.sleep(3600).map(lambda _: "slept")
    late = slept.race(after(3601, Effect.succeed("late")))
    assert await run_for(3601, late.race(after(3599, Effect.fail("no")))) == Success("slept")


def test_without_an_event_loop_those_run_that_never_wait() -> None:
    assert Effect.fail(1).race(Effect.succeed(2)).run_sync() == Success(2)
    assert Effect.fail(1).race(Effect.fail(2)).run_sync() == Failure(1)
