"""The clock of a test stands still until the test moves it; sleepers wake in order."""

import math
from datetime import UTC, datetime, timedelta, timezone

import anyio
import pytest
from anyio.abc import TaskGroup

from chatmemory.effect import ClockTag, Context, Effect
from chatmemory.effect.services.clock import Clock, SystemClock, TestClock

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


async def test_the_system_clock_tells_the_time_in_utc_and_waits() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0.01)  # a sleep is what is tested
    await clock.sleep(-1)
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() - before >= 0.01


async def test_sleepers_wake_in_order_each_at_its_own_time() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        for name, seconds in (("late", 30.0), ("early", 10.0), ("never", 61.0), ("middle", 20.0)):
            alarms.set(name, seconds)
        await clock.advance(60)
        assert alarms.woke == [("early", 10), ("middle", 20), ("late", 30)]
        assert clock.monotonic() == 60
        for place in range(20):
            alarms.set(f"{place:02}", 1)
            await clock.advance(0)
        await clock.advance(1)
    assert [name for name, _ in alarms.woke[3:]] == ["never", *[f"{place:02}" for place in range(20)]]


async def test_a_sleeper_is_woken_again_within_a_span_and_by_many_small_steps() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        alarms = Alarms(clock, tasks)
        alarms.set("hourly", *[3600.0] * 24)
        await clock.advance(86_400)
        assert len(alarms.woke) == 24
        alarms.set("second", 1)
        for _ in range(10):
            await clock.advance(0.1)
    assert alarms.woke[-1] == ("second", 86_401)


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


async def test_an_effect_sleeps_by_the_clock_of_its_context() -> None:
    clock, woke_at = TestClock(), list[float]()
    sleeps = Effect.sleep(3600).map(lambda _: woke_at.append(clock.monotonic()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sleeps.provide(Context.of(ClockTag, clock)).run)
        await clock.advance(3599)
        assert woke_at == []
        await clock.advance(1)
    assert woke_at == [3600]


async def test_a_cancelled_sleeper_is_not_waited_for() -> None:
    clock = TestClock()
    async with anyio.create_task_group() as tasks:
        for seconds in (5, float("inf")):
            tasks.start_soon(clock.sleep, seconds)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    await clock.advance(10)
    assert clock.monotonic() == 10


async def test_set_time_moves_on_to_an_instant_and_wakes_who_slept_until_then() -> None:
    clock = TestClock()
    assert (clock.now(), clock.monotonic()) == (NEW_YEAR, 0)
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
