"""``Database``: one SQLite file, one writing connection and one reading one, for one event loop.

Groups of writes are committed by ``group_commit.py``, groups of reads answered by ``group_read.py``; files and pragmas are the business of ``store_file.py``, tables and statements
that of the repositories.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar, final

from chatmemory.effect import Layer, Outcome, Tag
from chatmemory.effect.outcome import EffectFailed, Failure
from chatmemory.errors import RepositoryError
from chatmemory.settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.sqlite.file_connection import find_again
from chatmemory_layers.sqlite.group_commit import Work, commit_group_if
from chatmemory_layers.sqlite.group_read import Read, read_group
from chatmemory_layers.sqlite.job_groups import JobGroups
from chatmemory_layers.sqlite.sqlite_problem import repository_error
from chatmemory_layers.sqlite.store_file import connect_reader, connect_writer, prepare, store_file
from chatmemory_layers.sqlite.worker_connection import WorkerConnection

# Their answers are told together: of 64 tasks, some go on while others are still read for.
READS_AT_ONCE: Final = 16

log = logging.getLogger(__name__)

Q = TypeVar("Q")
A = TypeVar("A")
E = TypeVar("E")


@final
class Database:
    """What repositories write to and read from.

    Their functions run whole on a thread, in one hop.  No reader waits for a writer.
    """

    def __init__(self, writer: WorkerConnection, writes: JobGroups, reads: JobGroups) -> None:
        """Belong to the running event loop, as they do."""
        self._loop = asyncio.get_running_loop()
        self._writer = writer
        self._writes = writes
        self._reads = reads
        self._is_closed = False

    def write(
        self, operation: str, work: Work[Q, A, E], request: Q
    ) -> Awaitable[Outcome[A, E | RepositoryError]]:
        """Commit *work*, perhaps together with others; answer once it is durable.

        A caller that is cancelled does not stop it: it happens whole, or not at all.
        """
        if self._is_closed or asyncio.get_running_loop() is not self._loop:
            return self._refused(operation)
        return self._writes.submit(operation, work, request)

    def read(self, operation: str, work: Read[Q, A], request: Q) -> Awaitable[Outcome[A, RepositoryError]]:
        """Run *work* on one snapshot of the file, perhaps the same as others; a cancelled caller does not stop it."""
        if self._is_closed or asyncio.get_running_loop() is not self._loop:
            return self._refused(operation)
        return self._reads.submit(operation, work, request)

    async def empty_log(self) -> None:
        """Move what was committed from the log to the file and cut the log off, if readers let go of it in time.

        It holds the text of removed rows until then.
        """
        if not self._is_closed:
            await self._writer.run(_empty_log)

    async def close(self) -> None:
        """Refuse further calls, finish those under way and close the file."""
        self._is_closed = True
        try:
            await self._reads.close()
        finally:
            await self._writes.close()  # last, because it empties the log

    async def _refused(self, operation: str) -> Failure[RepositoryError]:
        # The futures of one loop cannot be awaited in another: without this, the caller would wait for ever.
        return Failure(RepositoryError(operation, "closed" if self._is_closed else "wrong_loop"))


class DatabaseTag(Tag[Database]):
    """Where layers provide ``Database``."""


def _empty_log(connection: sqlite3.Connection) -> None:
    try:
        is_kept, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        log.warning("the log could not be emptied: %s", error)
    else:
        if is_kept:
            log.warning("the log could not be emptied: somebody has been reading for long")


@asynccontextmanager
async def open_database(settings: SqliteSettings) -> AsyncGenerator[Database]:
    """Open the file, creating and migrating it when need be, and leave nothing open.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why it cannot be opened.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:  # trio
        refusal = RepositoryError("open the store", "wrong_loop", "aiosqlite needs asyncio", cause=error)
        raise EffectFailed(refusal) from error
    try:
        writer = await WorkerConnection.opened(
            partial(connect_writer, settings), partial(prepare, settings=settings)
        )
        try:
            commit_group = partial(commit_group_if, find_again(store_file(settings)))
            reader = await WorkerConnection.opened(partial(connect_reader, settings))
        except BaseException:
            writer.stop()
            raise
    except (sqlite3.Error, OSError) as error:
        raise EffectFailed(repository_error("open the store", error)) from error
    opened = Database(
        writer, JobGroups(writer, commit_group), JobGroups(reader, read_group, most=READS_AT_ONCE)
    )
    try:
        yield opened
    finally:
        await opened.close()


database = Layer.scoped(DatabaseTag, open_database, SqliteSettingsTag).failing_with(RepositoryError)
