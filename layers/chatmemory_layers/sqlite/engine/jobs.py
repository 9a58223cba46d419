"""``Database``: what the tasks of a loop ask of a SQLite file, done on its threads, group after group.

A group is whatever waits when the thread becomes free: it forms while the previous one runs, so nobody waits for
company, and it costs one hop there and one back.  A caller that was alone the last time is taken to be alone again.
Writes of a group share a transaction and its fsync, reads of a group a snapshot; each still fails alone.  ``reads`` and
``writes`` make methods of a repository from functions that run in such a group.  Opening is left to ``database.py``.
"""

import asyncio
import sqlite3
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial, wraps
from time import monotonic, sleep
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeAlias, TypeVar, final

from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory_layers.forked import HOW_TO_START, PROCESS
from chatmemory_layers.sqlite.engine.file_watch import FileWatch
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.sqlite.engine.worker_connection import Posted, WorkerConnection

LOOK_SECONDS: Final = 1.0
"""How often reads look whether the files are still there; writes look each time."""

_TELL_AGAIN_SECONDS: Final = 0.01

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")

Job: TypeAlias = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any], "asyncio.Future[Any]"]
"""The operation's name, its work (in the context of the caller), the work's arguments, and the future that he awaits."""

Group: TypeAlias = Callable[[sqlite3.Connection, Sequence[Job]], list[Any]]
"""Does the jobs of a group and returns their outcomes in order, a defect as an exception in the list."""


class Held(Protocol):
    """What a transaction reads once and writes back once, however many writes of the group touch it."""

    def save(self, transaction: "Transaction", /) -> None:
        """Write it back if it changed."""
        ...


@final
class Transaction:
    """What a write works with.

    Attributes:
        execute: of one cursor, so fetch before executing again; *executemany* likewise.
        held: what the writes of a group share, by its class and its name; it is saved before the commit.
    """

    __slots__ = ("execute", "executemany", "held")

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Expect that *connection* has begun a transaction."""
        cursor = connection.cursor()
        self.execute = cursor.execute
        self.executemany = cursor.executemany
        self.held: dict[tuple[type, str], Held] = {}


@final
class Jobs:
    """The jobs of one event loop, on their way to one connection."""

    def __init__(self, connection: WorkerConnection, do_group: Group, *, most: int = sys.maxsize) -> None:
        """Belong to the running event loop; a group has at most *most* jobs."""
        self.connection = connection
        self._do_group = do_group
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._post = connection.queue.put
        self._drain_job: Posted = (None, self._drain)
        self._waiting: deque[Job] = deque()  # appended to by the loop, taken from by the thread
        self._is_draining = False  # known to the loop only, so that no lock is needed
        self._is_alone = True  # likewise: the last group was of one

    def submit(
        self, operation: str, work: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> "asyncio.Future[Any]":
        """Queue a job.  Cancelling the future does not stop it: it happens whole."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        # In the caller's context, so that the work knows for whom it is.
        self._waiting.append((operation, partial(copy_context().run, work), arguments, named, answer))
        if not self._is_draining:
            self._is_draining = True
            if self._is_alone:
                self._post(self._drain_job)
            else:  # one turn of the loop later: the tasks that the last group woke have all submitted by then
                self._loop.call_soon(self._post, self._drain_job)
        return answer

    async def close(self) -> None:
        """Do what was submitted, then close the connection; a cancelled caller does not stop it."""
        self._post(self._drain_job)
        closing = run_on(self.connection, sqlite3.Connection.close)
        self.connection.stop()
        await closing

    def _drain(self) -> None:
        """On the thread: do group after group until nobody waits."""
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
            try:
                answers = self._do_group(self.connection.native, group)
            except BaseException as error:  # noqa: BLE001  whatever it is, nobody may wait for ever
                answers = [_answer_to(job, error) for job in group]
            _tell(self._loop, self._settle, group, answers, not self._waiting)

    def _settle(self, group: Sequence[Job], answers: Sequence[Any], is_last: bool) -> None:
        """On the loop: wake the callers that wait, one turn of the loop for the whole group."""
        for (*_, future), answer in zip(group, answers, strict=True):
            _settle(future, answer)
        if is_last:
            self._is_alone = len(group) == 1
            self._is_draining = bool(self._waiting)
            if self._waiting:
                self._post(self._drain_job)


