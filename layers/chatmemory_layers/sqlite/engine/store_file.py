"""The file of a store: creates it, connects to it, and refuses files that are not a store.

``file_connection.py`` opens connections, ``migrations.py`` creates the tables, ``legacy_file.py`` turns a file of the desktop
application into a store, and ``database.py`` uses the connections.
"""

import sqlite3
from pathlib import Path
from typing import Final

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.file_connection import connect, create_file, refuse_no_path, write_ahead
from chatmemory_layers.sqlite.engine.migrations import check_origin, create, migrate
from chatmemory_layers.sqlite.legacy.legacy_file import adopt_file
from chatmemory_layers.sqlite.legacy.legacy_rows import adopt_rows
from chatmemory_layers.sqlite.memories.merged_words import mend_words

_SYNCHRONOUS: Final = {"full": "FULL", "process": "NORMAL"}


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

    Args:
        connection: the connection to the file.
        settings: say where the file is, and how it is kept.

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
