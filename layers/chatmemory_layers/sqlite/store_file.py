"""The file of a store: how it comes into being, how connections to it are made, and what is no such file.

What its tables are is said in ``migrations.py``, who uses the connections in ``database.py``.
"""

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings import SqliteSettings
from chatmemory_layers.sqlite.migrations import check_origin, migrate

CACHED_STATEMENTS: Final = 128  # more than there are, so that none is ever compiled twice
CACHE_KIB: Final = 16 * 1024  # of a connection; scattered conversations outgrow SQLite's 2 MiB soon
WAL_RETRY_SECONDS: Final = 0.01

_SYNCHRONOUS: Final = {"full": "FULL", "process": "NORMAL"}

# Where the SQLite file format keeps what a cut-off file contradicts.
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_PAGE_SIZE: Final = slice(16, 18)
_PAGE_COUNT: Final = slice(28, 32)
_LARGEST_PAGE: Final = 65536  # bytes, written as 1


def connect_writer(settings: SqliteSettings) -> sqlite3.Connection:
    """Create the file unless it exists, readable for its owner only, and connect to it.

    Raises:
        OSError: it cannot be created.
        sqlite3.Error: it cannot be opened.
        EffectFailed: it is cut off, or no file at all.
    """
    path = _path(settings)
    if path.is_dir():
        raise EffectFailed(RepositoryError("open the store", "unavailable", "the path is a folder"))
    try:
        # SQLite gives the log and the index beside it the mode of the file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        _check_length(path)
    return _connect(settings, path)


def connect_reader(settings: SqliteSettings) -> sqlite3.Connection:
    """Connect to the file that a writer has prepared, for reading only."""
    connection = _connect(settings, _path(settings))
    connection.execute("PRAGMA query_only = ON")
    return connection


def prepare(connection: sqlite3.Connection, settings: SqliteSettings) -> None:
    """Make sure that the file is ours, then set it up and migrate it.

    Raises:
        sqlite3.Error: it is damaged, locked for too long, or may not be written although it has to be.
        EffectFailed: it is not ours.
    """
    check_origin(connection)
    _write_ahead(connection, settings)
    connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[settings.durability]}")
    migrate(connection)


def _path(settings: SqliteSettings) -> Path:
    if settings.path in {"", ":memory:"}:
        detail = "no file is named: the in_memory backend keeps nothing on disk"
        raise EffectFailed(RepositoryError("open the store", "unavailable", detail))
    return Path(settings.path).absolute()


def _connect(settings: SqliteSettings, path: Path) -> sqlite3.Connection:
    uri = path.as_uri() + "?mode=rw"  # rw: only connect_writer creates
    try:
        return _connect_uri(settings, uri)
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK) or _log_size(path) > 0:
            raise
        # A closed store in a folder that is read-only: SQLite cannot create the log's index, and needs none.
        return _connect_uri(settings, uri + "&immutable=1")


def _connect_uri(settings: SqliteSettings, uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=settings.busy_timeout_seconds,
        isolation_level=None,  # BEGIN and COMMIT are ours
        cached_statements=CACHED_STATEMENTS,
    )
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # connecting alone reads nothing
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, settings: SqliteSettings) -> None:
    """Switch to write-ahead logging, once in the life of a file; one that cannot keeps its rollback journal."""
    deadline = time.monotonic() + settings.busy_timeout_seconds
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            # Here SQLite does not wait for a lock, whatever the timeout: two new processes would refuse each other.
            if time.monotonic() > deadline:
                raise
            time.sleep(WAL_RETRY_SECONDS)
        else:
            return


def _check_length(path: Path) -> None:
    """Refuse a file that ends before the last page that its header counts; SQLite notices when it reads there."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC) or _log_size(path) > 0:
        return  # SQLite judges what is no database; pages may still be in the log
    page_size = int.from_bytes(header[_PAGE_SIZE], "big")
    length = int.from_bytes(header[_PAGE_COUNT], "big") * (_LARGEST_PAGE if page_size == 1 else page_size)
    if path.stat().st_size < length:
        detail = f"it ends after {path.stat().st_size} of {length} bytes"
        raise EffectFailed(RepositoryError("open the store", "damaged", detail))


def _log_size(path: Path) -> int:
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0
