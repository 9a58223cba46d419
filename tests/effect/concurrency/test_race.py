"""Effects side by side: Effect's cases of ``race``, ``zip``, ``sleep`` and ``or_die``."""

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
    EffectFailed,
    Failure,
    Fiber,
    Outcome,
    Success,
    TestClock,
    catch,
)

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
    clock = TestClock()

    @Effect.gen
    async def program(do: Do[Any]) -> Any:
        fiber = await do(effect.fork())
        await clock.advance(seconds)
        return await do(fiber.join())

    async with nothing_left_running():
        return await program().provide(Context.of(ClockTag, clock))


async def test_race_of_fail_with_success() -> None:
    assert await Effect.fail(42).race(Effect.succeed(24)) == Success(24)
    assert await Effect.succeed(24).race(Effect.fail(42)) == Success(24)


async def test_race_of_terminate_with_success() -> None:
    assert await die("torn").race(Effect.succeed(24)) == Success(24)


async def test_race_of_value_and_never() -> None:
    assert await Effect.succeed(42).race(Effect.never()) == Success(42)
    assert await Effect.never().race(Effect.succeed(42)) == Success(42)


async def test_race_of_two_values_that_are_there_goes_to_the_left() -> None:
    assert await Effect.succeed("left").race(Effect.succeed("right")) == Success("left")


async def test_race_loser_is_interrupted_and_waited_for() -> None:
    journal = Journal()
    slow = Effect.sleep(200).ensuring(journal.note("finalize b"))
    fast = Effect.sleep(100).bind(lambda _: journal.note("done a")).ensuring(journal.note("finalize a"))
    await run_for(300, fast.race(slow).tap(lambda _: journal.note("race done")))
    assert journal == ["done a", "finalize a", "finalize b", "race done"]


async def test_race_first_success_wins_even_after_a_failure() -> None:
    assert await run_for(100, Effect.fail(42).race(after(100, Effect.succeed(24)))) == Success(24)


async def test_race_both_failing_joins_the_causes() -> None:
    assert await run_for(2, after(2, Effect.fail("late")).race(after(1, Effect.fail("early")))) == Failure(
        "early"
    )
    with pytest.raises(ValueError, match="torn"):
        await Effect.fail("no").race(die("torn"))
    with pytest.raises(ValueError, match="torn"):
        await die("torn").race(Effect.fail("no"))


async def test_race_all_returns_the_first_success() -> None:
    effects = [Effect.fail("fail"), Effect.never(), Effect.succeed(24)]
    assert await Effect.race_all(effects) == Success(24)
    with pytest.raises(ValueError, match="a race of no effects would never end"):
        Effect.race_all([])


async def test_race_in_an_uninterruptible_region_waits_for_the_loser() -> None:
    clock = TestClock()

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        slow = Effect.sleep(45).uninterruptible().map(lambda _: "slow")
        fiber = await do(slow.race(after(1, Effect.succeed("fast"))).fork())
        await clock.advance(30)
        assert fiber.poll() is None
        await clock.advance(15)
        assert await do(fiber.join()) == "fast"

    await program().provide(Context.of(ClockTag, clock))


async def test_race_first_ends_as_whoever_ends_first() -> None:
    assert await Effect.never().race_first(Effect.fail("no")) == Failure("no")
    assert await run_for(2, after(1, Effect.succeed(1)).race_first(after(2, Effect.fail("no")))) == Success(1)
    assert await run_for(2, after(2, Effect.succeed(1)).race_first(after(1, Effect.fail("no")))) == Failure(
        "no"
    )


async def test_race_first_ignores_a_loser_whose_finalizer_dies() -> None:
    assert await run_for(
        1, after(1, Effect.succeed(1)).race_first(Effect.never().ensuring(die("torn")))
    ) == Success(1)


async def test_a_race_that_is_cancelled_leaves_nothing_running() -> None:
    journal = Journal()
    loser = Effect.never().ensuring(journal.note("finalized"))
    async with nothing_left_running(), anyio.create_task_group() as running:
        running.start_soon(loser.race(loser).or_raise)
        await anyio.wait_all_tasks_blocked()
        running.cancel_scope.cancel()
    assert journal == ["finalized", "finalized"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_race_that_is_cancelled_by_asyncio_leaves_nothing_running() -> None:
    journal = Journal()
    loser = Effect.never().ensuring(journal.note("finalized"))
    async with nothing_left_running():
        racing = asyncio.create_task(loser.race(loser).or_raise())
        await anyio.wait_all_tasks_blocked()
        racing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await racing
    assert journal == ["finalized", "finalized"]


async def test_daemon_fiber_race_interruption() -> None:
    journal = Journal()

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        side = Effect.sleep(3600).ensuring(journal.note("interrupted"))
        fiber = await do(side.race(side).fork())
        await anyio.wait_all_tasks_blocked()
        await do(fiber.interrupt())
        assert journal == ["interrupted", "interrupted"]

    async with nothing_left_running():
        await program().or_raise()


async def test_zip_runs_one_after_the_other() -> None:
    journal = Journal()
    both = journal.note("left").map(lambda _: 1).zip(journal.note("right").map(lambda _: "a"))
    assert await both == Success((1, "a"))
    assert journal == ["left", "right"]
    assert await Effect.fail("no").zip(journal.note("never")) == Failure("no")
    assert journal == ["left", "right"]


async def test_zip_concurrent_runs_both_at_once_and_keeps_the_order() -> None:
    both = after(2, Effect.succeed(1)).zip(after(1, Effect.succeed("a")), concurrent=True)
    assert await run_for(2, both) == Success((1, "a"))


async def test_zip_concurrent_the_first_failure_interrupts_the_other() -> None:
    journal = Journal()
    both = (
        Effect.never().ensuring(journal.note("interrupted")).zip(after(1, Effect.fail("no")), concurrent=True)
    )
    assert await run_for(1, both) == Failure("no")
    assert journal == ["interrupted"]


async def test_sleep_goes_by_the_clock_at_hand() -> None:
    clock = TestClock()

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        fiber = await do(Effect.sleep(3600).fork())
        await clock.advance(3599)
        assert fiber.poll() is None
        await clock.advance(1)
        await do(fiber.join())

    await program().provide(Context.of(ClockTag, clock)).or_raise()


async def test_or_die_makes_a_defect_of_a_failure() -> None:
    assert await Effect.succeed(1).or_die() == Success(1)
    with pytest.raises(EffectFailed, match="no"):
        await Effect.fail("no").or_die()
    with pytest.raises(ValueError, match="torn"):
        await Effect.fail(ValueError("torn")).or_die().pipe(catch(ValueError, Effect.succeed))


async def test_forks_inside_a_timeout_end_with_it() -> None:
    fibers: list[Fiber[Never, Never]] = []
    forking = Effect.never().fork().map(fibers.append)

    @Effect.gen
    async def program(do: Do[str]) -> None:
        await do(forking.timeout(60, lambda: "late"))
        assert fibers[0].poll() is not None

    assert await program() == Success(None)


def test_without_an_event_loop_those_run_that_never_wait() -> None:
    assert Effect.fail(1).race(Effect.succeed(2)).run_sync() == Success(2)
    assert Effect.fail(1).race_first(Effect.succeed(2)).run_sync() == Failure(1)
    assert Effect.fail(1).race(Effect.fail(2)).run_sync() == Failure(1)
    assert Effect.succeed(1).zip(Effect.succeed(2), concurrent=True).run_sync() == Success((1, 2))
