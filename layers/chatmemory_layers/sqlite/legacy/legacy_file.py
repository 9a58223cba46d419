"""``adopt_file``: recognizes a file of the desktop application, and turns it into a store that keeps all its content.

The file is migrated to version 6 as the application itself would do it (spec 000), and recorded as a store.  Then the
steps of every store follow, see ``migrations.py``.  ``legacy_rows.py`` turns its rows into memories.
"""

import filecmp
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final, Never, cast

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.migrations import (
    ATOMIC_MEMORIES,
    CREATE_LEDGER,
    MIGRATIONS,
    has_ledger,
    record,
    transaction,
)
from chatmemory_layers.sqlite.memories.memory_tables import FROM_5_TO_6, VERSION_5

log = logging.getLogger(__name__)

# The names in a file: tables, indexes, views, triggers, and the columns of the two tables that both programs use.
SELECT_NAMES = """
SELECT lower(name) FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'
UNION ALL SELECT 'schema_version.' || lower(name) FROM pragma_table_xinfo('schema_version')
UNION ALL SELECT 'atomic_memory.' || lower(name) FROM pragma_table_xinfo('atomic_memory')
"""
SELECT_VERSION = "SELECT count(*), max(version) FROM schema_version"

_MARKS: Final = {"schema_version.version", "atomic_memory.content"}
_MADE_BY_VERSION: Final = {5: VERSION_5, 6: (*VERSION_5, *FROM_5_TO_6)}
_TO_VERSION_6: Final[dict[int, tuple[str, ...]]] = {5: FROM_5_TO_6, 6: ()}
_MADE_BY_US: Final = tuple(statement for step in MIGRATIONS for statement in step.statements)


def adopt_file(connection: sqlite3.Connection, path: Path, settings: SqliteSettings) -> None:
    """Adopt the file if it is of version 5 or 6; processes that do so at once wait for each other.

    Raises:
        EffectFailed: with ``foreign_store``: the file may not be changed; it is left as it is.
        OSError: the backup cannot be written.
        sqlite3.Error: the file may not be written, or is locked for too long.
    """
    if adoptable_version(connection, settings) is None:
        return
    with transaction(connection):
        # Checked again: another process may have adopted the file while this one waited.
        version = adoptable_version(connection, settings)
        if version is None:
            return
        if settings.legacy_file == "backup":
            # Under the lock: the copy shows the file before the first change, and there is only one copy.
            copy = back_up(path, version)
            log.warning("%s comes from the desktop application, and is copied to %s", path, copy)
        for statement in _TO_VERSION_6[version]:
            connection.execute(statement)
        connection.execute(CREATE_LEDGER)
        record(connection, ATOMIC_MEMORIES)


def adoptable_version(connection: sqlite3.Connection, settings: SqliteSettings) -> int | None:
    """Return the version of a file of the desktop application that may be adopted; None for a store, or another program's file."""
    names = _names(connection)
    if not names >= _MARKS or has_ledger(connection):
        return None
    rows, version = cast("tuple[int, int]", connection.execute(SELECT_VERSION).fetchone())
    if rows != 1 or version not in _MADE_BY_VERSION:
        _refuse(f"the desktop application's file, of schema version {version}")
    its_own = _names_made_by(_MADE_BY_VERSION[version])
    if missing := its_own - names:
        _refuse(f"it lacks what schema version {version} has: {', '.join(sorted(missing))}")
    if taken := names & (_names_made_by(_MADE_BY_US) - its_own):
        _refuse(f"it has what we need names for: {', '.join(sorted(taken))}")
    if settings.legacy_file == "refuse":
        _refuse("the desktop application's file, which memory.store.sqlite.legacyFile tells to leave alone")
    return version


def _names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute(SELECT_NAMES).fetchall()}


@cache
def _names_made_by(statements: Sequence[str]) -> frozenset[str]:
    """Return all names that exist in a new file while *statements* run, those dropped later included."""
    names = set[str]()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for statement in statements:
            fresh.execute(statement)
            names |= _names(fresh)
    return frozenset(names)


def _refuse(detail: str) -> Never:
    raise EffectFailed(RepositoryError("open the store", "foreign_store", detail))


def back_up(path: Path, version: int) -> Path:
    """Copy the database *path* to ``<path>.v<version>.backup``, and return the path of the copy.

    No other process may write to the database or back it up meanwhile.  If a different copy has the name, a number is
    added; the same copy is not stored twice.

    Raises:
        OSError: the copy cannot be written.
        sqlite3.Error: the copy cannot be written, or *path* cannot be read.
    """
    name = f"{path.name}.v{version}.backup"
    unfinished = path.with_name(name + ".unfinished")
    unfinished.unlink(missing_ok=True)  # left by a process that was killed
    unfinished.touch(mode=0o600, exist_ok=False)
    try:
        _copy(path, unfinished)
        _sync(unfinished)
    except BaseException:
        unfinished.unlink()  # the disk may be full
        raise
    copy = next(
        copy
        for copy in _backup_names(path, name)
        if not copy.exists() or filecmp.cmp(unfinished, copy, shallow=False)
    )
    if copy.exists():  # the process that made it was killed before the first change
        unfinished.unlink()
        return copy
    unfinished.rename(copy)
    with suppress(PermissionError):  # Windows cannot open a folder
        _sync(path.parent)
    return copy


def _backup_names(path: Path, name: str) -> Iterator[Path]:
    yield path.with_name(name)
    for number in count(2):
        yield path.with_name(f"{name}.{number}")


def _copy(path: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(path.as_uri() + "?mode=ro", uri=True)) as reader,
        closing(sqlite3.connect(target)) as writer,
    ):
        # A journal that outlives its writer would be applied to the next copy.
        writer.execute("PRAGMA journal_mode = OFF")
        reader.backup(writer)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
