"""Running effects again.  The cases are those of Effect's own suite (retrying.test.ts and Schedule.test.ts)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Literal

import anyio
import pytest

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.effect.services.random import RandomTag
from chatmemory.effect.services.schedule import Schedule
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

A_DAY = 86_400.0


class Attempts:
    """Counts how often it is run, and fails with the count until it has been run *failures* times."""

    def __init__(self, failures: float = float("inf")) -> None:
        self.count = 0
        self.failures = failures

    @property
    def effect(self) -> Effect[int, int]:
        return Effect.from_outcome(self._run)

    async def _run(self) -> Outcome[int, int]:
        self.count += 1
        return Failure(self.count) if self.count <= self.failures else Success(self.count)


async def settle(effect: Effect[Any, Any], clock: TestClock | None = None) -> Outcome[Any, Any]:
    """Run *effect* while a day of its clock passes at once."""
    clock = clock or TestClock()
    ended: list[Outcome[Any, Any]] = []

    async def run() -> None:
        ended.append(await effect.provide(Context.of(ClockTag, clock).add(RandomTag, Random(1))))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await clock.advance(A_DAY)
        tasks.cancel_scope.cancel()
    return ended[0]


async def test_retry_until_retries_until_condition_is_true() -> None:
    attempts = Attempts()
    assert await settle(
        attempts.effect.retry(Schedule.forever(), until=lambda count: count == 10)
    ) == Failure(10)


async def test_retry_until_runs_at_least_once() -> None:
    attempts = Attempts()
    assert await settle(attempts.effect.retry(Schedule.forever(), until=lambda _: True)) == Failure(1)


async def test_retry_while_retries_while_condition_is_true() -> None:
    attempts = Attempts()
    assert await settle(
        attempts.effect.retry(Schedule.forever(), while_=lambda count: count <= 10)
    ) == Failure(11)


async def test_retry_while_runs_at_least_once() -> None:
    attempts = Attempts()
    assert await settle(attempts.effect.retry(Schedule.forever(), while_=lambda _: False)) == Failure(1)


async def test_retry_schedule() -> None:
    attempts = Attempts()
    assert await settle(attempts.effect.retry(Schedule.recurs(3))) == Failure(4)
    assert attempts.count == 4


async def test_retry_schedule_and_until() -> None:
    attempts = Attempts()
    assert await settle(attempts.effect.retry(Schedule.recurs(3), until=lambda count: count == 3)) == Failure(
        3
    )


async def test_retry_schedule_and_while() -> None:
    attempts = Attempts()
    assert await settle(attempts.effect.retry(Schedule.recurs(3), while_=lambda count: count < 3)) == Failure(
        3
    )


@for_each("condition", ["while_", "until"])
async def test_retry_schedule_and_condition_error(condition: Literal["while_", "until"]) -> None:
    def broken(_: int) -> bool:
        raise RuntimeError(condition)

    conditions: dict[str, Callable[[int], bool]] = {condition: broken}
    with pytest.raises(RuntimeError, match=condition):
        await Attempts().effect.retry(Schedule.recurs(3), **conditions)


async def test_retry_with_a_condition_that_is_an_effect_fails_with_its_failure() -> None:
    def ask(count: int) -> Effect[None, str]:
        return Effect.fail("nobody knows") if count == 2 else Effect.succeed(None)

    attempts = Attempts()
    asking = attempts.effect.tap_error(ask).retry(
        Schedule.recurs(5), while_=lambda error: isinstance(error, int)
    )
    assert await settle(asking) == Failure("nobody knows")
    assert attempts.count == 2


async def test_retries_for_up_to_10_times() -> None:
    assert await settle(Attempts(failures=4).effect.retry(Schedule.recurs(10))) == Success(5)


async def test_retry_0_time_for_once_when_first_time_succeeds() -> None:
    attempts = Attempts(failures=0)
    assert await settle(attempts.effect.retry(Schedule.once())) == Success(1)


async def test_retry_0_time_for_recurs_0() -> None:
    assert await settle(Attempts().effect.retry(Schedule.recurs(0))) == Failure(1)


async def test_retry_exactly_one_time_for_once_when_second_time_succeeds() -> None:
    assert await settle(Attempts(failures=1).effect.retry(Schedule.once())) == Success(2)


async def test_retry_exactly_one_time_for_once_even_if_still_in_error() -> None:
    assert await settle(Attempts().effect.retry(Schedule.once())) == Failure(2)


async def test_retry_exactly_n_times_after_failure() -> None:
    assert await settle(Attempts().effect.retry(Schedule.recurs(3))) == Failure(4)


async def test_retry_or_else_if_fallback_succeeded() -> None:
    tried = (
        Attempts().effect.retry(Schedule.once()).lash(lambda count: Effect.succeed(f"OrElse after {count}"))
    )
    assert await settle(tried) == Success("OrElse after 2")


async def test_retry_or_else_if_fallback_failed() -> None:
    tried = Attempts().effect.retry(Schedule.once()).lash(lambda _: Effect.fail("OrElseFailed"))
    assert await settle(tried) == Failure("OrElseFailed")


async def test_fixed_delay_with_error_predicate() -> None:
    clock = TestClock()

    def is_worth_trying(count: int) -> bool:
        return count < 5

    schedule = Schedule.spaced(0.2).while_input(is_worth_trying)
    gave_up_at = (
        Attempts().effect.retry(schedule).lash(lambda count: Effect.succeed((count, clock.monotonic())))
    )
    assert await settle(gave_up_at, clock) == Success((5, 0.8))


async def test_a_defect_is_not_retried() -> None:
    runs: list[int] = []

    def broken() -> int:
        runs.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Effect.sync(broken).retry(Schedule.recurs(3))
    assert runs == [1]


async def test_a_retry_sleeps_on_the_clock_of_its_context() -> None:
    clock = TestClock()
    woke: list[float] = []
    noting = Attempts(failures=3).effect.tap_error(
        lambda _: Effect.sync(lambda: woke.append(clock.monotonic()))
    )
    await settle(noting.retry(Schedule.exponential(60)), clock)
    assert woke == [0, 60, 180]


async def test_a_retry_takes_its_jitter_from_the_random_of_its_context() -> None:
    async def end_with_seed_1() -> float:
        clock = TestClock()
        retried = Attempts(failures=5).effect.retry(Schedule.spaced(1).jittered())
        at = await settle(retried.bind(lambda _: Effect.sync(clock.monotonic)), clock)
        return float(at.unwrap())

    assert await end_with_seed_1() == await end_with_seed_1() != 5


@for_each(("times", "output"), [(-5, 0), (0, 0), (1, 1), (42, 42)])
async def test_repeat_on_success_repeats_that_additional_number_of_times(times: int, output: int) -> None:
    attempts = Attempts(failures=0)
    assert await settle(attempts.effect.repeat(Schedule.recurs(times))) == Success(output)
    assert attempts.count == output + 1


async def test_for_once_will_repeat_1_additional_time() -> None:
    attempts = Attempts(failures=0)
    await settle(attempts.effect.repeat(Schedule.once()))
    assert attempts.count == 2


async def test_repeat_on_failure_does_not_actually_repeat() -> None:
    assert await settle(Attempts().effect.repeat(Schedule.recurs(42))) == Failure(1)


async def test_repeat_a_scheduled_repeat_repeats_the_whole_number() -> None:
    attempts = Attempts(failures=0)
    await settle(attempts.effect.repeat(Schedule.recurs(42)).repeat(Schedule.recurs(1)))
    assert attempts.count == 43 * 2


async def test_retry_a_failed_action_2_times_and_call_ensuring_should_run_the_specified_finalizer_as_soon_as_the_schedule_is_complete() -> (
    None
):
    attempts, finalized_after = Attempts(), list[int]()
    note = Effect.sync(lambda: finalized_after.append(attempts.count))
    assert await settle(attempts.effect.retry(Schedule.recurs(2)).ensuring(note)) == Failure(3)
    assert finalized_after == [3]


async def test_an_endless_retry_can_be_cancelled() -> None:
    attempts = Attempts()
    with anyio.move_on_after(0.01):
        await attempts.effect.retry(Schedule.forever())
    assert attempts.count > 1