def run_on(connection: WorkerConnection, work: Callable[[sqlite3.Connection], A]) -> "asyncio.Future[A]":
    """Run *work* on the thread of *connection*, behind what was posted.  Cancelling the future does not stop it."""
    answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            result: A | BaseException = work(connection.native)
        except BaseException as error:  # noqa: BLE001  it belongs to the caller who awaits the answer
            result = error
        _tell(answer.get_loop(), _settle, answer, result)

    connection.post(run)
    return answer


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: Any) -> None:
    """Call *callback* on the loop's thread; a loop that is closed has nobody left to tell."""
    while True:
        try:
            loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return
        except MemoryError:  # others wait for these words
            sleep(_TELL_AGAIN_SECONDS)
        else:
            return


def _settle(answer: "asyncio.Future[Any]", result: object) -> None:
    """Give *result* to the caller who awaits *answer*: an exception is raised there, anything else is returned."""
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


@final
class Database:
    """One file with a writing connection and a reading one, for one event loop.  No reader waits for a writer."""

    def __init__(self, writes: Jobs, reads: Jobs) -> None:
        """Belong to the running event loop, as they do."""
        self._loop = asyncio.get_running_loop()
        self._writes = writes
        self._reads = reads
        self._is_closed = False
        self._generation = PROCESS.generation

    def write(
        self,
        operation: str,
        work: Callable[Concatenate[Transaction, P], Outcome[A, E]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Awaitable[Outcome[A, E | RepositoryError]]:
        """Commit *work*, perhaps together with others; answer once it is durable.

        A caller that is cancelled does not stop it: it happens whole, or not at all.
        """
        if self._is_refusing():
            return self._refused(operation)
        return self._writes.submit(operation, work, args, kwargs)

    def read(
        self,
        operation: str,
        work: Callable[Concatenate[sqlite3.Connection, P], A],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Awaitable[Outcome[A, RepositoryError]]:
        """Run *work* on one snapshot of the file, perhaps the same as others; a cancelled caller does not stop it."""
        if self._is_refusing():
            return self._refused(operation)
        return self._reads.submit(operation, work, args, kwargs)

    async def run_on_writer(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Run *work* between two groups of writes, outside of any transaction; do nothing once closed."""
        if not self._is_closed and PROCESS.generation == self._generation:
            await run_on(self._writes.connection, work)

    async def close(self) -> None:
        """Refuse further calls, finish those under way and close the file; in a forked child, leave it to the parent."""
        self._is_closed = True
        if PROCESS.generation != self._generation:  # the threads that would close it have not come along
            return
        try:
            await self._reads.close()
        finally:
            await self._writes.close()  # last, because it empties the log

    def _is_refusing(self) -> bool:
        # The futures of one loop cannot be awaited in another, and no thread lives on in a forked child: without this,
        # the caller would wait for ever.
        return (
            self._is_closed
            or asyncio.get_running_loop() is not self._loop
            or PROCESS.generation != self._generation
        )

    async def _refused(self, operation: str) -> Failure[RepositoryError]:
        if PROCESS.generation != self._generation:
            return Failure(RepositoryError(operation, "forked", HOW_TO_START))
        return Failure(RepositoryError(operation, "closed" if self._is_closed else "wrong_loop"))


class Repository(Protocol):
    """What keeps its rows in a database."""

    @property
    def database(self) -> Database:
        """Where they are."""
        ...


def reads(
    operation: str, work: Callable[Concatenate[sqlite3.Connection, P], A]
) -> Callable[Concatenate[Repository, P], Effect[A, RepositoryError]]:
    """Make a method of *work*, which fetches all that it needs: a cursor that stays open keeps the log from being emptied."""

    @wraps(work)
    def make(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, RepositoryError]:
        return Effect.from_outcome(lambda: self.database.read(operation, work, *args, **kwargs))

    return make


def writes(
    operation: str, work: Callable[Concatenate[Transaction, P], Outcome[A, E]]
) -> Callable[Concatenate[Repository, P], Effect[A, E | RepositoryError]]:
    """Make a method of *work*, which answers with an outcome, and has changed nothing when that is a failure."""

    @wraps(work)
    def make(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> Effect[A, E | RepositoryError]:
        return Effect.from_outcome(lambda: self.database.write(operation, work, *args, **kwargs))

    return make


def read_group(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    """Run the works of *group* on one snapshot and return their outcomes; a defect is an exception in the list.

    When one raises, each runs on a snapshot of its own, so that it fails alone.
    """
    try:
        _roll_back(connection)  # what an end without memory has left open
        connection.execute("BEGIN")
        try:
            return [Success(work(connection, *given, **named)) for _, work, given, named, _ in group]
        finally:
            connection.execute("COMMIT")
    except BaseException as error:  # noqa: BLE001  a defect belongs to the one who caused it, not to the thread
        if len(group) > 1:
            return [answer for job in group for answer in read_group(connection, [job])]
        return [_answer_to(job, error) for job in group]


def commit_watched(watch: FileWatch, connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    """Commit *group*, unless the files of the store are not what they were; then nothing is written."""
    if (trouble := watch.trouble(connection)) is not None:
        return [Failure(RepositoryError(operation, *trouble)) for operation, *_ in group]
    answers = commit_group(connection, group)
    watch.note_sizes()
    return answers


def read_watched(watch: FileWatch) -> Group:
    """Make what reads a group, unless the files of the store are not what they were; one look counts for a second."""
    look_at = 0.0

    def read(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
        nonlocal look_at
        if monotonic() >= look_at:
            if (trouble := watch.trouble(connection)) is not None:
                return [Failure(RepositoryError(operation, *trouble)) for operation, *_ in group]
            look_at = monotonic() + LOOK_SECONDS
        return read_group(connection, group)

    return read


def commit_group(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    """Run the works of *group* in one transaction and return their outcomes; a defect is an exception in the list.

    When one raises, all are rolled back and each runs in a transaction of its own, so that it fails alone.
    """
    try:
        _roll_back(connection)  # what an end without memory has left open
        # A deferred one meets SQLITE_BUSY at its first write, without waiting.
        connection.execute("BEGIN IMMEDIATE")
    except DRIVER_ERRORS as error:
        return [_answer_to(job, error) for job in group]
    try:
        transaction = Transaction(connection)
        answers: list[Any] = [work(transaction, *given, **named) for _, work, given, named, _ in group]
        for held in transaction.held.values():
            held.save(transaction)
    except BaseException as error:  # noqa: BLE001  a defect belongs to the one who caused it, not to the thread
        _roll_back(connection)
        if len(group) > 1:
            return [answer for job in group for answer in commit_group(connection, [job])]
        return [_answer_to(job, error) for job in group]
    try:
        connection.execute("COMMIT")
    except DRIVER_ERRORS as error:
        failures = [_answer_to(job, error, at_commit=True) for job in group]
        _roll_back(connection)
        return failures
    return answers


def _answer_to(job: Job, error: BaseException, *, at_commit: bool = False) -> Any:
    """Return the failure that *error* means for *job*, or the defect that it is."""
    operation, *_ = job
    if isinstance(error, DRIVER_ERRORS):
        return Failure(repository_error(operation, error, at_commit=at_commit))
    return error


def _roll_back(connection: sqlite3.Connection) -> None:
    # A full disk and the like end the transaction by themselves; without memory it stays open until the next group.
    if connection.in_transaction:
        with suppress(*DRIVER_ERRORS):
            connection.execute("ROLLBACK")
