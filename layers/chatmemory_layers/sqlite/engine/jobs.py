"""``Database``: runs the reads and writes of the tasks of one event loop on the threads of a SQLite file, in groups.

A group is everything that waits when the thread becomes free.  It forms while the previous group runs, so no caller waits
for others to join, and a whole group costs one switch to the thread and one back.  A caller that was alone the last time
is expected to be alone again.  The writes of a group share a transaction and its fsync, the reads of a group share a
snapshot; each of them still fails alone.  ``database.py`` opens the file.
"""

import asyncio
import logging
import os
import sqlite3
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, final

from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.effect.services.clock import WORKERS
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import RequestKey, request_key
from chatmemory_layers.forked import HOW_TO_START, PROCESS
from chatmemory_layers.sqlite.engine.file_watch import FileWatch
from chatmemory_layers.sqlite.engine.migrations import newer_step
from chatmemory_layers.sqlite.engine.once import once
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, NewerEditionError, repository_error
from chatmemory_layers.sqlite.engine.transaction import MOST_KEPT, KeptRows, RowTakenError, Transaction
from chatmemory_layers.sqlite.engine.worker_connection import Posted, WorkerConnection, notify, run_on, settle

log = logging.getLogger(__name__)

EMPTY_AGAIN_SECONDS: Final = 5.0
"""How long after a failure it is tried again to empty the log."""

LOOK_SECONDS: Final = 1.0
"""How often reads check that the files are still there; writes check each time."""

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")

Job: TypeAlias = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any], "asyncio.Future[Any]"]
"""The operation's name, its work (in the caller's context), the work's arguments, and the future that the caller awaits."""

Group: TypeAlias = Callable[[sqlite3.Connection, Sequence[Job]], list[Any]]
"""Runs the jobs of a group and returns their outcomes in order; a defect is an exception in the list."""

SCHEMA_VERSION: Final = "PRAGMA schema_version"


@final
class EditionWatch:
    """Notices, on one connection, that a newer edition has migrated the file while it was open.

    Attributes:
        seen: SQLite's number of the schema at which the file was last found to be readable by this program.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Expect that the file of *connection* has gone through ``MIGRATIONS``, and no others."""
        (self.seen,) = connection.execute(SCHEMA_VERSION).fetchone()

    def check(self, connection: sqlite3.Connection) -> None:
        """Check the file if one of its tables has changed; within a transaction, the schema cannot change again.

        Raises:
            NewerEditionError: the file has gone through a step that this program does not know.
        """
        (version,) = connection.execute(SCHEMA_VERSION).fetchone()
        if version != self.seen:
            if (newer := newer_step(connection)) is not None:
                raise NewerEditionError(newer)
            self.seen = version


