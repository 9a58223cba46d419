"""The file of a store: how it comes into being, how connections to it are made, and what is no such file.

How a file is connected to at all is said in ``file_connection.py``, what its tables are in ``migrations.py``, how a file
of the desktop application becomes one in ``legacy_file.py``, who uses the connections in ``database.py``.
"""

import sqlite3
from pathlib import Path
from typing import Final

from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.file_connection import connect, create_file, refuse_no_path, write_ahead
from chatmemory_layers.sqlite.engine.migrations import check_origin, migrate
from chatmemory_layers.sqlite.legacy.legacy_file import adopt_file
from chatmemory_layers.sqlite.legacy.legacy_rows import adopt_rows
from chatmemory_layers.sqlite.memories.merged_words import mend_words

_SYNCHRONOUS: Final = {"full": "FULL", "process": "NORMAL"}


def connect_writer(settings: SqliteSettings) -> sqlite3.Connection:
    """Create the file unless it exists, readable for its owner only, and connect to it.

    Raises:
        OSError: it cannot be created.
        sqlite3.Error: it cannot be opened, or SQLite is too old.
        EffectFailed: it is cut off, or no file at all.
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
    """Make sure that the file is ours, or may become ours, then set it up and migrate it.

    Raises:
        sqlite3.Error: it is damaged, locked for too long, or may not be written although it has to be.
        OSError: it has to be copied first, and the copy cannot be written.
        EffectFailed: it is not ours.
    """
    adopt_file(connection, store_file(settings), settings)
    check_origin(connection)
    write_ahead(connection, timeout_seconds=settings.busy_timeout_seconds)
    connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[settings.durability]}")
    connection.execute("PRAGMA secure_delete = ON")  # the bytes of what is forgotten go with it
    migrate(connection)
    mend_words(connection, "memory_fts")
    adopt_rows(connection, settings.legacy_user)


def store_file(settings: SqliteSettings) -> Path:
    """Return where the file lies, if the settings name one."""
    if settings.path in {"", ":memory:"}:
        detail = "no file is named: the in_memory backend keeps nothing on disk"
        raise EffectFailed(RepositoryError("open the store", "unavailable", detail))
    refuse_no_path(settings.path)
    path = Path(settings.path)
    # The configuration of a coding agent reaches no shell that would expand it.
    return (path.expanduser() if path.parts[:1] == ("~",) else path).absolute()
