"""What each schedule plans.  The cases are those of Effect's own suite (Schedule.test.ts, versions 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, repeat
from random import Random
from typing import Any

import pytest

from chatmemory.effect.services.schedule import Schedule
from tests.for_each import for_each


def delays(
    schedule: Schedule[Any, Any], inputs: Iterable[object], *, work_seconds: float = 0.0
) -> list[float]:
    """Return the rests that *schedule* plans when each piece of work takes *work_seconds*."""
    driver, now, rests = schedule.start(Random(1)), 0.0, []
    for value in inputs:
        now += work_seconds
        if (rest := driver.next(value, now)) is None:
            break
        rests.append(rest)
        now += rest
    return rests


def starts(schedule: Schedule[Any, Any], times: int) -> list[float]:
    """Return the seconds at which the first *times* starts happen when work takes no time."""
    return list(accumulate(delays(schedule, repeat(None, times - 1)), initial=0.0))


@for_each(("times", "recurrences"), [(-5, 0), (0, 0), (1, 1), (42, 42)])
def test_recurs_repeats_that_number_of_times_and_never_for_a_negative_one(
    times: int, recurrences: int
) -> None:
    driver = Schedule.recurs(times).start(Random(1))
    assert delays(Schedule.recurs(times), range(100)) == [0.0] * recurrences
    while driver.next(None, 0.0) is not None:
        pass
    assert driver.output == recurrences


def test_once_repeats_one_additional_time() -> None:
    assert delays(Schedule.once(), range(5)) == [0.0]


def test_forever_never_ends() -> None:
    assert delays(Schedule.forever(), range(1000)) == [0.0] * 1000


def test_a_driver_that_is_over_stays_over_and_keeps_its_output() -> None:
    driver = Schedule.recurs(1).start(Random(1))
    assert [driver.next(None, 0.0) for _ in range(4)] == [0.0, None, None, None]
    assert driver.output == 1


def test_each_run_starts_anew() -> None:
    schedule = Schedule.exponential(1) & Schedule.recurs(2)
    assert delays(schedule, range(5)) == delays(schedule, range(5)) == [1.0, 2.0]


def test_fibonacci_delay() -> None:
    assert starts(Schedule.fibonacci(100), 5) == [0, 100, 200, 400, 700]


def test_linear_delay() -> None:
    assert starts(Schedule.linear(100), 5) == [0, 100, 300, 600, 1000]


def test_spaced_delay() -> None:
    assert starts(Schedule.spaced(100), 5) == [0, 100, 200, 300, 400]


def test_spaced_rests_the_whole_span_after_slow_work() -> None:
    assert delays(Schedule.spaced(1), range(3), work_seconds=0.5) == [1, 1, 1]


def test_fixed_delay() -> None:
    assert starts(Schedule.fixed(100), 5) == [0, 100, 200, 300, 400]


def test_fixed_delay_with_zero_delay() -> None:
    assert starts(Schedule.fixed(0), 5) == [0, 0, 0, 0, 0]


def test_fixed_delays_until_the_nearest_window_boundary_when_action_is_slow() -> None:
    assert delays(Schedule.fixed(1), range(5), work_seconds=0.5) == [1, 0.5, 0.5, 0.5, 0.5]


def test_fixed_starts_at_once_when_action_duration_exceeds_the_interval() -> None:
    assert delays(Schedule.fixed(1), range(5), work_seconds=1.5) == [1, 0, 0, 0, 0]


def test_fixed_takes_float_noise_for_a_boundary_and_not_for_a_window() -> None:
    driver = Schedule.fixed(0.1).start(Random(1))
    driver.next(None, 0.1)
    assert 0.3 - 0.1 < 0.2
    assert driver.next(None, 0.3) == 0.1


def test_exponential_delay_with_default_factor() -> None:
    assert starts(Schedule.exponential(100), 5) == [0, 100, 300, 700, 1500]


def test_exponential_delay_with_other_factor() -> None:
    assert starts(Schedule.exponential(100, 3), 5) == [0, 100, 400, 1300, 4000]


def test_exponential_delay_outlives_the_range_of_floats_under_a_cap() -> None:
    assert delays(Schedule.exponential(1) | Schedule.spaced(60), range(1100))[-1] == 60


def test_respect_recurs_even_if_more_input_is_provided_than_needed() -> None:
    assert delays(Schedule.recurs(3) & Schedule.exponential(60), range(10)) == [60, 120, 240]


def test_respect_schedule_up_to_even_if_more_input_is_provided_than_needed() -> None:
    driver = Schedule.spaced(1).up_to(seconds=5).start(Random(1))
    outputs: list[int] = []
    for now in range(10):
        rest = driver.next(now, now)
        outputs.append(driver.output)
        if rest is None:
            break
    assert outputs == [0, 1, 2, 3, 4, 5]


def test_up_to_limits_by_times() -> None:
    assert delays(Schedule.spaced(1).up_to(times=2), range(9)) == [1, 1]


def test_up_to_limits_by_duration() -> None:
    assert delays(Schedule.spaced(1).up_to(seconds=3), range(9)) == [1, 1, 1]


@for_each(("times", "seconds", "count"), [(2, 9, 2), (9, 2, 2), (0, 9, 0), (9, 0, 0)])
def test_up_to_ends_with_the_first_exhausted_option(times: int, seconds: float, count: int) -> None:
    assert len(delays(Schedule.spaced(1).up_to(times=times, seconds=seconds), range(9))) == count


def test_union_of_two_schedules_should_continue_as_long_as_either_wants_to_continue() -> None:
    flags = (True, False, False, False)
    schedule = Schedule.forever().while_input(bool) | Schedule.fixed(1)
    assert list(accumulate(delays(schedule, flags), initial=0.0)) == [0, 0, 1, 2, 3]


def test_union_ends_when_neither_wants_to_continue() -> None:
    assert delays(Schedule.recurs(1) | Schedule.recurs(3), range(9)) == [0, 0, 0]


def test_min_takes_the_shorter_delay_of_a_union() -> None:
    assert delays(Schedule.exponential(1) | Schedule.spaced(3), range(4)) == [1, 2, 3, 3]


def test_intersection_of_schedules_recurring_in_bounded_intervals() -> None:
    bounded = Schedule.spaced(2).up_to(seconds=7) & Schedule.spaced(1).up_to(times=3)
    assert delays(bounded, range(9)) == [2, 2, 2]
    assert delays(Schedule.spaced(2).up_to(seconds=3) & Schedule.spaced(1), range(9)) == [2, 2]


def test_max_takes_the_slowest_delay_of_an_intersection() -> None:
    slowest = Schedule.fixed(5) & Schedule.exponential(5) & Schedule.spaced(10)
    assert delays(slowest, range(3)) == [10, 10, 20]


def test_max_stops_when_any_schedule_completes() -> None:
    assert delays(Schedule.recurs(1) & Schedule.spaced(5), range(3)) == [5]


def test_concat_runs_the_second_schedule_after_the_first() -> None:
    both = Schedule.fixed(0.5).up_to(times=3).and_then(Schedule.fixed(1))
    assert delays(both, range(6)) == [0.5, 0.5, 0.5, 1, 1, 1]


def test_concat_is_over_with_the_second_schedule() -> None:
    both = Schedule.spaced(0.5).up_to(times=2).and_then(Schedule.spaced(1).up_to(times=1))
    assert delays(both, range(9)) == [0.5, 0.5, 1]


def test_jittered_keeps_delays_within_80_to_120_percent_of_the_original() -> None:
    rests = delays(Schedule.spaced(1).jittered(), range(1000))
    assert 0.8 <= min(rests) < 0.81
    assert 1.19 < max(rests) <= 1.2


def test_jittered_does_not_change_when_it_is_over() -> None:
    assert len(delays(Schedule.spaced(1).up_to(times=4).jittered(), range(9))) == 4


def test_jitter_is_the_same_for_the_same_seed() -> None:
    schedule = Schedule.spaced(1).jittered()
    assert delays(schedule, range(9)) == delays(schedule, range(9))


def test_until_input_stops_at_the_first_input_that_fulfils_the_condition() -> None:
    assert len(delays(Schedule.forever().until_input(lambda value: value == 3), range(9))) == 3


@for_each("seconds", [-1.0, float("nan")])
def test_a_span_that_is_none_is_refused_when_the_schedule_is_made(seconds: float) -> None:
    for make in (Schedule.spaced, Schedule.fixed, Schedule.linear, Schedule.exponential, Schedule.fibonacci):
        with pytest.raises(ValueError, match="seconds must be 0 or more"):
            make(seconds)
