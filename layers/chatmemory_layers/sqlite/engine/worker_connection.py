"""``WorkerConnection``: an aiosqlite connection that runs whole functions on its thread and lets go without a trace.

aiosqlite offers one thread hop per statement; a transaction must be one function in one hop, or a cancelled task
leaves it open.  What is private in aiosqlite and needed for that is used here and nowhere else.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Self, TypeAlias, TypeVar, final

import aiosqlite

A = TypeVar("A")

Posted: TypeAlias = tuple[None, Callable[[], object]]
"""A job as aiosqlite queues it, without a future of its own."""

_TELL_AGAIN_SECONDS: Final = 0.01
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
        self.queue: SimpleQueue[Posted] = queue  # pyright: ignore[reportUnknownMemberType]  likewise
        """What the thread works off; a function takes care of its own exceptions."""
        # A program that forgets to close still ends; what was acknowledged is committed.
        self._thread.daemon = True

    @classmethod
    async def opened(
        cls,
        connect: Callable[[], sqlite3.Connection],
        prepare: Callable[[sqlite3.Connection], None] | None = None,
    ) -> Self:
        """Connect, then *prepare*; nothing stays open when one of them fails or the caller is cancelled."""
        connection = cls(connect)
        _ = await connection  # itself, and awaitable again
        try:
            if prepare is not None:
                await connection.run(prepare)
        except BaseException:
            connection.stop()
            raise
        return connection

    def post(self, job: Callable[[], object]) -> None:
        """Run *job* on the thread; it takes care of its own exceptions."""
        self.queue.put((None, job))

    def run(self, work: Callable[[sqlite3.Connection], A]) -> asyncio.Future[A]:
        """Run *work* on the thread.  Cancelling the future does not stop it."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self.post(partial(self._answer, answer, work))
        return answer

    async def close(self) -> None:
        """Run what was posted, then close; a cancelled caller does not stop it."""
        closing = self.run(sqlite3.Connection.close)
        self.stop()
        await closing

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

    def _answer(self, answer: asyncio.Future[A], work: Callable[[sqlite3.Connection], A]) -> None:
        try:
            result: A | BaseException = work(self._conn)
        except BaseException as error:  # noqa: BLE001  it belongs to whoever awaits the answer
            result = error
        tell(answer.get_loop(), settle, answer, result)


def tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: Any) -> None:
    """Call *callback* on the loop's thread; a loop that is closed has nobody left to tell."""
    while True:
        try:
            loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return
        except MemoryError:  # others wait for these words
            time.sleep(_TELL_AGAIN_SECONDS)
        else:
            return


def settle(answer: asyncio.Future[Any], result: object) -> None:
    """Give *result* to whoever awaits *answer*: an exception is raised there, anything else is returned."""
    if answer.done():
        return
    if not isinstance(result, BaseException):
        answer.set_result(result)
    elif isinstance(result, StopIteration | asyncio.CancelledError):
        # The first one a future refuses, and of the other its caller would believe that somebody cancelled it.
        defect = RuntimeError(f"work on the thread of a store raised {type(result).__name__}")
        defect.__cause__ = result
        answer.set_exception(defect)
    else:
        answer.set_exception(result)
