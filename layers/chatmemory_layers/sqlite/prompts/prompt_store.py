"""``connect_writer`` and ``connect_reader`` open the file of past chats; ``store_path`` says where it is.

Connections are used directly, in the calling thread.  This module imports only what a reader needs; what creates and migrates
a file is imported by a writer.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.sqlite.engine.file_connection import (
    connect,
    connect_uri,
    create_file,
    refuse_folder,
    refuse_no_path,
    write_ahead,
)
from chatmemory_layers.sqlite.prompts import APPLICATION_ID, NEWEST

if TYPE_CHECKING:
    from types import ModuleType

    from chatmemory.settings.past_chats_settings import PastChatsSettings
    from chatmemory_layers.sqlite.engine import migrations
    from chatmemory_layers.sqlite.prompts import prompt_tables
else:
    migrations = LazyModule("chatmemory_layers.sqlite.engine.migrations")
    prompt_tables = LazyModule("chatmemory_layers.sqlite.prompts.prompt_tables")

PAGE_BYTES: Final = 8192
"""The page size of a new file: with SQLite's 4096, rows with a text or a vector leave a tenth of it empty."""

LEAST_FREE_SHARE: Final = 0.25
"""The part of free pages from which on a migration returns them to the disk."""

OPENING: Final = "open the index of past chats"
IN_MEMORY: Final = ":memory:"
FILE_NAME: Final = "pastchats.db"
READER_CACHE_KIB: Final = 64 * 1024
"""Holds the common words of a million turns; allocated as needed.  A writer needs the memory for other things."""

LONGEST_IDLE_LOG_BYTES: Final = 16 * 1024 * 1024
"""What a source as long as a book has added to the log is returned to the disk."""


def store_path(settings: PastChatsSettings) -> Path:
    """Return the path of the index: ``settings.path``, or a path in the data folder of the platform."""
    if settings.path:
        refuse_no_path(settings.path)
        below = settings.path.removeprefix("~/")
        return (Path(below) if below == settings.path else _home() / below).absolute()
    return (_data_folder() / "chatmemory" / FILE_NAME).absolute()


def connect_writer(settings: PastChatsSettings, driver: ModuleType = sqlite3) -> sqlite3.Connection:
    """Create the file and its folder unless they exist, for their owner only, migrate it, and connect to it.

    Raises:
        OSError: the file cannot be created.
        sqlite3.Error: it cannot be opened, is damaged, or is locked for too long; another *driver* raises its own class.
        EffectFailed: it is of another program or a newer version, or truncated; it is left as it is.
    """
    timeout_seconds = settings.busy_timeout_seconds
    if settings.path == IN_MEMORY:
        connection = connect_uri(IN_MEMORY, timeout_seconds=timeout_seconds, driver=driver, any_thread=True)
    else:
        path = store_path(settings)
        _create_folder(path.parent)
        create_file(path, driver)
        connection = connect(path, mode="rw", timeout_seconds=timeout_seconds, driver=driver, any_thread=True)
    try:
        _prepare(connection, timeout_seconds=timeout_seconds, driver=driver)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(settings: PastChatsSettings, driver: ModuleType = sqlite3) -> sqlite3.Connection:
    """Connect to an existing file, for reading only; a file of an earlier version is migrated first.

    Raises:
        OSError: the file may not be examined.
        sqlite3.Error: it cannot be opened, or is not a database; another *driver* raises its own class.
        EffectFailed: it does not exist, is not an index of past chats, is of another version, or truncated.
    """
    path = store_path(settings)
    if settings.path == IN_MEMORY or not _exists(path):
        raise _missing(f"there is no {path}")
    refuse_folder(path)

    def open_file() -> sqlite3.Connection:
        seconds = settings.busy_timeout_seconds
        return connect(path, mode="ro", timeout_seconds=seconds, driver=driver, any_thread=True)

    connection = open_file()
    try:
        application_id, version = versions_of(connection)
        if application_id == APPLICATION_ID and 0 < version < NEWEST:
            # After an upgrade a search still finds everything.  Closed first: a writer that is alone empties the log.
            connection.close()
            connect_writer(settings, driver).close()
            connection = open_file()
            application_id, version = versions_of(connection)
        if (application_id, version) != (APPLICATION_ID, NEWEST):
            _refuse_version(connection, path)
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection


