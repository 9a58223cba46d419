"""Reads the SQLite stores of other tools as archives whose members are conversations; a store is never changed.

A store is copied by SQLite's backup, also while its tool writes to it, with the log beside it (``-wal``).  The copy stays
among the temporary files of this process until the store changes, so that a run without news copies nothing.
"""

import atexit
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias, cast, final
from urllib.parse import quote

from attrs import evolve, field, frozen

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.stores.sqlite_stores import KNOWN_TABLES, STORES, SqliteStore
from chatmemory_layers.files.folder_search import Found

MARK: Final = b"SQLite format 3\x00"
BUSY_SECONDS: Final = 5.0
MOST_SECONDS: Final = 120.0  # for a store that keeps changing
STEP_PAGES: Final = 4_096
BLOCK_CHARACTERS: Final = 1 << 18

_WAL_MODE: Final = 2  # the value of bytes 18 and 19 of the file
_ENDINGS: Final = (".db", ".vscdb", ".sqlite", ".sqlite3")
_State: TypeAlias = tuple[tuple[int, int, int], ...]


@final
@frozen
class _Copy:
    """A copy of a store in the state *state*."""

    state: _State
    folder: str

    @property
    def path(self) -> str:
        return os.path.join(self.folder, "store.db")


_copies: dict[str, _Copy] = {}


@atexit.register
def forget_copies() -> None:
    """Delete the copies of this process."""
    while _copies:
        _, copy = _copies.popitem()
        shutil.rmtree(copy.folder, ignore_errors=True)


