"""``LoopThread``: a thread with an event loop of its own (asyncio's), for work that keeps its loop from all other work.

What blocks there (SQLite in the calling thread, arithmetic) blocks nobody else; what waits there waits beside the rest.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any, TypeVar, final

import anyio

A = TypeVar("A")


@final
class LoopThread:
    """Runs coroutines in the order in which they are given, until it is stopped."""

    def __init__(self, name: str) -> None:
        """Begin; *name* is the thread's."""
        self._loop = asyncio.new_event_loop()
        # A program that forgets to stop it still ends.
        self._thread = Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, A]) -> A:
        """Run *work* over there; who is cancelled here waits no longer, and cancels *work* where it waits itself."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def stop(self) -> None:
        """Cancel what still runs, and wait until the thread has ended."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        with anyio.CancelScope(shield=True):
            await asyncio.to_thread(self._thread.join)

    def _live(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()


@asynccontextmanager
async def open_loop_thread(name: str) -> AsyncGenerator[LoopThread]:
    """Open a thread of that *name*, and end it."""
    thread = LoopThread(name)
    try:
        yield thread
    finally:
        await thread.stop()
