from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import anyio
import pytest
from anyio.abc import TaskGroup

from chatmemory.effect import Success
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.services.clock import Clock, ClockTag, SystemClock, TestClock

pytestmark = pytest.mark.anyio

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


class Alarms:
    """Tasks that sleep on a clock and note who woke when."""

    def __init__(self, clock: TestClock, tasks: TaskGroup) -> None:
        self.clock = clock
        self.tasks = tasks
        self.woke: list[tuple[str, float]] = []

    def set(self, name: str, *sleeps: float) -> None:
        self.tasks.start_soon(self._sleep, name, sleeps)

    async def _sleep(self, name: str, sleeps: tuple[float, ...]) -> None:
        for seconds in sleeps:
            await self.clock.sleep(seconds)
            self.woke.append((name, self.clock.monotonic()))


async def test_the_clock_of_an_effect_is_the_systems_unless_another_is_provided() -> None:
    ours = TestClock()
    assert isinstance((await Effect.service(ClockTag)).unwrap(), SystemClock)
    assert await Effect.service(ClockTag).provide(Context.of(ClockTag, ours)) == Success(ours)


async def test_the_system_clock_tells_the_time_in_utc_and_waits() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0.01)
    await clock.sleep(-1)
    assert clock.now().tzinfo is UTC
    assert 0.01 <= clock.monotonic() - before < 1


async def test_a_test_clock_stands_still_until_it_is_moved() -> None:
    clock = TestClock()
    assert (clock.now(), clock.monotonic()) == (NEW_YEAR, 0)
    await clock.advance(1800)
    assert (clock.now(), clock.monotonic()) == (NEW_YEAR + timedelta(minutes=30), 1800)


async def test_sleepers_wake_in_order_each_at_its_own_time() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        for name, seconds in (("late", 30.0), ("early", 10.0), ("never", 61.0), ("middle", 20.0)):
            alarms.set(name, seconds)
        await clock.advance(60)
        assert alarms.woke == [("early", 10), ("middle", 20), ("late", 30)]
        assert clock.monotonic() == 60
        await clock.advance(1)
    assert alarms.woke[-1] == ("never", 61)


async def test_sleepers_of_the_same_moment_wake_in_the_order_in_which_they_went_to_sleep() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        for place in range(20):
            alarms.set(f"{place:02}", 5)
            await clock.advance(0)
        await clock.advance(5)
    assert [name for name, _ in alarms.woke] == sorted(name for name, _ in alarms.woke)


async def test_a_sleeper_that_sleeps_again_within_the_span_is_woken_again() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        alarms.set("hourly", *[3600.0] * 24)
        await clock.advance(86_400)
    assert len(alarms.woke) == 24


async def test_ten_steps_of_a_tenth_reach_a_sleeper_of_one_second() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        alarms.set("second", 1)
        for _ in range(10):
            await clock.advance(0.1)
    assert alarms.woke == [("second", 1)]


async def test_work_of_many_steps_is_done_before_the_clock_moves_on() -> None:
    clock, done_at = TestClock(), list[float]()

    async def work() -> None:
        await clock.sleep(1)
        for _ in range(500):
            await clock.sleep(0)
        done_at.append(clock.monotonic())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        await clock.advance(100)
    assert done_at == [1]


async def test_a_cancelled_sleeper_is_not_waited_for() -> None:
    clock = TestClock()
    with anyio.move_on_after(0.01) as scope:
        await clock.sleep(5)
    assert scope.cancelled_caught
    await clock.advance(10)
    assert clock.monotonic() == 10


async def test_set_time_moves_on_to_an_instant_and_wakes_who_slept_until_then() -> None:
    clock = TestClock(NEW_YEAR)
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        alarms.set("noon", 43_200)
        await clock.set_time(datetime(2026, 1, 1, 20, tzinfo=timezone(timedelta(hours=8))))  # noon in UTC
    assert alarms.woke == [("noon", 43_200)]
    assert clock.now() == NEW_YEAR + timedelta(hours=12)


async def test_setting_the_time_of_day_back_leaves_spans_alone() -> None:
    clock = TestClock(NEW_YEAR)
    await clock.advance(60)
    await clock.set_time(NEW_YEAR - timedelta(hours=1))
    assert clock.now() == NEW_YEAR - timedelta(hours=1)
    assert clock.monotonic() == 60


async def test_an_instant_must_know_its_time_zone_and_a_span_its_direction() -> None:
    clock = TestClock()
    naive = datetime(2026, 1, 1)  # noqa: DTZ001  the mistake itself
    with pytest.raises(ValueError, match="time zone"):
        TestClock(naive)
    with pytest.raises(ValueError, match="time zone"):
        await clock.set_time(naive)
    for seconds in (-1, math.nan):
        with pytest.raises(ValueError, match=r"backwards|NaN"):
            await clock.advance(seconds)