def is_store(real_path: str) -> bool:
    """Return whether *real_path* has a database's suffix and is a SQLite file."""
    if not real_path.lower().endswith(_ENDINGS):
        return False
    try:
        with open(real_path, "rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False


def conversations(store: HistoryFile, real_path: str) -> Iterator[Found]:
    """Yield the conversations of *store* as files, or the file itself if it belongs to no known tool.

    A damaged or locked store yields an issue.
    """
    try:
        if _is_none_of_ours(real_path):
            yield store
            return
        with closing(_opened(real_path)) as connection:
            kind = _kind(connection)
            if kind is None:
                yield _unknown(store, connection)
                return
            for row in connection.execute(kind.conversations).fetchall():
                yield _member(store, kind, row)
    except (sqlite3.Error, OSError) as reason:
        yield HistoryIssue("unreadable", store.path, _why(reason))


def holds(real_path: str, member: str) -> bool:
    """Return whether *member* is in the store; True for a store that cannot be read."""
    try:
        with closing(_opened(real_path)) as connection:
            kind = _kind(connection)
            rows = [] if kind is None else connection.execute(kind.conversations).fetchall()
            return any(_name(kind, row["id"]) == member for row in rows if kind is not None)
    except (sqlite3.Error, OSError):
        return True


@final
@frozen
class StoreReader:
    """A ``TrackedReader`` of a conversation; it has no neighbouring files."""

    file: HistoryFile
    real_path: str
    also: dict[str, tuple[int, int]] = field(init=False, factory=dict[str, tuple[int, int]])

    @property
    def path(self) -> str:
        """The path of the store and the member."""
        return self.file.source

    @property
    def name(self) -> str:
        """The last part of the member's name."""
        return self.file.member.rpartition("/")[2]

    def blocks(self) -> Iterator[bytes]:
        """Yield the rows as JSON Lines.

        Raises:
            UnreadableHistoryError: the store cannot be read, or no longer has the conversation.
        """
        try:
            with closing(_opened(self.real_path)) as connection:
                kind = _kind(connection)
                rows = () if kind is None else connection.execute(kind.conversations).fetchall()
                found = [row["id"] for row in rows if kind and _name(kind, row["id"]) == self.file.member]
                if kind is None or not found:
                    raise UnreadableHistoryError("it is no longer in the store")
                yield from _lines(connection, kind, found[0])
        except (sqlite3.Error, OSError) as reason:
            raise UnreadableHistoryError(_why(reason)) from reason

    def sibling(self, _relative: str, /) -> None:
        """Return None: a store has no files."""
        return

    def entries(self, _relative: str = ".", /) -> Sequence[str]:
        """Return nothing."""
        return ()


def _lines(connection: sqlite3.Connection, kind: SqliteStore, native_id: str) -> Iterator[bytes]:
    held: list[str] = []
    length = 0
    for name, query in kind.records:
        for row in connection.execute(query, {"id": native_id}):
            record = {"record": name, **{key: _value(row[key]) for key in row.keys()}}  # noqa: SIM118  a row is no mapping
            held.append(json.dumps(record, ensure_ascii=False))
            length += len(held[-1])
            if length >= BLOCK_CHARACTERS:
                yield _written(held)
                held, length = [], 0
    if held:
        yield _written(held)


def _written(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def _value(value: object) -> Json:
    """Return the value of a column; JSON is parsed, and damaged JSON stays text."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str) and text[:1] in ("{", "["):
        try:
            return cast("Json", json.loads(text))
        except (ValueError, RecursionError):
            return text
    return cast("Json", text)


def _member(store: HistoryFile, kind: SqliteStore, row: sqlite3.Row) -> HistoryFile:
    changed = instant_of(cast("Json", row["stamp"]))
    modified_ns = store.modified_ns if changed is None else int(changed.timestamp() * 1e6) * 1_000
    return evolve(store, member=_name(kind, row["id"]), size=int(row["size"] or 0), modified_ns=modified_ns)


def _name(kind: SqliteStore, native_id: object) -> str:
    return f"{kind.tool}/{quote(str(native_id), safe='')}.jsonl"


def _kind(connection: sqlite3.Connection) -> SqliteStore | None:
    """Return the known kind of store, if any."""
    columns: dict[str, frozenset[str]] = {}
    for store in STORES:
        for table in store.tables:
            if table not in columns:
                found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
                columns[table] = frozenset(row[0] for row in found)
        if all(needed <= columns[table] for table, needed in store.tables.items()):
            return store
    return None


def _is_none_of_ours(real_path: str) -> bool:
    """Return whether the store belongs to no known tool, from its tables, without a lock or a copy."""
    if os.path.exists(f"{real_path}-wal"):
        return False  # the tables may be in the log
    try:
        with closing(sqlite3.connect(f"file:{quote(real_path)}?immutable=1", uri=True)) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {row[0] for row in found}
    except sqlite3.Error:
        return False  # it is being written, or damaged: opening the copy decides
    is_ours = any(store.tables.keys() <= tables for store in STORES)
    return not is_ours and not tables & KNOWN_TABLES.keys()


def _unknown(store: HistoryFile, connection: sqlite3.Connection) -> Found:
    """Return the file itself, or, if its tool is known, the issue that the store has an unknown form."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    tool = next((KNOWN_TABLES[table] for table in sorted(tables & KNOWN_TABLES.keys())), "")
    if not tool:
        return store
    detail = f"a store of {tool} in a form that is not read yet: its tables are {', '.join(sorted(tables))}"
    return HistoryIssue("unreadable", store.path, detail[:500])  # reported, never skipped silently


def _opened(real_path: str) -> sqlite3.Connection:
    """Open a copy of the current state of the store."""
    state = _state(real_path)
    copy = _copies.get(real_path)
    if copy is None or copy.state != state:
        if copy is not None:
            shutil.rmtree(_copies.pop(real_path).folder, ignore_errors=True)
        copy = _Copy(state, tempfile.mkdtemp(prefix="chatmemory-"))
        try:
            _take(real_path, copy.path)
        except BaseException:
            shutil.rmtree(copy.folder, ignore_errors=True)
            raise
        _copies[real_path] = copy
    connection = sqlite3.connect(f"file:{quote(copy.path)}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    connection.text_factory = _text
    return connection


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _take(real_path: str, target: str) -> None:
    """Copy the store at *real_path*.

    A store in WAL mode that no process has open has no log, and is opened as immutable: otherwise SQLite would create a
    log beside it.  A store whose log was left behind without its index is copied with the log, and read in the copy.
    """
    log, index = f"{real_path}-wal", f"{real_path}-shm"
    has_log = os.path.exists(log) and os.path.getsize(log) > 0
    if _is_in_wal_mode(real_path) and has_log and not os.path.exists(index):
        shutil.copyfile(real_path, target)
        shutil.copyfile(log, f"{target}-wal")
        with closing(sqlite3.connect(target)) as copied:
            copied.execute("PRAGMA journal_mode = DELETE")
        return
    is_in_wal_mode = _is_in_wal_mode(real_path)
    is_idle = is_in_wal_mode and not has_log
    uri = f"file:{quote(real_path)}?{'immutable=1' if is_idle else 'mode=ro'}"
    with (
        closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as source,
        closing(sqlite3.connect(target)) as made,
    ):
        if is_in_wal_mode:
            source.execute("BEGIN")  # one state from the first page to the last, and no writer waits for it
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.backup(made)
        else:
            # In steps: a writer waits for one of them. A step after a change starts the copy again.
            source.backup(made, pages=STEP_PAGES, progress=_patience(), sleep=0.02)
        made.execute("PRAGMA journal_mode = DELETE")


def _patience() -> Callable[[int, int, int], None]:
    """Return a callback that ends a backup without progress, which would otherwise wait for ever."""
    last = -1
    begun = since = time.monotonic()

    def ask(_status: int, remaining: int, _total: int) -> None:
        nonlocal last, since
        now = time.monotonic()
        if remaining != last:
            last, since = remaining, now
        if now - since > BUSY_SECONDS or now - begun > MOST_SECONDS:
            raise sqlite3.OperationalError("database is locked")

    return ask


def _is_in_wal_mode(real_path: str) -> bool:
    with open(real_path, "rb") as file:
        return _WAL_MODE in file.read(20)[18:]


def _state(real_path: str) -> _State:
    """Return size, modification time and inode of the store and of its log."""
    seen: list[tuple[int, int, int]] = []
    for path in (real_path, f"{real_path}-wal"):
        try:
            found = Path(path).stat()
        except OSError:
            seen.append((-1, -1, -1))
        else:
            seen.append((found.st_size, found.st_mtime_ns, found.st_ino))
    return tuple(seen)


def _why(reason: Exception) -> str:
    if isinstance(reason, OSError):
        return (reason.strerror or str(reason)).lower()
    said = str(reason)
    if "locked" in said or "busy" in said:
        return "a SQLite store that its tool is writing to: run again"
    return f"a SQLite store that cannot be read: {said}"
