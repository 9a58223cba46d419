"""``Watchdog``: the processor time that an event loop's thread spends in each of its steps.

A busy machine changes nothing of it, and what other threads do meanwhile does not count.
"""

import asyncio
import gc
import time
from asyncio import events
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Final

import pytest

MOST_SECONDS: Final = 0.005
# An interrupt, a page fault or a busy sibling core may lengthen a step, but not the same one again and again.
TRIES: Final = 10


class Watchdog:
    """Measures the steps of the loop in whose thread it is made, while it watches."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._thread = get_ident()

    @contextmanager
    def watching(self) -> Generator[None]:
        run = events.Handle._run

        def measured(handle: events.Handle) -> None:
            start = time.thread_time()
            try:
                run(handle)
            finally:
                if get_ident() == self._thread:  # past chats have a loop of their own
                    self.longest = max(self.longest, time.thread_time() - start)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(events.Handle, "_run", measured)
            yield

    async def longest_step(self, call: Callable[[], Awaitable[Any]]) -> float:
        """Return the seconds of the longest step of *call*, which must succeed."""
        gc.collect()
        gc.disable()  # what is collected is not the call's
        try:
            await asyncio.sleep(0)
            self.longest = 0.0
            outcome = await call()
            await asyncio.sleep(0)
            longest = self.longest
        finally:
            gc.enable()
        outcome.unwrap()
        return longest

    async def too_long(self, calls: Mapping[str, Callable[[], Awaitable[Any]]]) -> dict[str, list[float]]:
        """Return the seconds of those of *calls* that hold the loop for too long each time that they are tried."""
        held: dict[str, list[float]] = {}
        for name, call in calls.items():
            held[name] = []
            while len(held[name]) < TRIES and min(held[name], default=1.0) > MOST_SECONDS:
                held[name].append(await self.longest_step(call))
        return {name: tries for name, tries in held.items() if min(tries) > MOST_SECONDS}


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    dog = Watchdog()
    with dog.watching():
        yield dog
