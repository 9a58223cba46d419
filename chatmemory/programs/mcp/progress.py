"""``reporting``: reports the progress of a call to the client that waits for it.

A client that sent a progress token receives the newest state, as often as it can take one; other clients receive nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio

from chatmemory.programs.mcp.tool import Progress


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
async def reporting(session: Session) -> AsyncGenerator[Callable[[Progress], None]]:
    """Yield a function that reports progress; any thread may call it.  The last report is sent when the block ends."""
    loop, newest, is_new = asyncio.get_running_loop(), Progress(0, 0, ""), asyncio.Event()
    sent = 0

    def note(progress: Progress) -> None:
        nonlocal newest
        newest = progress
        is_new.set()

    def report(progress: Progress) -> None:
        with suppress(RuntimeError):  # the loop has ended, and no client is waiting
            loop.call_soon_threadsafe(note, progress)

    async def send() -> None:
        nonlocal sent
        if newest.done > sent:  # the protocol requires increasing numbers
            progress = newest
            await session.report_progress(progress.done, progress.of, progress.text)
            sent = progress.done

    async def send_each() -> None:
        while True:
            await is_new.wait()
            is_new.clear()
            await send()

    async with anyio.create_task_group() as group:
        group.start_soon(send_each)
        yield report
        group.cancel_scope.cancel()
    await send()
