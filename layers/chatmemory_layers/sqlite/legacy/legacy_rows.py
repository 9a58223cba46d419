"""``adopt_rows``: turns rows that the desktop application has written into memories, in place.

Its columns stay as they are, except for an empty ``app_type`` or ``memory_type``; the added columns are filled in.
Vectors follow at the next re-embedding, because the application does not say which model made its own.
A row says neither who spoke nor whether its content was stated, so it never counts as a statement of the user.
"""

import logging
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, get_args

from chatmemory.input.rules import id_problem, text_problem
from chatmemory.longterm.memories import MemoryType, NewMemory
from chatmemory.longterm.memory_rules import MAX_TAGS, memory_problems
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory_layers.sql.columns import EPOCH, to_us
from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.engine.sqlite_problem import repository_error
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.memories.memory_row import tags_of
from chatmemory_layers.sqlite.memories.memory_store import load_user

log = logging.getLogger(__name__)

ROWS_AT_ONCE: Final = 200  # per transaction, for which other writers wait some hundredths of a second
_END_OF_TIME: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_DIGEST_CHARACTERS: Final = 16  # 64 bits: together with the number of the row, no two rows get the same id

SELECT_WAITING = """
SELECT id, timestamp, create_time, content, tags, session_id, app_type, memory_type FROM atomic_memory
WHERE memory_id IS NULL AND id > :after ORDER BY id LIMIT :limit
"""
# IGNORE: a store must open, even if another memory has the id already.
UPDATE_ROW = """
UPDATE OR IGNORE atomic_memory
SET memory_id = :memory_id, user_key = :user_key, app_type = coalesce(app_type, ''), memory_type = :memory_type,
    role = :role, source = :source, confidence = :confidence, created_at_us = :created_at_us, search_terms = :search_terms
WHERE id = :id
"""


def adopt_rows(connection: sqlite3.Connection, user: str) -> None:
    """Turn the rows that are not memories yet into memories of *user*; in a file that can only be read, leave them.

    It adopts some rows at a time, so that it can be interrupted, and continues when the file is opened again.

    Raises:
        sqlite3.Error: the file is locked for too long, full, or damaged.
    """
    adopted = ageless = left = after = 0
    with _any_text(connection):
        while _waiting(connection, after, limit=1):
            try:
                rows, memories = _adopt_some(connection, after, user)
            except sqlite3.OperationalError as error:
                if repository_error("adopt rows", error).problem != "read_only":
                    raise
                log.info("rows of the desktop application wait until the file can be written")
                break
            adopted += len(memories)
            ageless += sum(memory.created_at == EPOCH for memory in memories)
            left += len(rows) - len(memories)
            after = rows[-1] if rows else after
    if adopted:
        log.info("%d rows of the desktop application became memories, %d of unknown age", adopted, ageless)
    if left:
        log.info("%d rows of the desktop application hold no text, and stay as they are", left)


def _adopt_some(connection: sqlite3.Connection, after: int, user: str) -> tuple[list[int], list[NewMemory]]:
    """Adopt the next rows in one transaction; return their keys and the memories that they have become."""
    with transaction(connection):
        rows = _waiting(connection, after, limit=ROWS_AT_ONCE)
        memories = {row["id"]: memory for row in rows if (memory := _memory(row)) is not None}
        if memories:
            user_key = load_user(Transaction(connection.cursor()), user).key
            columns = [_columns(key, memory, user_key) for key, memory in memories.items()]
            connection.executemany(UPDATE_ROW, columns)
    return [row["id"] for row in rows], [*memories.values()]


def _waiting(connection: sqlite3.Connection, after: int, *, limit: int) -> list[sqlite3.Row]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(SELECT_WAITING, {"after": after, "limit": limit}).fetchall()


def _memory(row: sqlite3.Row) -> NewMemory | None:
    """Return the memory that *row* holds; None if its text is empty or cannot be read."""
    texts = [row["content"], *(row[name] or "" for name in ("tags", "session_id", "app_type"))]
    if any(map(text_problem, texts)):
        return None
    tags = (tag for tag in dict.fromkeys(tags_of(row["tags"] or "")) if id_problem(tag) is None)
    memory_type: MemoryType = row["memory_type"]
    memory = NewMemory(
        content=row["content"],
        id=_memory_id(row),
        tags=tuple(tags)[:MAX_TAGS],
        source="inferred",
        session_id=None if id_problem(row["session_id"]) else row["session_id"],
        memory_type=memory_type if memory_type in get_args(MemoryType) else "short_term",
        created_at=_created_at(row) or EPOCH,
    )
    return None if memory_problems("$", memory) else memory


def _memory_id(row: sqlite3.Row) -> str:
    """Return the id of the memory in *row*: the same in every copy of the file, different in another file."""
    said = repr((row["timestamp"], row["create_time"], row["content"]))
    return f"atomic-{row['id']}-{sha256(said.encode()).hexdigest()[:_DIGEST_CHARACTERS]}"


def _created_at(row: sqlite3.Row) -> datetime | None:
    """Return when *row* was written: its ``timestamp``, or else its ``create_time`` in local time; None: neither is known."""
    seconds = row["timestamp"]
    if isinstance(seconds, int | float) and 0 < seconds < _END_OF_TIME:
        return datetime.fromtimestamp(seconds, UTC)
    try:
        return datetime.fromisoformat(row["create_time"] or "").astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _columns(key: int, memory: NewMemory, user_key: int) -> dict[str, object]:
    return {
        "id": key,
        "memory_id": memory.id,
        "user_key": user_key,
        "memory_type": memory.memory_type,
        "role": memory.role,
        "source": memory.source,
        "confidence": memory.confidence,
        "created_at_us": to_us(memory.created_at or EPOCH),
        "search_terms": memory_terms(memory.content, tags=memory.tags),
    }


@contextmanager
def _any_text(connection: sqlite3.Connection) -> Generator[None]:
    """Read texts even if they are not UTF-8: their bytes become lone surrogates, not an error."""
    usual = connection.text_factory
    connection.text_factory = _text_of
    try:
        yield
    finally:
        connection.text_factory = usual


def _text_of(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")