@final
class Jobs:
    """The jobs of one event loop that wait for one connection."""

    def __init__(self, connection: WorkerConnection, do_group: Group, *, most: int = sys.maxsize) -> None:
        """Create the queue for the running event loop; a group has at most *most* jobs."""
        self.connection = connection
        self._do_group = do_group
        self._most = most
        self.loop = asyncio.get_running_loop()
        self._post = connection.queue.put
        self._drain_job: Posted = (None, self._drain)
        self._waiting: deque[Job] = deque()  # the loop appends, the thread removes
        self._is_draining = False  # read and set by the loop only, so that no lock is needed
        self._is_alone = True  # the last group was one job; also read and set by the loop only
        WORKERS.add(self)

    @property
    def is_working(self) -> bool:
        """Whether the loop waits for a job."""
        return self._is_draining

    def submit(
        self, operation: str, work: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> "asyncio.Future[Any]":
        """Queue a job and return the future of its outcome.  Cancelling the future does not stop the job, which runs to its end."""
        answer: asyncio.Future[Any] = self.loop.create_future()
        # In the caller's context, so that the work knows on whose behalf it runs.
        self._waiting.append((operation, partial(copy_context().run, work), arguments, named, answer))
        if not self._is_draining:
            self._is_draining = True
            if self._is_alone:
                self._post(self._drain_job)
            else:  # one turn of the loop later: the tasks that the last group woke have all submitted by then
                self.loop.call_soon(self._post, self._drain_job)
        return answer

    async def close(self) -> None:
        """Run the submitted jobs, then close the connection; cancelling the caller does not stop it."""
        self._post(self._drain_job)
        closing = run_on(self.connection, sqlite3.Connection.close)
        self.connection.stop()
        await closing

    def _drain(self) -> None:
        """On the thread: run group after group until no job waits."""
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
            try:
                answers = self._do_group(self.connection.native, group)
            except BaseException as error:  # noqa: BLE001  after any error, no caller may wait for ever
                answers = [_answer_to(job, error) for job in group]
            is_last = not self._waiting
            try:
                self.loop.call_soon_threadsafe(self._settle, group, answers, is_last)
            except (RuntimeError, MemoryError):
                notify(self.loop, self._settle, group, answers, is_last)

    def _settle(self, group: Sequence[Job], answers: Sequence[Any], is_last: bool) -> None:
        """On the loop: wake the waiting callers, in one turn of the loop for the whole group."""
        for (_, _, _, _, future), answer in zip(group, answers, strict=True):
            if isinstance(answer, BaseException):
                settle(future, answer)
            elif not future.done():
                future.set_result(answer)
        if is_last:
            self._is_alone = len(group) == 1
            self._is_draining = bool(self._waiting)
            if self._waiting:
                self._post(self._drain_job)


@final
class Database:
    """One file with a connection for writes and one for reads, for one event loop.  Reads do not wait for writes."""

    def __init__(self, writes: Jobs, reads: Jobs) -> None:
        """Create the database for the running event loop, to which *writes* and *reads* belong."""
        self._loop = asyncio.get_running_loop()
        self._writes = writes
        self._reads = reads
        self._is_closed = False
        self._generation = PROCESS.generation
        self._erasing = set[asyncio.Task[Any]]()

    def write(
        self,
        operation: str,
        work: Callable[Concatenate[Transaction, P], Outcome[A, E]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effect[A, E | RepositoryError]:
        """Commit *work*, alone or together with other writes, and return its outcome once it is durable.

        Cancelling the caller does not stop the write: it is committed whole, or not at all.  A *work* that fails has changed
        nothing.  *operation* is the name of the operation in errors.
        """
        return Effect.from_outcome(lambda: self._write(operation, work, args, kwargs))

    def erase(
        self,
        operation: str,
        work: Callable[Concatenate[Transaction, P], Outcome[A, E]],
        removed: Callable[[A], object],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effect[A, E | RepositoryError]:
        """Commit *work* as ``write`` does, then empty the write-ahead log, which still holds what was removed.

        *removed* returns, for the value of *work*, whether anything was removed; otherwise the log stays as it is.
        Cancelling the caller stops neither.  While another connection reads what was removed, the log cannot be emptied:
        it is tried again until it succeeds or the database is closed.
        """

        async def erase(
            writing: Awaitable[Outcome[A, E | RepositoryError]],
        ) -> Outcome[A, E | RepositoryError]:
            outcome = await writing
            if (
                isinstance(outcome, Success)
                and removed(outcome.unwrap())
                and await self.run_on_writer(empty_log) is False
            ):
                log.warning(
                    "the log could not be emptied yet: another connection has been reading for too long"
                )
                self._empty_log_later()
            return outcome

        def shielded() -> Awaitable[Outcome[A, E | RepositoryError]]:
            if self._is_refusing():
                return self._refused(operation)
            # At once, in its order among the writes of the loop.
            writing = asyncio.ensure_future(self._write(operation, work, args, kwargs))
            task = self._loop.create_task(erase(writing))
            self._erasing.add(task)  # the loop itself keeps only a weak reference
            task.add_done_callback(self._erasing.discard)
            return asyncio.shield(task)

        return Effect.from_outcome(shielded)

    def read(
        self,
        operation: str,
        work: Callable[Concatenate[sqlite3.Connection, P], A],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effect[A, RepositoryError]:
        """Run *work* on one snapshot of the file, which other reads may share; cancelling the caller does not stop it.

        *work* fetches all rows that it needs, because an open cursor keeps the write-ahead log from being emptied.
        """

        def read() -> Awaitable[Outcome[A, RepositoryError]]:
            if self._is_refusing():
                return self._refused(operation)
            return self._reads.submit(operation, work, args, kwargs)

        return Effect.from_outcome(read)

    async def run_on_writer(self, work: Callable[[sqlite3.Connection], A]) -> A | None:
        """Run *work* between two groups of writes, outside any transaction; do nothing once the database is closed."""
        if self._is_closed or PROCESS.generation != self._generation:
            return None
        return await run_on(self._writes.connection, work)

    def _empty_log_later(self) -> None:
        def again() -> None:
            if not self._is_closed and PROCESS.generation == self._generation:
                work = partial(empty_log, waits=False)
                run_on(self._writes.connection, work).add_done_callback(look)

        def look(done: "asyncio.Future[bool]") -> None:
            if not (done.cancelled() or done.exception() is not None or done.result()):
                self._empty_log_later()

        self._loop.call_later(EMPTY_AGAIN_SECONDS, again)

    async def close(self) -> None:
        """Refuse further calls, finish the running ones and close the file; in a forked child, leave the file to the parent."""
        self._is_closed = True
        if PROCESS.generation != self._generation:  # a forked child lacks the threads that would close it
            return
        try:
            await self._reads.close()
        finally:
            await self._writes.close()  # last, because it empties the write-ahead log

    def _is_refusing(self) -> bool:
        # A future of one loop cannot be awaited in another, and no thread survives in a forked child: without this check,
        # the caller would wait for ever.
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:  # trio, or no loop
            return True
        return self._is_closed or here is not self._loop or PROCESS.generation != self._generation

    def _write(
        self,
        operation: str,
        work: Callable[..., Outcome[A, E]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Awaitable[Outcome[A, E | RepositoryError]]:
        if self._is_refusing():
            return self._refused(operation)
        if (key := request_key()) is not None:
            return self._write_once(key, operation, work, args, kwargs)
        return self._writes.submit(operation, work, args, kwargs)

    async def _write_once(
        self,
        key: RequestKey,
        operation: str,
        work: Callable[..., Outcome[A, E]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Outcome[A, E | RepositoryError]:
        outcome: Outcome[A, E | RepositoryError]
        outcome = await self._writes.submit(operation, once(key, operation, work), args, kwargs)
        if isinstance(outcome, Success):
            key.writes += 1
        return outcome

    async def _refused(self, operation: str) -> Failure[RepositoryError]:
        if PROCESS.generation != self._generation:
            return Failure(RepositoryError(operation, "forked", HOW_TO_START))
        return Failure(RepositoryError(operation, "closed" if self._is_closed else "wrong_loop"))


def empty_log(connection: sqlite3.Connection, *, waits: bool = True) -> bool:
    """Move what was committed from the log to the file and truncate the log; return False when readers do not release it.

    Until then the log holds the text of removed rows.  *waits*: for the readers, as long as a statement waits for a lock.
    """
    try:
        (milliseconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
        try:
            if not waits:
                connection.execute("PRAGMA busy_timeout = 0")
            is_kept, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
    except sqlite3.Error as error:
        log.debug("the log could not be emptied: %s", error)
        return False
    return not is_kept


def read_group(connection: sqlite3.Connection, group: Sequence[Job], edition: EditionWatch) -> list[Any]:
    """Run the jobs of *group* on one snapshot and return their outcomes; a defect is an exception in the list.

    When one job raises, each job runs again on a separate snapshot, so that only that one fails.
    """
    try:
        if connection.in_transaction:
            _roll_back(connection)  # a transaction that an earlier lack of memory has left open
        connection.execute("BEGIN")
        try:
            edition.check(connection)
            return [Success(work(connection, *given, **named)) for _, work, given, named, _ in group]
        finally:
            connection.execute("COMMIT")
    except BaseException as error:  # noqa: BLE001  a defect belongs to the job that caused it, not to the thread
        if len(group) > 1:
            return [answer for job in group for answer in read_group(connection, [job], edition)]
        return [_answer_to(job, error) for job in group]


def are_as_seen(files: dict[str, os.stat_result]) -> bool:
    """Return whether *files* are the same as when they were last seen, and not shorter; remember their present length.

    Every group makes this cheap check.  When it returns False, ``FileWatch`` finds out what is wrong.
    """
    try:
        for path, seen in files.items():
            now = os.stat(path)  # noqa: PTH116  called for three files before and after each commit
            if now.st_size < seen.st_size or now.st_ino != seen.st_ino or now.st_dev != seen.st_dev:
                return False
            files[path] = now
    except OSError:
        return False
    return True


def commit_watched(
    watch: FileWatch,
    edition: EditionWatch,
    kept: KeptRows,
    connection: sqlite3.Connection,
    group: Sequence[Job],
) -> list[Any]:
    """Commit *group*, in the order of submission; write nothing if the files of the store have changed outside SQLite."""
    if not are_as_seen(watch.seen) and (problem := watch.problem(connection)) is not None:
        return [Failure(RepositoryError(operation, *problem)) for operation, *_ in group]
    answers = commit_group(connection, group, kept, edition)
    are_as_seen(watch.seen)  # remember the new length, so that a later cut is noticed
    return answers


def read_watched(watch: FileWatch, edition: EditionWatch) -> Group:
    """Return a function that reads a group, unless the files of the store have changed outside SQLite.

    One check of the files is valid for a second.
    """
    look_at = 0.0

    def read(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
        nonlocal look_at
        if monotonic() >= look_at:
            if not are_as_seen(watch.seen) and (problem := watch.problem(connection)) is not None:
                return [Failure(RepositoryError(operation, *problem)) for operation, *_ in group]
            look_at = monotonic() + LOOK_SECONDS
        return read_group(connection, group, edition)

    return read


def commit_group(
    connection: sqlite3.Connection,
    group: Sequence[Job],
    kept: KeptRows,
    edition: EditionWatch,
    *,
    looks_first: bool = False,
) -> list[Any]:
    """Run the jobs of *group* in one transaction and return their outcomes; a defect is an exception in the list.

    When one job raises, all are rolled back and each runs in a separate transaction, so that only that one fails.  When a
    unique index refuses a row, all jobs run once more and check for existing rows first (*looks_first*).
    """
    held, kept.rows = kept.rows, {}  # the rows are kept only if everything succeeds
    try:
        if connection.in_transaction:
            _roll_back(connection)  # a transaction that an earlier lack of memory has left open
        # IMMEDIATE: a deferred transaction gets SQLITE_BUSY at its first write, without waiting.
        connection.execute("BEGIN IMMEDIATE")
        (data_version,) = connection.execute("PRAGMA data_version").fetchone()
        if data_version != kept.data_version:
            edition.check(connection)
        if data_version != kept.data_version or len(held) > MOST_KEPT:
            held = {}
    except DRIVER_ERRORS as error:
        _roll_back(connection)
        return [_answer_to(job, error) for job in group]
    try:
        transaction = Transaction(connection.cursor(), held, looks_first)
        answers: list[Any] = [work(transaction, *given, **named) for _, work, given, named, _ in group]
        if transaction.waiting is not None:
            transaction.waiting.save(transaction)
        for changed in transaction.changed:
            changed.save(transaction)
    except BaseException as error:  # noqa: BLE001  a defect belongs to the job that caused it, not to the thread
        _roll_back(connection)
        if isinstance(error, RowTakenError) and not looks_first:
            return commit_group(connection, group, kept, edition, looks_first=True)
        if len(group) > 1:
            return [answer for job in group for answer in commit_group(connection, [job], kept, edition)]
        return [_answer_to(job, error) for job in group]
    try:
        connection.execute("COMMIT")
    except DRIVER_ERRORS as error:
        failures = [_answer_to(job, error, at_commit=True) for job in group]
        _roll_back(connection)
        return failures
    if transaction.keeps_held:
        kept.rows, kept.data_version = held, data_version
    return answers


def _answer_to(job: Job, error: BaseException, *, at_commit: bool = False) -> Any:
    """Return the failure of *job* that *error* means, or *error* itself if it is a defect."""
    operation, *_ = job
    if isinstance(error, DRIVER_ERRORS):
        return Failure(repository_error(operation, error, at_commit=at_commit))
    return error


def _roll_back(connection: sqlite3.Connection) -> None:
    # A full disk and similar errors end the transaction; a lack of memory leaves it open until the next group.
    if connection.in_transaction:
        with suppress(*DRIVER_ERRORS):
            connection.execute("ROLLBACK")
