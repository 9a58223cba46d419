"""What each schedule plans.  The cases are those of Effect's own suite (Schedule.test.ts, versions 3 and 4)."""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from random import Random
from typing import Any

import pytest

from chatmemory.effect.services.schedule import Schedule
from tests.for_each import for_each


def delays(schedule: Schedule[Any], errors: Iterable[object]) -> list[float]:
    """Return the pauses that *schedule* plans after *errors*."""
    pauses: Iterator[float | None] = map(schedule.start(Random(1)), errors)
    return [pause for pause in takewhile(lambda pause: pause is not None, pauses) if pause is not None]


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
def test_what_a_schedule_plans_again_in_each_run(schedule: Schedule[Any], planned: list[float]) -> None:
    assert delays(schedule, range(4)) == delays(schedule, range(4)) == planned


def test_exponential_delays_outlive_the_range_of_floats_under_a_cap() -> None:
    assert delays(Schedule.exponential(1) | Schedule.spaced(60), range(1100))[-1] == 60


def test_a_schedule_of_ones_own_sees_each_error() -> None:
    as_asked: Schedule[float] = Schedule(lambda _: lambda error: error if error < 5 else None)
    assert delays(as_asked, [1.0, 3.0, 9.0, 1.0]) == [1, 3]
    assert delays(as_asked & Schedule.spaced(2), [1.0, 3.0, 9.0]) == [2, 3]
    assert delays(as_asked | Schedule.recurs(3), [9.0, 1.0, 3.0, 1.0]) == [
        0,
        0,
        0,
    ]  # what ended does not go on


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
