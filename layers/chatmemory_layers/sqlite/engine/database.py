"""``open_database``: opens a SQLite file for one event loop, and closes it in the end.

``engine/jobs.py`` runs the reads and writes, ``store_file.py`` prepares the file and its pragmas, and the repositories hold
the tables and statements.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from chatmemory.effect import Layer, Tag
from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.sqlite.engine.edition_watch import EditionWatch
from chatmemory_layers.sqlite.engine.file_watch import FileWatch
from chatmemory_layers.sqlite.engine.jobs import Database, Jobs, commit_watched, looking, read_watched
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.sqlite.engine.store_file import connect_reader, connect_writer, prepare, store_file
from chatmemory_layers.sqlite.engine.transaction import KeptRows
from chatmemory_layers.sqlite.engine.worker_connection import WorkerConnection, run_on

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
    try:
        writer = await WorkerConnection.opened(partial(connect_writer, settings))
        try:
            await run_on(writer, partial(prepare, settings=settings))
            watch = partial(FileWatch, store_file(settings))
            look = looking(await run_on(writer, EditionWatch))
            commit = partial(commit_watched, await run_on(writer, watch), look, KeptRows())
            look = looking(await run_on(writer, EditionWatch))
            read = read_watched(await run_on(writer, watch), look)
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
