"""``telling``: how far a call is, told to a client while it waits.

A client that asks for it with a progress token is told the newest state as often as it takes one; who does not ask is told
nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio

from chatmemory.programs.mcp.tool import HowFar


class Session(Protocol):
    """What a request knows of its client."""

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Tell the client that waits for this request."""
        ...


@asynccontextmanager
async def telling(session: Session) -> AsyncGenerator[Callable[[HowFar], None]]:
    """Give what any thread may call with how far it is; the client has been told the last of it when the block ends."""
    loop, newest, is_new = asyncio.get_running_loop(), HowFar(0, 0, ""), asyncio.Event()
    told = 0

    def note(how_far: HowFar) -> None:
        nonlocal newest
        newest = how_far
        is_new.set()

    def call(how_far: HowFar) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody is left to be told
            loop.call_soon_threadsafe(note, how_far)

    async def tell() -> None:
        nonlocal told
        if newest.done > told:  # the protocol wants numbers that grow
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
