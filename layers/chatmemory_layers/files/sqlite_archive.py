"""``conversations`` and ``StoreReader``: read the SQLite stores of other tools as archives of conversations.

A store is never changed.  It is copied by SQLite's backup, also while its tool writes to it, with the log beside it
(``-wal``).  The copy is a temporary database of SQLite, a file without a name: a process that is killed leaves none behind.
"""

import json
import os
import sqlite3
import struct
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, TypeAlias, cast, final
from urllib.parse import quote

from attrs import evolve, frozen

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.shapes.sqlite_stores import (
    KNOWN_TABLES,
    NEWER_TABLE,
    STORES,
    SqliteStore,
    text_at,
)
from chatmemory_layers.files.folder_search import Found
from chatmemory_layers.files.sqlite_tables import columns_of
from chatmemory_layers.files.zip_archive import MemberReader

MARK: Final = b"SQLite format 3\x00"
# A Unicode error: an id, or a name in SQLite's complaint of a damaged file, is not UTF-8.
UNREADABLE: Final = (sqlite3.Error, OSError, UnicodeError)
BUSY_SECONDS: Final = 5.0
MOST_SECONDS: Final = 120.0  # for a store that keeps changing
SETTLED_SECONDS: Final = 0.1  # file systems note the time of a change every 10 ms at most
STEP_PAGES: Final = 4_096
BLOCK_CHARACTERS: Final = 1 << 18
MOST_BYTES_IN_MEMORY: Final = 1 << 30

_ENDINGS: Final = (".db", ".vscdb", ".sqlite", ".sqlite3")
_JOURNAL_MODE: Final = slice(18, 20)  # bytes of the file, each 1 or _WAL_MODE
_WAL_MODE: Final = 2

# The header of a log: magic, version, page bytes, checkpoint, two salts, two checksums.
_HEADER: Final = struct.Struct(">8I")
# Page number, pages of the file after a commit or 0, two salts, two checksums.
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682  # the lowest bit says that checksums are of big-endian words
_PAGE_BYTES: Final = frozenset(1 << power for power in range(9, 17))

_State: TypeAlias = tuple[tuple[int, int, int], ...]
_Sums: TypeAlias = tuple[int, int]


@final
@frozen
class _Copy:
    """A copy of a store in the state *state*; the connection is closed when nothing reads it any more.

    Attributes:
        kinds: the stores in it; empty: it has a form that cannot be read.
        tables: the names of its tables.
        rows: the conversations, each with its store, by the names of their members.
    """

    state: _State
    connection: sqlite3.Connection
    kinds: Sequence[SqliteStore]
    tables: frozenset[str]
    rows: Mapping[str, tuple[SqliteStore, sqlite3.Row]]

    def __attrs_post_init__(self) -> None:
        weakref.finalize(self, self.connection.close)


_copies: Final[dict[str, _Copy]] = {}
"""The newest copy of each store, by its path: while the store has no news, this process copies nothing."""


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
        copy = _copies.get(real_path)
        if copy is None or copy.state != _state(real_path):
            _copies.pop(real_path, None)
            if _is_of_no_known_tool(real_path):
                yield store
                return
            copy = _copied(real_path)
        if not copy.kinds:
            yield _unknown(store, copy)
        for member, (_, row) in copy.rows.items():
            yield _file(store, member, row)
        if newer := _newer_tables(copy):
            detail = f"tables in a form that is not read yet: {', '.join(newer)}"
            yield HistoryIssue("not_read", store.path, detail)
    except UNREADABLE as reason:
        yield HistoryIssue("unreadable", store.path, _why(reason))


def holds(real_path: str, member: str) -> bool:
    """Return whether *member* was in the store when it was copied; True for a store that cannot be read."""
    copy = _copies.get(real_path)
    return not _is_of_no_known_tool(real_path) if copy is None else member in copy.rows


@final
class StoreReader(MemberReader):
    """A ``TrackedReader`` of a conversation, without neighbouring files."""

    def blocks(self) -> Iterator[bytes]:
        """Yield the rows as JSON Lines, as they were when the conversation was found.

        Raises:
            UnreadableHistoryError: the store cannot be read, or no longer has the conversation.
        """
        try:
            copy = _copies.get(self.real_path) or _copied(self.real_path)
            found = copy.rows.get(self.file.member)
            if found is None:
                raise UnreadableHistoryError("it is no longer in the store")
            kind, row = found
            yield from _lines(copy.connection, kind, row["id"])
        except UNREADABLE as reason:
            raise UnreadableHistoryError(_why(reason)) from reason

    def sibling(self, _relative: str, /) -> None:
        """Return None: the conversations of a store are rows, not files."""
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


