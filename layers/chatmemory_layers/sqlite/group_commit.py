"""``GroupCommit``: writes of many tasks share a transaction and its fsync, and still fail one by one.

A group is whatever waits when the thread becomes free: it forms while the previous one commits, so nobody waits for
company.  What the writes do is none of its business; where the file comes from stands in ``database.py``.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast, final

from returns.result import Failure

from chatmemory.effect.outcome import Outcome
from chatmemory.errors import RepositoryError
from chatmemory_layers.sqlite.sqlite_problem import repository_error
from chatmemory_layers.sqlite.worker_connection import WorkerConnection, tell

GONE: Final = "the file was moved, replaced or deleted while it was open: close the store and open it again"

Q = TypeVar("Q")
A = TypeVar("A")
E = TypeVar("E")


class Held(Protocol):
    """What a transaction reads once and writes back once, however many writes of the group touch it."""

    def save(self, transaction: "Transaction", /) -> None:
        """Write it back if it changed."""
        ...


H = TypeVar("H", bound=Held)


@final
class Transaction:
    """What a write works with; ``execute`` is that of one cursor, so fetch before executing again."""

    __slots__ = ("_held", "execute", "executemany")

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Expect that *connection* has begun a transaction."""
        cursor = connection.cursor()
        self.execute = cursor.execute
        self.executemany = cursor.executemany
        self._held: dict[tuple[object, str], Held] = {}

    def hold(self, load: "Callable[[Transaction, str], H]", key: str) -> H:
        """Return what *load* makes of *key*, the same object throughout the transaction, saved before the commit."""
        held = self._held.get((load, key))
        if held is None:
            held = self._held[load, key] = load(self, key)
        return cast("H", held)

    def save(self) -> None:
        """Write back everything that is held."""
        for held in self._held.values():
            held.save(self)


Work: TypeAlias = Callable[[Transaction, Q], Outcome[A, E]]
"""A write: it answers with an outcome, and has changed nothing when that is a failure."""

Job: TypeAlias = tuple[str, Work[Any, Any, Any], Any, "asyncio.Future[Any]"]
"""The operation's name, its work, the work's argument, and the future of whoever waits."""


def commit_group(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    """Run the works of *group* in one transaction and return their outcomes; a defect is an exception in the list.

    When one raises, all are rolled back and each runs in a transaction of its own, so that it fails alone.
    """
    try:
        # A deferred one meets SQLITE_BUSY at its first write, without waiting.
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        return _all_failed(group, error)
    try:
        transaction = Transaction(connection)
        answers: list[Any] = [work(transaction, request) for _, work, request, _ in group]
        transaction.save()
    except BaseException as error:  # noqa: BLE001  a defect belongs to the one who caused it, not to the thread
        _roll_back(connection)
        if len(group) > 1:
            return [answer for job in group for answer in commit_group(connection, [job])]
        return _all_failed(group, error) if isinstance(error, sqlite3.Error) else [error]
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        _roll_back(connection)
        return _all_failed(group, error, at_commit=True)
    return answers


def _all_failed(
    group: Sequence[Job], error: sqlite3.Error, *, at_commit: bool = False
) -> list[Failure[RepositoryError]]:
    return [Failure(repository_error(operation, error, at_commit=at_commit)) for operation, *_ in group]


def _roll_back(connection: sqlite3.Connection) -> None:
    # A full disk and the like end the transaction by themselves.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@final
class GroupCommit:
    """The writes of one event loop, on their way to one connection."""

    def __init__(self, connection: WorkerConnection, is_there: Callable[[], bool]) -> None:
        """Belong to the running event loop; *is_there* tells whether the file can still be found where it was opened."""
        self._connection = connection
        self._is_there = is_there
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Job] = deque()  # appended to by the loop, taken from by the thread
        self._is_draining = False  # known to the loop only, so that no lock is needed

    def submit(
        self, operation: str, work: Work[Q, A, E], request: Q
    ) -> "asyncio.Future[Outcome[A, E | RepositoryError]]":
        """Queue a write.  Cancelling the future does not stop it: it happens whole."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((operation, work, request, answer))
        if not self._is_draining:
            self._is_draining = True
            # One turn of the loop later: the tasks that the last group woke have all submitted by then, and share a sync.
            self._loop.call_soon(self._connection.post, self._drain)
        return answer

    async def close(self) -> None:
        """Commit what was submitted, then close the connection."""
        self._connection.post(self._drain)
        await self._connection.close()

    def _drain(self) -> None:
        """On the thread: commit group after group until nobody waits."""
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(len(self._waiting))]
            answers = commit_group(self._connection.native, group)
            if not self._is_there():  # what was committed goes with the last who has the file open
                answers = [
                    Failure(RepositoryError(operation, "unavailable", GONE)) for operation, *_ in group
                ]
            tell(self._loop, self._settle, group, answers, not self._waiting)

    def _settle(self, group: Sequence[Job], answers: Sequence[Any], is_last: bool) -> None:
        """On the loop: wake who waits, one turn of the loop for the whole group."""
        for (_, _, _, future), answer in zip(group, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        if is_last:
            self._is_draining = bool(self._waiting)
            if self._waiting:
                self._connection.post(self._drain)
