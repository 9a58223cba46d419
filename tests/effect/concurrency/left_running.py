"""What is left running: the tasks of the event loop before and after, on asyncio and trio."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import sniffio
import trio


def tasks() -> int:
    """Count the tasks that are alive in this event loop."""
    if sniffio.current_async_library() == "asyncio":
        return len(asyncio.all_tasks())
    return trio.lowlevel.current_statistics().tasks_living


@asynccontextmanager
async def nothing_left_running() -> AsyncGenerator[None]:
    """Fail unless all tasks that begin inside have ended at the end: not soon after, but then."""
    before = tasks()
    try:
        yield
    finally:
        assert tasks() == before
