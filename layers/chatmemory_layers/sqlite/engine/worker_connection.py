"""``WorkerConnection``: an aiosqlite connection that runs whole functions on its thread.

aiosqlite switches to the thread once per statement; a transaction must be one function in one switch, or a cancelled task
leaves it open.  This module, and no other, uses the private parts of aiosqlite that this needs.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from queue import SimpleQueue
from time import sleep
from typing import Any, Final, Self, TypeAlias, TypeVar, final

import aiosqlite

A = TypeVar("A")

Posted: TypeAlias = tuple[None, Callable[[], object]]
"""A job as aiosqlite queues it, without a future."""

_NOTIFY_AGAIN_SECONDS: Final = 0.01
_UNUSED_ITER_CHUNK_SIZE = 1  # rows per thread switch of aiosqlite's own cursors


@final
class WorkerConnection(aiosqlite.Connection):
    """One connection and its thread; functions run there in the order in which they were posted."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Create a connection that is not open yet; *connect* will run on its thread."""
        super().__init__(self._connect_and_keep, _UNUSED_ITER_CHUNK_SIZE)
        self._connect_native = connect
        self.native: sqlite3.Connection
        """The driver's connection, once it is open; only functions on the thread use it."""
        queue: Any = self._tx  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  aiosqlite leaves open what its jobs return
        self.queue: SimpleQueue[Posted] = queue
        """The queue of the thread; a function in it handles its own exceptions."""
        # A daemon: a program that forgets to close still ends; acknowledged writes are committed already.
        self._thread.daemon = True

    @classmethod
    async def opened(cls, connect: Callable[[], sqlite3.Connection]) -> Self:
        """Return an open connection; when opening fails or the caller is cancelled, aiosqlite calls ``stop``."""
        connection = cls(connect)
        _ = await connection  # returns the connection itself, which can be awaited again
        return connection

    def post(self, job: Callable[[], object]) -> None:
        """Run *job* on the thread; it handles its own exceptions."""
        self.queue.put((None, job))

    def stop(self) -> None:
        """Close the connection after everything that was posted, without waiting for it."""
        # A cancelled ``connect`` has opened a connection that aiosqlite does not know.
        self.post(self._close_native)
        # On the thread, aiosqlite finds no event loop to report to, and so none that may be closed already.
        self.post(super().stop)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  likewise

    def _connect_and_keep(self) -> sqlite3.Connection:
        self.native = self._connect_native()
        return self.native

    def _close_native(self) -> None:
        if hasattr(self, "native"):
            self.native.close()


def run_on(connection: WorkerConnection, work: Callable[[sqlite3.Connection], A]) -> "asyncio.Future[A]":
    """Run *work* on the thread of *connection*, after what was posted.  Cancelling the future does not stop it."""
    answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            result: A | BaseException = work(connection.native)
        except BaseException as error:  # noqa: BLE001  the caller who awaits the answer gets it
            result = error
        notify(answer.get_loop(), settle, answer, result)

    connection.post(run)
    return answer


def notify(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: Any) -> None:
    """Call *callback* on the loop's thread; do nothing when the loop is closed, since no caller waits any more."""
    while True:
        try:
            loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return
        except MemoryError:  # callers wait for this callback
            sleep(_NOTIFY_AGAIN_SECONDS)
        else:
            return


def settle(answer: "asyncio.Future[Any]", result: object) -> None:
    """Set *result* as the outcome of *answer*: an exception is raised in the caller, any other value is returned."""
    if answer.done():
        return
    if not isinstance(result, BaseException):
        answer.set_result(result)
    elif isinstance(result, StopIteration | asyncio.CancelledError):
        # A future refuses StopIteration, and a caller that gets CancelledError would believe that it was cancelled.
        defect = RuntimeError(f"work on the thread of a store raised {type(result).__name__}")
        defect.__cause__ = result
        answer.set_exception(defect)
    else:
        answer.set_exception(result)