def _file(store: HistoryFile, member: str, row: sqlite3.Row) -> HistoryFile:
    changed = instant_of(cast("Json", row["stamp"]))
    modified_ns = store.modified_ns if changed is None else int(changed.timestamp() * 1e6) * 1_000
    return evolve(store, member=member, size=int(row["size"] or 0), modified_ns=modified_ns)


def _name(kind: SqliteStore, native_id: object) -> str:
    return f"{kind.tool}/{quote(str(native_id), safe='', errors='surrogateescape')}.jsonl"


def _kinds(connection: sqlite3.Connection) -> Iterator[SqliteStore]:
    """Yield the known kinds of store in a file."""
    columns: dict[str, frozenset[str]] = {}
    for store in STORES:
        for table in store.tables:
            if table not in columns:
                columns[table] = columns_of(connection, table)
        if all(needed <= columns[table] for table, needed in store.tables.items()):
            yield store


def _is_of_no_known_tool(real_path: str) -> bool:
    """Return whether the store belongs to no known tool, from its tables, without a lock or a copy."""
    if os.path.exists(f"{real_path}-wal"):
        return False  # the tables may be in the log
    try:
        with closing(_connected(real_path, "immutable=1")) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {row[0] for row in found}
            is_ours = next(_kinds(connection), None) is not None
    except UNREADABLE:
        return False  # it is being written, or damaged: opening the copy decides
    return not is_ours and not tables & KNOWN_TABLES.keys()


def _unknown(store: HistoryFile, copy: _Copy) -> Found:
    """Return the file itself, or, if its tool is known, the issue that the store has an unknown form."""
    tool = next((KNOWN_TABLES[table] for table in sorted(copy.tables & KNOWN_TABLES.keys())), "")
    if not tool:
        return store
    detail = (
        f"a store of {tool} in a form that is not read yet: its tables are {', '.join(sorted(copy.tables))}"
    )
    return HistoryIssue("not_read", store.path, detail[:500])


def _newer_tables(copy: _Copy) -> list[str]:
    """Return the tables with rows that are not read, beside those that are."""
    read = frozenset[str]().union(*(kind.tables for kind in copy.kinds))
    newer = [table for table in sorted(copy.tables - read) if copy.kinds and NEWER_TABLE.fullmatch(table)]
    return [one for one in newer if copy.connection.execute(f"SELECT 1 FROM {one} LIMIT 1").fetchone()]  # noqa: S608  a name that the pattern allows


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _copied(real_path: str) -> _Copy:
    """Copy the store in its present state, and keep the copy.

    A copy that was made without a lock is valid if the store has not changed meanwhile; otherwise it is made again.
    """
    begun = time.monotonic()
    while time.monotonic() - begun <= BUSY_SECONDS:
        looked_ns, state = time.time_ns(), _state(real_path)
        with ExitStack() as undo:
            # The next run may take place in another thread.
            connection = undo.enter_context(closing(sqlite3.connect("", check_same_thread=False)))
            try:
                is_locked = _back_up(real_path, connection)
            except UNREADABLE:
                if state == _state(real_path):
                    raise
            else:
                if is_locked or (state == _state(real_path) and not _is_fresh(state, looked_ns)):
                    copy = _copies[real_path] = _listed(state, connection, Path(real_path).stem)
                    undo.pop_all()
                    return copy
        time.sleep(SETTLED_SECONDS)
    raise sqlite3.OperationalError("database is locked")


def _listed(state: _State, connection: sqlite3.Connection, stem: str) -> _Copy:
    connection.row_factory = sqlite3.Row
    connection.text_factory = _text
    connection.create_function("protobuf", 2, text_at, deterministic=True)
    kinds = tuple(_kinds(connection))
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    rows: dict[str, tuple[SqliteStore, sqlite3.Row]] = {}
    for kind in kinds:
        for row in connection.execute(kind.conversations, {"stem": stem}):
            member = _name(kind, row["id"])
            if member not in rows or not rows[member][1]["size"]:
                rows[member] = kind, row
    return _Copy(state, connection, kinds, frozenset(row[0] for row in tables), rows)


