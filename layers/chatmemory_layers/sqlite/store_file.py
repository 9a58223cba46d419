"""The file of a store: how it comes into being, how connections to it are made, and what is no such file.

What its tables are is said in ``migrations.py``, how a file of the desktop application becomes one in
``legacy_file.py``, who uses the connections in ``database.py``.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings import SqliteSettings
from chatmemory_layers.sqlite.legacy_file import adopt_file
from chatmemory_layers.sqlite.legacy_rows import adopt_rows
from chatmemory_layers.sqlite.migrations import check_origin, migrate

LEAST_SQLITE: Final = (3, 35, 0)  # the first with RETURNING
CACHED_STATEMENTS: Final = 128  # more than there are, so that none is ever compiled twice
CACHE_KIB: Final = 16 * 1024  # of a connection; scattered conversations outgrow SQLite's 2 MiB soon
WAL_RETRY_SECONDS: Final = 0.01

_SYNCHRONOUS: Final = {"full": "FULL", "process": "NORMAL"}


def connect_writer(settings: SqliteSettings) -> sqlite3.Connection:
    """Create the file unless it exists, readable for its owner only, and connect to it.

    Raises:
        OSError: it cannot be created.
        sqlite3.Error: it cannot be opened, or SQLite is too old.
        EffectFailed: it is cut off, or no file at all.
    """
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        needed = ".".join(map(str, LEAST_SQLITE))
        msg = f"Python comes with SQLite {sqlite3.sqlite_version}, {needed} is needed"
        raise sqlite3.NotSupportedError(msg)
    path = _path(settings)
    if path.is_dir():
        raise EffectFailed(RepositoryError("open the store", "unavailable", "the path is a folder"))
    with suppress(FileExistsError):
        # SQLite gives the log and the index beside it the mode of the file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    return connect(path, mode="rw", timeout_seconds=settings.busy_timeout_seconds)


def connect_reader(settings: SqliteSettings) -> sqlite3.Connection:
    """Connect to the file that a writer has prepared, for reading only."""
    connection = connect(_path(settings), mode="rw", timeout_seconds=settings.busy_timeout_seconds)
    connection.execute("PRAGMA query_only = ON")
    return connection


def connect(path: Path, *, mode: Literal["ro", "rw"], timeout_seconds: float) -> sqlite3.Connection:
    """Connect to a file that exists; transactions are the caller's.

    Raises:
        sqlite3.Error: it cannot be opened, or is no database.
        EffectFailed: it is cut off.
    """
    uri = f"{path.as_uri()}?mode={mode}"
    try:
        connection = _connect_uri(uri, timeout_seconds)
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK) or _log_size(path) > 0:
            raise
        # A closed store in a folder that is read-only: SQLite cannot create the log's index, and needs none.
        connection = _connect_uri(uri + "&immutable=1", timeout_seconds)
    try:
        _check_length(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: sqlite3.Connection, settings: SqliteSettings) -> None:
    """Make sure that the file is ours, or may become ours, then set it up and migrate it.

    Raises:
        sqlite3.Error: it is damaged, locked for too long, or may not be written although it has to be.
        OSError: it has to be copied first, and the copy cannot be written.
        EffectFailed: it is not ours.
    """
    adopt_file(connection, _path(settings), settings)
    check_origin(connection)
    _write_ahead(connection, settings)
    connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[settings.durability]}")
    connection.execute("PRAGMA secure_delete = ON")  # the bytes of what is forgotten go with it
    migrate(connection)
    adopt_rows(connection, settings.legacy_user)


def find_again(settings: SqliteSettings) -> Callable[[], bool]:
    """Return what tells whether the path still leads to the file that it leads to now.

    SQLite does not notice when it is moved or deleted, and goes on with a file that nobody will open again.
    """
    path = _path(settings)
    opened = path.stat()

    def is_there() -> bool:
        try:
            return os.path.samestat(path.stat(), opened)
        except OSError:
            return False

    return is_there


def _path(settings: SqliteSettings) -> Path:
    if settings.path in {"", ":memory:"}:
        detail = "no file is named: the in_memory backend keeps nothing on disk"
        raise EffectFailed(RepositoryError("open the store", "unavailable", detail))
    return Path(settings.path).absolute()


def _connect_uri(uri: str, timeout_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=timeout_seconds,
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


def _check_length(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that ends before its last page; SQLite notices when it reads there.

    It is SQLite that looks into the file: whoever else opened it would drop the locks of this process by closing it.
    """
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    # In this order: a log that went meanwhile has left its pages in the file.
    if _log_size(path) == 0 and path.stat().st_size < pages * page_bytes:
        detail = f"it ends after {path.stat().st_size} of {pages * page_bytes} bytes"
        raise EffectFailed(RepositoryError("open the store", "damaged", detail))


def _log_size(path: Path) -> int:
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0
