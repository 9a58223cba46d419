"""``WorkerConnection``: an aiosqlite connection that runs whole functions on its thread and lets go without a trace.

aiosqlite offers one thread hop per statement; a transaction must be one function in one hop, or a cancelled task
leaves it open.  What is private in aiosqlite and needed for that is used here and nowhere else.
"""

import sqlite3
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Self, TypeAlias, final

import aiosqlite

Posted: TypeAlias = tuple[None, Callable[[], object]]
"""A job as aiosqlite queues it, without a future of its own."""

_UNUSED_ITER_CHUNK_SIZE = 1  # rows per hop of aiosqlite's own cursors


@final
class WorkerConnection(aiosqlite.Connection):
    """One connection and the thread that it lives on; functions run there in the order in which they were posted."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Make one that is not open yet; *connect* will run on its thread."""
        super().__init__(self._connect_and_keep, _UNUSED_ITER_CHUNK_SIZE)
        self._connect_native = connect
        self._native: sqlite3.Connection | None = None
        self.native: sqlite3.Connection
        """The driver's connection, once it is open, for functions on the thread."""
        queue: Any = self._tx  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  aiosqlite leaves open what its jobs return
        self.queue: SimpleQueue[Posted] = queue
        """What the thread works off; a function takes care of its own exceptions."""
        # A program that forgets to close still ends; what was acknowledged is committed.
        self._thread.daemon = True

    @classmethod
    async def opened(cls, connect: Callable[[], sqlite3.Connection]) -> Self:
        """Connect; when that fails or the caller is cancelled, aiosqlite calls ``stop``."""
        connection = cls(connect)
        _ = await connection  # itself, and awaitable again
        return connection

    def post(self, job: Callable[[], object]) -> None:
        """Run *job* on the thread; it takes care of its own exceptions."""
        self.queue.put((None, job))

    def stop(self) -> None:
        """Close without waiting, behind everything that was posted."""
        # A connect that was cancelled has opened a connection that aiosqlite does not know of.
        self.post(self._close_native)
        # On the thread, aiosqlite finds no event loop to report to, and so none that could be closed already.
        self.post(super().stop)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  likewise

    def _connect_and_keep(self) -> sqlite3.Connection:
        self.native = self._native = self._connect_native()
        return self.native

    def _close_native(self) -> None:
        if self._native is not None:
            self._native.close()
