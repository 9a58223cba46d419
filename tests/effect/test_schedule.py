"""What each schedule plans.  The cases are those of Effect's own suite (Schedule.test.ts, versions 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from chatmemory.effect.services.driver import Moment, Run
from chatmemory.effect.services.schedule import Schedule
from tests.for_each import for_each


def delays(schedule: Schedule[Any], inputs: Iterable[object], *, work_seconds: float = 0.0) -> list[float]:
    """Return the rests that *schedule* plans when each piece of work takes *work_seconds*."""
    driver, now, rests = schedule.start(Random(1)), 0.0, []
    for value in inputs:
        now += work_seconds
        if (rest := driver.next(value, now)) is None:
            break
        rests.append(rest)
        now += rest
    return rests


@for_each(("times", "recurrences"), [(-5, 0), (0, 0), (1, 1), (42, 42)])
def test_recurs_repeats_that_number_of_times_and_never_for_a_negative_one(
    times: int, recurrences: int
) -> None:
    assert delays(Schedule.recurs(times), range(100)) == [0.0] * recurrences


PLANNED: list[tuple[Schedule[Any], list[float]]] = [
    (Schedule.spaced(1), [1, 1, 1, 1]),
    (Schedule.exponential(100), [100, 200, 400, 800]),
    (Schedule.exponential(100, factor=3), [100, 300, 900, 2700]),
    (Schedule.recurs(1) | Schedule.recurs(3), [0, 0, 0]),  # as long as either goes on
    (Schedule.exponential(1) | Schedule.spaced(3), [1, 2, 3, 3]),
    (Schedule.recurs(1) & Schedule.spaced(5), [5]),  # as long as both go on
    (Schedule.exponential(5) & Schedule.spaced(10), [10, 10, 20, 40]),
    (Schedule.exponential(1) & Schedule.recurs(2), [1, 2]),
]


@for_each(("schedule", "planned"), PLANNED)
def test_what_a_schedule_plans_whatever_the_work_takes_and_again_in_each_run(
    schedule: Schedule[Any], planned: list[float]
) -> None:
    assert delays(schedule, range(4)) == delays(schedule, range(4), work_seconds=0.5) == planned


def test_exponential_delays_outlive_the_range_of_floats_under_a_cap() -> None:
    assert delays(Schedule.exponential(1) | Schedule.spaced(60), range(1100))[-1] == 60


def test_a_schedule_of_ones_own_sees_each_input_and_the_time() -> None:
    def as_asked(moment: Moment[float]) -> Run[float]:
        while moment.input < 5:
            moment = yield moment.input

    assert delays(Schedule(as_asked), [1.0, 3.0, 9.0, 1.0]) == [1, 3]
    assert delays(Schedule(as_asked) & Schedule.spaced(2), [1.0, 3.0, 9.0]) == [2, 3]


def test_jittered_keeps_delays_within_80_to_120_percent_and_is_over_when_its_plan_is() -> None:
    jittered = Schedule.spaced(1).jittered()
    rests = delays(jittered, range(1000))
    assert 0.8 <= min(rests) < 0.81
    assert 1.19 < max(rests) <= 1.2
    assert delays(jittered, range(1000)) == rests  # by the same seed
    assert len(delays((Schedule.spaced(1) & Schedule.recurs(4)).jittered(), range(9))) == 4


@for_each("seconds", [-1.0, float("nan")])
@for_each("make", [Schedule.spaced, Schedule.exponential, lambda factor: Schedule.exponential(1, factor)])
def test_a_span_that_is_none_is_refused_when_the_schedule_is_made(make: Any, seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be 0 or more"):
        make(seconds)
