"""``reporting``: reports the progress of a call to the client that waits for it.

A client that sent a progress token receives the newest state, as often as it can take one; other clients receive nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.server.session import ServerSession

from chatmemory.programs.mcp.tool import Progress


@asynccontextmanager
async def reporting(session: ServerSession) -> AsyncGenerator[Callable[[Progress], None]]:
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
