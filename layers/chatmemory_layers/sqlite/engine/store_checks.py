"""``store_checks``: the health checks of a store's file, which ``chatmemory doctor`` prints; they write nothing.

==== ======================================================================
code what is checked
==== ======================================================================
S001 SQLite's version
S002 the file itself, page by page
S003 rows that refer to missing rows
S004 the steps of the schema
S005 how much is kept
S006 history work that waits
S007 the log: whether writers and readers can work at the same time
S008 who may read the file
S009 free space on the disk
==== ======================================================================

A code is never given to another check.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

from chatmemory.effect.outcome import EffectFailed
from chatmemory.pastchats.past_chats import Finding
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.database import store_file
from chatmemory_layers.sqlite.engine.file_checks import Seen, damage, findings, privacy, room
from chatmemory_layers.sqlite.engine.file_connection import connect, log_size
from chatmemory_layers.sqlite.engine.migrations import MIGRATIONS, applied_steps, check_origin
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.sqlite.legacy.legacy_file import adoptable_version

MB: Final = 1_000_000

COUNT_STRANGERS = """
SELECT
    (SELECT count(*) FROM chat_message LEFT JOIN chat_conversation USING (conversation_key) WHERE conversation_id IS NULL),
    (SELECT count(*) FROM summarization_metadata LEFT JOIN chat_conversation USING (conversation_key)
     WHERE conversation_id IS NULL),
    (SELECT count(*) FROM atomic_memory LEFT JOIN memory_user USING (user_key)
     WHERE user_key IS NOT NULL AND user_name IS NULL),
    (SELECT count(*) FROM memory_embedding LEFT JOIN memory_space USING (space_key) LEFT JOIN atomic_memory ON id = memory_key
     WHERE model IS NULL OR id IS NULL)
"""
STRANGERS: Final = ("messages", "summaries", "memories", "vectors")
COUNT_KEPT = """
SELECT
    (SELECT count(*) FROM chat_conversation WHERE message_count > 0),
    (SELECT coalesce(sum(message_count), 0) FROM chat_conversation),
    (SELECT count(*) FROM atomic_memory),
    (SELECT count(*) FROM memory_embedding),
    (SELECT count(*) FROM item)
"""
COUNT_WORK = "SELECT count(*) FROM history_work"

_EXPORT: Final = "chatmemory export what can be read, move the file away, and chatmemory import"


def store_checks(settings: SqliteSettings) -> tuple[Finding, ...]:
    """Make all checks of the table above; return one finding for each code.

    Raises:
        EffectFailed: with a ``RepositoryError``: the file does not exist, cannot be opened, or is not a store.
    """
    path = store_file(settings)
    try:
        with closing(connect(path, mode="ro", timeout_seconds=settings.busy_timeout_seconds)) as connection:
            is_desktops = adoptable_version(connection, settings) is not None
            checks = _CHECKS_OF_A_DESKTOP_FILE if is_desktops else _CHECKS
            return tuple(findings(checks, _EXPORT, (*DRIVER_ERRORS, OSError), connection, path))
    except DRIVER_ERRORS as error:
        raise EffectFailed(repository_error("check the store", error)) from error


Check: TypeAlias = Callable[[sqlite3.Connection, Path], Iterator[Seen]]


def _version(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    yield "ok", f"{path}, SQLite {sqlite3.sqlite_version}", ""


def _pages(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    if complaints := damage(connection):
        yield "error", f"the file is damaged: {'; '.join(complaints)}", _EXPORT
    else:
        yield "ok", "the file is whole", ""


def _references(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    counts = zip(connection.execute(COUNT_STRANGERS).fetchone(), STRANGERS, strict=True)
    if strangers := [f"{count} {name}" for count, name in counts if count]:
        yield "error", f"rows refer to missing rows: {', '.join(strangers)}", _EXPORT
    else:
        yield "ok", "all references are valid", ""


def _steps(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    try:
        check_origin(connection)
    except EffectFailed as failed:
        yield "error", str(failed.error), "open it with the program that made it"
        return
    taken = len(applied_steps(connection))
    if taken < len(MIGRATIONS):
        missing = len(MIGRATIONS) - taken
        yield (
            "warning",
            f"{missing} steps of the schema are missing",
            "the next command that opens the store applies them",
        )
    else:
        yield "ok", f"the schema is at step {MIGRATIONS[-1].number}", ""


def _adoption(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    yield "warning", "a file of the desktop application", "the next command that opens it makes it a store"


def _kept(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    conversations, messages, memories, vectors, items = connection.execute(COUNT_KEPT).fetchone()
    size = (path.stat().st_size + log_size(path)) / MB
    said = (
        f"{conversations} conversations with {messages} messages, {memories} memories with {vectors} vectors"
    )
    yield "ok", f"{said}, {items} items, {size:.1f} MB", ""


def _work(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    (waiting,) = connection.execute(COUNT_WORK).fetchone()
    yield "ok", f"{waiting} conversations wait for their history strategy", ""


def _journal(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode == "wal":
        yield "ok", f"journal mode {mode}", ""
    else:
        yield (
            "warning",
            f"journal mode {mode}: readers wait for writers",
            "open the store once, which sets wal; if it stays so, keep the file on a local disk",
        )


def _privacy(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    return privacy(path)


def _room(connection: sqlite3.Connection, path: Path) -> Iterator[Seen]:
    return room(path, path.stat().st_size)


_CHECKS: Final[Mapping[str, Check]] = {
    "S001": _version,
    "S002": _pages,
    "S003": _references,
    "S004": _steps,
    "S005": _kept,
    "S006": _work,
    "S007": _journal,
    "S008": _privacy,
    "S009": _room,
}
_CHECKS_OF_A_DESKTOP_FILE: Final[Mapping[str, Check]] = {"S001": _version, "S002": _pages, "S004": _adoption}
