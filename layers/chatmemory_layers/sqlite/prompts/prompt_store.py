"""The file of past chats: where it lies, how it comes into being, and what is no such file.

Connections are direct, in the calling thread.  What a reader needs is all that is imported here; making and migrating a
file is the writer's business, and so are the modules for it.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NoReturn

from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.sqlite.engine.file_connection import (
    connect,
    connect_uri,
    create_file,
    refuse_folder,
    refuse_no_path,
    write_ahead,
)

if TYPE_CHECKING:
    from chatmemory.settings.past_chats_settings import PastChatsSettings

APPLICATION_ID: Final = 0x70636861
"""``pcha``, as ``file`` and others show it."""

NEWEST: Final = 2
"""The number of the last step in ``PROMPT_MIGRATIONS``."""

OLDEST_READABLE: Final = 1
"""The later steps only make reading quicker: whoever upgrades goes on reading what the next index run will migrate."""

OPENING: Final = "open the index of past chats"
IN_MEMORY: Final = ":memory:"
FILE_NAME: Final = "pastchats.db"
READER_CACHE_KIB: Final = 64 * 1024
"""Where the common words of a million turns stand; taken as it is needed.  Whoever writes needs memory for other things."""

LONGEST_IDLE_LOG_BYTES: Final = 16 * 1024 * 1024
"""What a source as long as a book has made of the log is given back to the disk."""


def versions_of(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the application id and the number of the last step, two numbers of the file's header.

    A search reads them instead of the ledger of ``migrations.py``, with whose checksums it would wait longer than for its
    answer.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application_id, version


def store_path(settings: PastChatsSettings) -> Path:
    """Return where the index lies: where the settings say, or in the data folder of the platform."""
    if settings.path:
        refuse_no_path(settings.path)
        below = settings.path.removeprefix("~/")
        return (Path(below) if below == settings.path else _home() / below).absolute()
    return (_data_folder() / "chatmemory" / FILE_NAME).absolute()


def connect_writer(settings: PastChatsSettings, driver: ModuleType = sqlite3) -> sqlite3.Connection:
    """Create the file and its folder unless they exist, for their owner only, migrate it, and connect to it.

    Raises:
        OSError: it cannot be created.
        sqlite3.Error: it cannot be opened, is damaged, or is locked for too long; of *driver*, likewise.
        EffectFailed: it is another program's, a newer one's, or cut off; it is left as it is.
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
    """Connect to a file that exists, for reading only.

    Raises:
        OSError: nobody may look at it.
        sqlite3.Error: it cannot be opened, or is no database; of *driver*, likewise.
        EffectFailed: there is none, or it is no index of past chats, or of another version, or cut off.
    """
    path = store_path(settings)
    if settings.path == IN_MEMORY or not _exists(path):
        raise _not_yet(f"there is no {path}")
    refuse_folder(path)
    connection = connect(
        path, mode="ro", timeout_seconds=settings.busy_timeout_seconds, driver=driver, any_thread=True
    )
    try:
        application_id, version = versions_of(connection)
        if application_id != APPLICATION_ID or not OLDEST_READABLE <= version <= NEWEST:
            _refuse_version(connection, path)
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection


def _data_folder() -> Path:
    if sys.platform == "win32":  # pragma: no cover
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    if sys.platform == "darwin":  # pragma: no cover
        return _home() / "Library" / "Application Support"
    named = os.environ.get("XDG_DATA_HOME", "")
    # The specification of these folders says that a relative one is to be ignored.
    return Path(named) if named.startswith("/") else _home() / ".local" / "share"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # in a container whose user has no name
        msg = "nobody's home is known here: name a file with --db or PASTCHATS_DB"
        raise FileNotFoundError(msg) from None


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _not_yet(detail: str) -> EffectFailed:
    advice = f"{detail}; run `pastchats-memory index` first"
    return EffectFailed(RepositoryError(OPENING, "missing", advice))


def _create_folder(folder: Path) -> None:
    """Create *folder* and those above it that are missing, for their owner only; one that exists stays as it is."""
    if not folder.exists():
        _create_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _refuse_version(connection: sqlite3.Connection, path: Path) -> NoReturn:
    _check_origin(connection)
    raise _not_yet(f"{path} was made by an older version, or not to the end")


def _prepare(connection: sqlite3.Connection, *, timeout_seconds: float, driver: ModuleType) -> None:
    from chatmemory_layers.sqlite.engine.migrations import migrate
    from chatmemory_layers.sqlite.prompts.prompt_tables import PROMPT_MIGRATIONS

    _check_origin(connection)
    connection.execute("PRAGMA secure_delete = ON")  # the bytes of what is forgotten go with it
    write_ahead(connection, timeout_seconds=timeout_seconds, driver=driver)
    connection.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is indexed again
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {LONGEST_IDLE_LOG_BYTES}")
    migrate(connection, PROMPT_MIGRATIONS)


def _check_origin(connection: sqlite3.Connection) -> None:
    from chatmemory_layers.sqlite.engine.migrations import check_origin, has_ledger
    from chatmemory_layers.sqlite.prompts.prompt_tables import PROMPT_MIGRATIONS

    # In this order: another process may be making the file, and both come with one commit.
    if has_ledger(connection) and versions_of(connection)[0] != APPLICATION_ID:
        detail = "a store of conversations and memories, not of past chats"
        raise EffectFailed(RepositoryError(OPENING, "not_a_store", detail))
    check_origin(connection, PROMPT_MIGRATIONS)