def versions_of(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id and the number of the last step, two numbers in the header of the file.

    A search reads them instead of the migration table of ``migrations.py``: computing its checksums would take longer than
    the search.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application_id, version


def _data_folder() -> Path:
    if sys.platform == "win32":  # pragma: no cover
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    if sys.platform == "darwin":  # pragma: no cover
        return _home() / "Library" / "Application Support"
    named = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    return Path(named) if named.startswith("/") else _home() / ".local" / "share"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # in a container whose user is unnamed
        msg = "this user has no home folder: name a file with --db or PASTCHATS_DB"
        raise FileNotFoundError(msg) from None


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _missing(detail: str) -> EffectFailed:
    advice = f"{detail}; run `pastchats-memory index` first"
    return EffectFailed(RepositoryError(OPENING, "missing", advice))


def _create_folder(folder: Path) -> None:
    """Create *folder* and its missing parents, for their owner only; an existing folder is not changed."""
    if not folder.exists():
        _create_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _refuse_version(connection: sqlite3.Connection, path: Path) -> NoReturn:
    _check_origin(connection)
    raise _missing(f"{path} was made by an older version, or its creation was interrupted")


def _prepare(connection: sqlite3.Connection, *, timeout_seconds: float, driver: ModuleType) -> None:
    _check_origin(connection)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # only a file without pages takes it
    connection.execute("PRAGMA secure_delete = ON")  # overwrites the bytes of deleted rows
    write_ahead(connection, timeout_seconds=timeout_seconds, driver=driver)
    connection.execute("PRAGMA synchronous = NORMAL")  # a turn lost in a power cut is indexed again
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {LONGEST_IDLE_LOG_BYTES}")
    _, version = versions_of(connection)
    prompt_tables.migrate_prompts(connection)
    if version < NEWEST:
        _shrink(connection, driver)


def _shrink(connection: sqlite3.Connection, driver: ModuleType) -> None:
    """Shrink a file that a migration has left half empty, unless other processes use it or the disk is full."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free > LEAST_FREE_SHARE * pages:
        with suppress(driver.OperationalError):
            connection.execute("VACUUM")


def _check_origin(connection: sqlite3.Connection) -> None:
    # In this order: another process may be creating the file, and both appear with one commit.
    if migrations.has_ledger(connection) and versions_of(connection)[0] != APPLICATION_ID:
        detail = "a store of conversations and memories, not of past chats"
        raise EffectFailed(RepositoryError(OPENING, "not_a_store", detail))
    migrations.check_origin(connection, prompt_tables.PROMPT_MIGRATIONS)


def driver(*, use_sqlite_vec: bool) -> ModuleType:
    """Return the module to connect with; if *use_sqlite_vec*, one that can load extensions, if there is one.

    The interpreter's own ``sqlite3`` is preferred; some are built without extensions, and then ``pysqlite3`` is used if it is
    installed (extra: ``chatmemory-effect[vec]``).  Neither is required: without the extension, Python or numpy compares the
    codes, with the same answers.
    """
    if not use_sqlite_vec or hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    with suppress(ImportError):
        return import_module("pysqlite3.dbapi2")
    return sqlite3


def load_vec(connection: sqlite3.Connection) -> bool:
    """Load sqlite-vec into *connection*, unless it is loaded; return whether it can be used."""
    if _has_vec(connection):
        return True
    try:
        # Not imported: the package would load numpy, which takes longer than the search.
        package = find_spec("sqlite_vec")
        if package is None or package.origin is None:
            return False
        path = f"{package.origin.rpartition(os.sep)[0]}{os.sep}vec0"
        connection.enable_load_extension(True)
        try:
            connection.execute("SELECT load_extension(:path)", {"path": path}).fetchall()
        finally:
            connection.enable_load_extension(False)
    except Exception:  # noqa: BLE001  not for this platform, not with this interpreter, whichever driver's error
        return False
    return _has_vec(connection)


def _has_vec(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT vec_version()").fetchall()
    except Exception:  # noqa: BLE001  either driver's error: no such function
        return False
    return True
