"""``open_database``: a SQLite file, opened for one event loop and closed in the end.

What runs there is the business of ``engine/jobs.py``; files and pragmas that of ``store_file.py``, tables and statements
that of the repositories.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from chatmemory.effect import Layer, Tag
from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.sqlite.engine.file_watch import FileWatch
from chatmemory_layers.sqlite.engine.jobs import Database, Jobs, commit_watched, read_watched, run_on
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.sqlite.engine.store_file import connect_reader, connect_writer, prepare, store_file
from chatmemory_layers.sqlite.engine.worker_connection import WorkerConnection

# Their answers are told together: of 64 tasks, some go on while others are still read for.
READS_AT_ONCE: Final = 16

log = logging.getLogger(__name__)


class DatabaseTag(Tag[Database]):
    """The tag under which layers provide ``Database``."""


def empty_log(connection: sqlite3.Connection) -> None:
    """Move what was committed from the log to the file and cut the log off, if readers let go of it in time.

    It holds the text of removed rows until then.
    """
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
        writer = await WorkerConnection.opened(partial(connect_writer, settings))
        try:
            await run_on(writer, partial(prepare, settings=settings))
            watch = partial(FileWatch, store_file(settings))
            commit = partial(commit_watched, await run_on(writer, watch))
            read = read_watched(await run_on(writer, watch))
            reader = await WorkerConnection.opened(partial(connect_reader, settings))
        except BaseException:
            writer.stop()
            raise
    except (*DRIVER_ERRORS, OSError) as error:
        raise EffectFailed(repository_error("open the store", error)) from error
    opened = Database(Jobs(writer, commit), Jobs(reader, read, most=READS_AT_ONCE))
    try:
        yield opened
    finally:
        await opened.close()


database = Layer.scoped(DatabaseTag, open_database, SqliteSettingsTag).failing_with(RepositoryError)