def _is_fresh(state: _State, looked_ns: int) -> bool:
    """Return whether the store changed so recently that another change may have left the same time."""
    return any(0 <= looked_ns - changed_ns < SETTLED_SECONDS * 1e9 for _, changed_ns, _ in state)


def _back_up(real_path: str, copy: sqlite3.Connection) -> bool:
    """Copy the store at *real_path*, and return whether a lock kept its tool from changing what was copied.

    Beside a store in WAL mode an ordinary connection would create a log and its index, or write to them.
    """
    log, index = f"{real_path}-wal", f"{real_path}-shm"
    if not _is_in_wal_mode(real_path):
        with closing(_connected(real_path, "mode=ro")) as store:
            # In steps: a writer waits for one of them. A step after a change starts the copy again.
            store.backup(copy, pages=STEP_PAGES, progress=_time_limit(), sleep=0.02)
        return True
    if not (os.path.exists(log) and os.path.getsize(log)):
        with closing(_connected(real_path, "immutable=1")) as store:
            store.backup(copy)
        return False
    if os.path.exists(index):
        with closing(_connected(real_path, "mode=ro&readonly_shm=1")) as store:
            store.backup(copy)
        return True
    if os.path.getsize(real_path) + os.path.getsize(log) > MOST_BYTES_IN_MEMORY:
        msg = "its log has no index, and is too large to be read without one: open it with its tool"
        raise sqlite3.OperationalError(msg)
    with closing(sqlite3.connect(":memory:")) as store:
        store.deserialize(with_log(Path(real_path).read_bytes(), Path(log).read_bytes()))
        store.backup(copy)
    return False


def _connected(real_path: str, options: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(real_path)}?{options}", uri=True, timeout=BUSY_SECONDS)


def _time_limit() -> Callable[[int, int, int], None]:
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
        return _WAL_MODE in file.read(_JOURNAL_MODE.stop)[_JOURNAL_MODE]


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


def with_log(store: bytes, log: bytes) -> bytes:
    """Return the file *store* with the committed pages of *log*, in the mode that needs no log.

    SQLite does the same after a crash, but cannot read a log whose index (``-shm``) is missing without creating the index
    beside it.  For the format see https://www.sqlite.org/fileformat2.html, section 4: a header and frames, each a page with
    a running checksum.
    """
    made = bytearray(store)
    if len(log) >= _HEADER.size:
        _apply(made, log)
    made[_JOURNAL_MODE] = b"\x01\x01"
    return bytes(made)


def _apply(made: bytearray, log: bytes) -> None:
    magic, _, page_bytes, _, *salts, first, second = _HEADER.unpack_from(log)
    words = ">I" if magic & 1 else "<I"
    sums = _sums(words, log[: _HEADER.size - 8], (0, 0))
    if magic & ~1 != _MAGIC or page_bytes not in _PAGE_BYTES or sums != (first, second):
        return
    pages: dict[int, bytes] = {}
    step = _FRAME.size + page_bytes
    for start in range(_HEADER.size, len(log) - step + 1, step):
        number, committed_pages, *frame_salts, first, second = _FRAME.unpack_from(log, start)
        page = log[start + _FRAME.size : start + step]
        sums = _sums(words, page, _sums(words, log[start : start + 8], sums))
        if not number or frame_salts != salts or sums != (first, second):
            return  # the rest was not written, or belongs to an earlier round of the log
        if committed_pages * page_bytes > len(made) + len(log):
            return  # no tool writes it: each page is in the file or in the log
        pages[number] = page
        if committed_pages:
            _write(made, pages, committed_pages * page_bytes)
            pages = {}


def _write(made: bytearray, pages: dict[int, bytes], length: int) -> None:
    made.extend(bytes(max(length - len(made), 0)))
    del made[length:]
    for number, page in pages.items():
        start = (number - 1) * len(page)
        if start < length:
            made[start : start + len(page)] = page


def _sums(words: str, data: bytes, sums: _Sums) -> _Sums:
    """Return the running checksum *sums* after *data*, read as pairs of *words* of 32 bits."""
    first, second = sums
    numbers = iter(struct.unpack(f"{words[0]}{len(data) // 4}{words[1]}", data))
    for number in numbers:
        first = (first + number + second) & 0xFFFFFFFF
        second = (second + next(numbers) + first) & 0xFFFFFFFF
    return first, second
