"""``connect``: opens connections to a SQLite file, and sets what all files have in common: private, whole, written ahead.

``database.py`` and ``prompt_store.py`` check which program owns a file, and what it contains.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final, Literal

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.forked import HOW_TO_START, is_inherited, note_opened

LEAST_SQLITE: Final = (3, 35, 0)  # the first version with RETURNING
CACHED_STATEMENTS: Final = 128  # more than there are, so that no statement is compiled twice
CACHE_KIB: Final = 16 * 1024  # per connection; scattered conversations soon need more than 2 MiB
WAL_RETRY_SECONDS: Final = 0.01


def create_file(path: Path, driver: ModuleType = sqlite3) -> None:
    """Create an empty file that only its owner can read, unless the file exists.

    Raises:
        OSError: the file cannot be created.
        sqlite3.Error: SQLite is too old.
        EffectFailed: *path* is not a file.
    """
    if driver.sqlite_version_info < LEAST_SQLITE:
        needed = ".".join(map(str, LEAST_SQLITE))
        msg = f"Python comes with SQLite {driver.sqlite_version}, {needed} is needed"
        raise sqlite3.NotSupportedError(msg)
    refuse_folder(path)
    with suppress(FileExistsError):
        # SQLite gives the write-ahead log and its index the mode of the file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def refuse_folder(path: Path) -> None:
    """Raise ``EffectFailed`` if *path* is a folder; SQLite would only say that it cannot open it."""
    if path.is_dir():
        raise _unavailable(f"{path} is a folder")


def refuse_no_path(name: str) -> None:
    """Raise ``EffectFailed`` if *name* cannot be a path on any file system: it contains NUL or a lone surrogate."""
    try:
        is_path = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise _unavailable(f"{name!a} is no path")


def _unavailable(detail: str) -> EffectFailed:
    return EffectFailed(RepositoryError("open the store", "unavailable", detail))


def connect(
    path: Path,
    *,
    mode: Literal["ro", "rw"],
    timeout_seconds: float,
    driver: ModuleType = sqlite3,
    any_thread: bool = False,
) -> sqlite3.Connection:
    """Connect to a file that exists; the caller begins and ends transactions.

    A statement waits *timeout_seconds* for a lock.  *driver* has the interface of ``sqlite3``.  With *any_thread*, other
    threads may use the connection; the caller keeps two from using it at once.

    Raises:
        sqlite3.Error: the file cannot be opened, or is not a database; another *driver* raises its own class.
        EffectFailed: the file is truncated or may not be read, where SQLite would only say that it cannot open it; or a
            parent of this process had it open.
    """
    if is_inherited(path):
        raise EffectFailed(RepositoryError("open the store", "forked", HOW_TO_START))
    uri = f"{path.as_uri()}?mode={mode}"
    open_uri = partial(connect_uri, timeout_seconds=timeout_seconds, driver=driver, any_thread=any_thread)
    try:
        connection = open_uri(uri)
    except driver.OperationalError:
        if path.exists() and not os.access(path, os.R_OK):
            raise _unavailable(f"{path}: permission denied") from None
        if os.access(path.parent, os.W_OK) or log_size(path) > 0:
            raise
        # A closed store in a read-only folder: SQLite cannot create the index of the log, and does not need it.
        connection = open_uri(uri + "&immutable=1")
    try:
        _check_length(connection, path)
        note_opened(path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_uri(
    uri: str, *, timeout_seconds: float, driver: ModuleType = sqlite3, any_thread: bool = False
) -> sqlite3.Connection:
    """Open a connection to the database that *uri* (``file:...``) names; see ``connect`` for the other arguments.

    Raises:
        sqlite3.Error: the database cannot be opened, or the file is not a database; another *driver* raises its own class.
    """
    connection: sqlite3.Connection = driver.connect(
        uri,
        uri=True,
        timeout=timeout_seconds,
        isolation_level=None,  # this package sends BEGIN and COMMIT itself
        check_same_thread=not any_thread,
        cached_statements=CACHED_STATEMENTS,
    )
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # connecting alone reads nothing
    except BaseException:
        connection.close()
        raise
    return connection


def write_ahead(
    connection: sqlite3.Connection, *, timeout_seconds: float, driver: ModuleType = sqlite3
) -> None:
    """Switch the file to write-ahead logging, which lasts; a file that cannot have it keeps its rollback journal.

    Raises:
        sqlite3.OperationalError: another process held the file for *timeout_seconds*; another *driver* raises its own class.
    """
    deadline = time.monotonic() + timeout_seconds
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except driver.OperationalError:
            # Here SQLite does not wait for a lock, whatever the timeout: two new processes would refuse each other.
            if time.monotonic() > deadline:
                raise
            time.sleep(WAL_RETRY_SECONDS)
        else:
            return


def find_again(name: Path | str) -> Callable[[], bool]:
    """Return a function that answers whether *name* still leads to the file that it leads to now.

    SQLite does not notice when the file is moved or deleted, and continues with a file that no process can open again.
    """
    path = Path(name).absolute()
    opened = path.stat()

    def is_there() -> bool:
        try:
            return os.path.samestat(path.stat(), opened)
        except OSError:
            return False

    return is_there


def log_size(path: Path) -> int:
    """Return the size of the write-ahead log beside *path*, 0 when there is none."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0


def _check_length(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that ends before its last page; SQLite notices when it reads there.

    SQLite itself reads the file: closing another descriptor of it would drop the locks of this process.
    """
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    # In this order: a log that disappears meanwhile has written its pages to the file.
    if log_size(path) == 0 and path.stat().st_size < pages * page_bytes:
        detail = f"it ends after {path.stat().st_size} of {pages * page_bytes} bytes"
        raise EffectFailed(RepositoryError("open the store", "damaged", detail))
