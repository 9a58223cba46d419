"""``telling``: reports the progress of a call to the client that waits for it.

A client that sent a progress token receives the newest state, as often as it can take one; other clients receive nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio

from chatmemory.programs.mcp.tool import HowFar


class Session(Protocol):
    """The client's session, as far as it is used here."""

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Send the progress of this request to the client, if it sent a progress token.

        Args:
            progress: how much is done; each report must be greater than the one before.
            total: how much there is to do; None if unknown.
            message: the progress in words.
        """
        ...


@asynccontextmanager
async def telling(session: Session) -> AsyncGenerator[Callable[[HowFar], None]]:
    """Yield a function that reports progress; any thread may call it.  The last report is sent when the block ends."""
    loop, newest, is_new = asyncio.get_running_loop(), HowFar(0, 0, ""), asyncio.Event()
    told = 0

    def note(how_far: HowFar) -> None:
        nonlocal newest
        newest = how_far
        is_new.set()

    def call(how_far: HowFar) -> None:
        with suppress(RuntimeError):  # the loop has ended, and no client is waiting
            loop.call_soon_threadsafe(note, how_far)

    async def tell() -> None:
        nonlocal told
        if newest.done > told:  # the protocol requires increasing numbers
            how_far = newest
            await session.report_progress(how_far.done, how_far.of, how_far.text)
            told = how_far.done

    async def tell_each() -> None:
        while True:
            await is_new.wait()
            is_new.clear()
            await tell()

    async with anyio.create_task_group() as group:
        group.start_soon(tell_each)
        yield call
        group.cancel_scope.cancel()
    await tell()
