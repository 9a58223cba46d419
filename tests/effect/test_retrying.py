"""Running effects again after a failure.  The cases are those of Effect's own suite (retrying.test.ts and Schedule.test.ts)."""

from collections.abc import Callable
from random import Random
from typing import Any

import anyio
import pytest

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.effect.services.schedule import RandomTag, Schedule
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


@for_each(
    ("schedule", "conditions", "last"),
    [
        (Schedule.recurs(0), {}, 1),
        (Schedule.recurs(3), {}, 4),
        (Schedule.spaced(0), {"while_": lambda count: count <= 10}, 11),
        (Schedule.spaced(0), {"while_": lambda _: False}, 1),
        (Schedule.recurs(3), {"while_": lambda count: count < 3}, 3),
    ],
)
async def test_what_always_fails_ends_with_the_failure_of_its_last_attempt(
    schedule: Schedule[Any], conditions: dict[str, Callable[[int], bool]], last: int
) -> None:
    attempts = Attempts()
    assert await settle(attempts.effect.retry(schedule, **conditions)) == Failure(last)
    assert attempts.count == last


@for_each(
    ("failures", "schedule"), [(0, Schedule.recurs(1)), (1, Schedule.recurs(1)), (4, Schedule.recurs(10))]
)
async def test_a_retry_ends_with_the_first_success(failures: int, schedule: Schedule[Any]) -> None:
    assert await settle(Attempts(failures).effect.retry(schedule)) == Success(failures + 1)


async def test_a_defect_is_not_retried() -> None:
    runs: list[int] = []

    def broken() -> int:
        runs.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Effect.sync(broken).retry(Schedule.recurs(3))
    assert runs == [1]


async def test_a_retry_sleeps_on_the_clock_of_its_context_and_its_finalizer_comes_last() -> None:
    clock = TestClock()
    woke: list[float] = []
    note = Effect.sync(lambda: woke.append(clock.monotonic()))
    retried = Attempts(failures=3).effect.tap_error(lambda _: note).retry(Schedule.exponential(60))
    await settle(retried.on_exit(lambda _: note), clock)
    assert woke == [0, 60, 180, 420]


async def test_a_retry_takes_its_jitter_from_the_random_of_its_context() -> None:
    async def end_with_seed_1() -> float:
        clock = TestClock()
        retried = Attempts(failures=5).effect.retry(Schedule.spaced(1).jittered())
        at = await settle(retried.bind(lambda _: Effect.sync(clock.monotonic)), clock)
        return float(at.unwrap())

    assert await end_with_seed_1() == await end_with_seed_1() != 5


async def test_an_endless_retry_can_be_cancelled() -> None:
    attempts = Attempts()
    with anyio.CancelScope() as scope:
        await attempts.effect.tap_error(
            lambda count: Effect.sync(lambda: scope.cancel() if count > 2 else None)
        ).retry(Schedule.spaced(0))
    assert scope.cancelled_caught
    assert attempts.count == 3
