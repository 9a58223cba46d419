"""``TtlSweeper``: removes expired items at intervals, in a worker thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Thread
from typing import final
from weakref import WeakMethod

log = logging.getLogger(__name__)


@final
class TtlSweeper(Thread):
    """Calls *sweep* every *seconds* until it is stopped; it holds only a weak reference to the object of *sweep*.

    Attributes:
        done: is done when the thread ends; cancelling it ends the thread.
    """

    def __init__(self, sweep: WeakMethod[Callable[[], int]], seconds: float) -> None:
        """Prepare the thread; ``start`` starts it."""
        super().__init__(name="chatmemory sweeper", daemon=True)
        self.done = Future[None]()
        self._sweep = sweep
        self._seconds = seconds
        self._shall_stop = Event()
        self.done.add_done_callback(lambda _: self._shall_stop.set())

    def run(self) -> None:
        """Sweep repeatedly; a failure is logged, because the next sweep may succeed."""
        while not self._shall_stop.wait(self._seconds):
            sweep = self._sweep()
            if sweep is None:
                break
            try:
                sweep()
            except Exception as error:  # noqa: BLE001  the thread must go on after a failure
                log.warning("items whose time is over could not be removed: %s", error)
            del sweep
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(None)

    def stop(self, timeout: float | None) -> bool:
        """End the thread; return False when it still runs after *timeout* seconds."""
        self._shall_stop.set()
        if self.is_alive():
            self.join(timeout)
        return not self.is_alive()
