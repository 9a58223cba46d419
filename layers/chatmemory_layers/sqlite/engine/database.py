"""``open_database``: opens a SQLite file for one event loop, and closes it in the end.

``jobs.py`` runs the reads and writes, ``file_connection.py`` opens connections, ``migrations.py`` creates the tables, and
``legacy_file.py`` turns a file of the desktop application into a store.  The repositories hold the tables and statements.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from chatmemory.effect import Layer, Tag
from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.sqlite.engine.file_connection import connect, create_file, refuse_no_path, write_ahead
from chatmemory_layers.sqlite.engine.file_watch import FileWatch
from chatmemory_layers.sqlite.engine.jobs import Database, EditionWatch, Jobs, commit_watched, read_watched
from chatmemory_layers.sqlite.engine.migrations import check_origin, create, migrate
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.sqlite.engine.transaction import KeptRows
from chatmemory_layers.sqlite.engine.worker_connection import WorkerConnection, run_on
from chatmemory_layers.sqlite.legacy.legacy_file import adopt_file
from chatmemory_layers.sqlite.legacy.legacy_rows import adopt_rows
from chatmemory_layers.sqlite.memories.merged_words import mend_words

_SYNCHRONOUS: Final = {"full": "FULL", "process": "NORMAL"}
# The answers of a group are delivered together: with a limit, some of 64 tasks continue while the reads of others still run.
READS_AT_ONCE: Final = 16


class DatabaseTag(Tag[Database]):
    """The tag under which layers provide ``Database``."""


@asynccontextmanager
async def open_database(settings: SqliteSettings) -> AsyncGenerator[Database]:
    """Open the file, which is created and migrated when needed, and close everything at the end.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why the file cannot be opened.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:  # trio
        refusal = RepositoryError("open the store", "wrong_loop", "aiosqlite needs asyncio", cause=error)
        raise EffectFailed(refusal) from error
    await asyncio.sleep(0)  # ends here, before there is a thread, where nothing may wait: in a plain `with`
    try:
        writer = await WorkerConnection.opened(partial(connect_writer, settings))
        try:
            await run_on(writer, partial(prepare, settings=settings))
            watch = partial(FileWatch, store_file(settings))
            edition = await run_on(writer, EditionWatch)
            commit = partial(commit_watched, await run_on(writer, watch), edition, KeptRows())
            read = read_watched(await run_on(writer, watch), await run_on(writer, EditionWatch))
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


def connect_writer(settings: SqliteSettings) -> sqlite3.Connection:
    """Create a file that only its owner can read, unless it exists, and connect to it.

    Raises:
        OSError: the file cannot be created.
        sqlite3.Error: the file cannot be opened, or SQLite is too old.
        EffectFailed: the file is truncated, or the path is not a file.
    """
    path = store_file(settings)
    create_file(path)
    return connect(path, mode="rw", timeout_seconds=settings.busy_timeout_seconds)


def connect_reader(settings: SqliteSettings) -> sqlite3.Connection:
    """Connect to the file that a writer has prepared, for reading only."""
    connection = connect(store_file(settings), mode="rw", timeout_seconds=settings.busy_timeout_seconds)
    connection.execute("PRAGMA query_only = ON")
    return connection


def prepare(connection: sqlite3.Connection, settings: SqliteSettings) -> None:
    """Check that the file is a store, or may become one, then set its pragmas and migrate it.

    Raises:
        sqlite3.Error: the file is damaged, locked for too long, or has to be written and may not be.
        OSError: the file has to be copied first, and the copy cannot be written.
        EffectFailed: the file is not a store.
    """
    adopt_file(connection, store_file(settings), settings)
    check_origin(connection)
    write_ahead(connection, timeout_seconds=settings.busy_timeout_seconds)
    connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[settings.durability]}")
    connection.execute("PRAGMA secure_delete = ON")  # overwrites the bytes of deleted rows
    create(connection)
    migrate(connection)
    mend_words(connection, "memory_fts")
    adopt_rows(connection, settings.legacy_user)


def store_file(settings: SqliteSettings) -> Path:
    """Return the path of the file.

    Raises:
        EffectFailed: the settings name no file, or a path that cannot exist.
    """
    if settings.path in {"", ":memory:"}:
        detail = "no file is named: the in_memory backend keeps nothing on disk"
        raise EffectFailed(RepositoryError("open the store", "unavailable", detail))
    refuse_no_path(settings.path)
    path = Path(settings.path)
    # No shell expands ``~`` in the configuration of a coding agent.
    return (path.expanduser() if path.parts[:1] == ("~",) else path).absolute()
