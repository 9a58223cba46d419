"""Time as a service: ``Clock``, the system's clock, and a clock that tests move by hand.

Only this module reads the system's time; all others ask for ``ClockTag``.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from typing import Any, Final, Protocol, final
from weakref import WeakSet

from chatmemory.effect.checks import require_seconds
from chatmemory.effect.key import Reference
from chatmemory.effect.lazy import anyio, asyncio

NANOSECONDS = 1_000_000_000  # per second


class Clock(Protocol):
    """Provides the time, and sleeps."""

    def now(self) -> datetime:
        """Return the date and time in UTC; they jump when the system's clock is set."""
        ...

    def monotonic(self) -> float:
        """Return the seconds since an unspecified start; they never go backwards, so use them to measure durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Sleep for *seconds*; for 0 or less, let other tasks run at least once."""
        ...


class ClockTag(Reference[Clock]):
    """The tag of the ``Clock``; by default the system's clock."""

    @classmethod
    def default(cls) -> Clock:
        """Return the system's clock."""
        return SystemClock()


@final
class SystemClock:
    """The clock of this machine."""

    # Bound to `datetime.now` directly, because every write calls it; only here may code read the system's time.
    now = staticmethod(partial(datetime.now, UTC))  # noqa: TID251
    """Return the date and time in UTC."""

    def monotonic(self) -> float:
        """Return the seconds since an unspecified start."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep for *seconds*."""
        await anyio.sleep(max(seconds, 0))


class Worker(Protocol):
    """Does work for one event loop in a worker thread."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that waits for the work."""
        ...

    @property
    def is_working(self) -> bool:
        """Whether the loop waits for work."""
        ...


WORKERS: Final[WeakSet[Worker]] = WeakSet()
"""The workers that a ``TestClock`` waits for."""

LOOK_SECONDS: Final = 0.0002  # real time, between two looks at a worker


async def real_seconds(clock: Clock, seconds: float) -> float:
    """Return how many seconds a task may wait for others to end: 0 on a ``TestClock``, once each has run until it waits.

    On every other clock it is *seconds*.
    """
    if not isinstance(clock, TestClock):
        return seconds
    await clock.settle()
    return 0


@final
class TestClock:
    """A clock that moves only when a test moves it, on asyncio and trio alike.

    >>> import anyio
    >>> async def test_a_reminder_comes_after_half_an_hour() -> None:
    ...     clock = TestClock()
    ...     async with anyio.create_task_group() as tasks:
    ...         tasks.start_soon(clock.sleep, 1800)
    ...         await clock.advance(1800)  # takes no time
    >>> anyio.run(test_a_reminder_comes_after_half_an_hour)

    Before the clock moves, every task runs until it waits for something, and the threads of SQLite stores finish their
    work.  A task that waits for another thread or a socket counts as waiting: let the test await what that task does.
    """

    __test__ = False  # pytest: not a class of tests

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        if start.tzinfo is None:
            msg = "start must know its time zone, as in datetime(2026, 1, 1, tzinfo=UTC)"
            raise ValueError(msg)
        self._origin = start.astimezone(UTC)
        # Whole nanoseconds: ten steps of 0.1 s must reach a sleeper of 1 s.
        self._elapsed = 0
        self._sleepers: dict[anyio.Event, int] = {}

    def now(self) -> datetime:
        """Return the date and time that the test has set, in UTC."""
        return self._origin + timedelta(microseconds=self._elapsed // 1000)

    def monotonic(self) -> float:
        """Return how many seconds the test has let pass."""
        return self._elapsed / NANOSECONDS

    async def sleep(self, seconds: float) -> None:
        """Sleep until the test has moved the clock by *seconds*."""
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        if seconds == inf:
            await anyio.sleep_forever()
        awake = anyio.Event()
        self._sleepers[awake] = self._elapsed + round(seconds * NANOSECONDS)
        try:
            await awake.wait()
        finally:
            self._sleepers.pop(awake, None)

    async def advance(self, seconds: float) -> None:
        """Let *seconds* pass, and wake each sleeper at its own time, in order.

        A sleeper that goes to sleep again within *seconds* is woken again.

        Raises:
            ValueError: *seconds* is negative.
        """
        require_seconds(seconds)
        if seconds < 0:
            msg = f"time does not run backwards: {seconds}; set_time(instant) sets the time of day"
            raise ValueError(msg)
        end = self._elapsed + round(seconds * NANOSECONDS)
        await self.settle()
        while self._sleepers and min(self._sleepers.values()) <= end:
            awake = min(self._sleepers, key=self._sleepers.__getitem__)
            self._elapsed = self._sleepers.pop(awake)
            awake.set()
            await self.settle()
        self._elapsed = end

    async def set_time(self, instant: datetime) -> None:
        """Move the clock to *instant*.  An earlier time sets it back without ending any wait, as when a clock is corrected.

        Raises:
            ValueError: *instant* lacks a time zone.
        """
        if instant.tzinfo is None:
            msg = "instant must know its time zone"
            raise ValueError(msg)
        span = instant - self.now()
        if span < timedelta():
            self._origin += span
        else:
            await self.advance(span.total_seconds())

    async def settle(self) -> None:
        """Let the other tasks run until each of them waits, but not for a ``Worker``."""
        try:
            this_task = asyncio.current_task()
        except RuntimeError:  # no asyncio loop: this is trio, which has a reliable function for this
            await anyio.wait_all_tasks_blocked()
            return
        # On asyncio, anyio's function checks only every 100 ms; it and this loop read the same attribute.
        await anyio.lowlevel.checkpoint()
        loop = asyncio.get_running_loop()
        while True:
            if any(_can_run(task) for task in asyncio.all_tasks() if task is not this_task):
                await anyio.lowlevel.checkpoint()
            elif any(worker.loop is loop and worker.is_working for worker in WORKERS):
                await anyio.sleep(LOOK_SECONDS)
            else:
                return


def _can_run(task: asyncio.Task[Any]) -> bool:
    waits_for: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
    return waits_for is None or waits_for.done()
