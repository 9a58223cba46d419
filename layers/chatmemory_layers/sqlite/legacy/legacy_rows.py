"""``adopt_rows``: turns rows that the desktop application has written into memories, in place.

Its columns stay as they are, except for an empty ``app_type`` or ``memory_type``; the added columns are filled in.
Vectors follow at the next re-embedding, because the application does not say which model made its own.
``legacy_memory.py`` reads the content of such a row.
"""

import logging
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from chatmemory.input.rules import text_problem
from chatmemory.longterm.memories import NewMemory
from chatmemory.longterm.memory_rules import memory_problems
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory_layers.sql.columns import EPOCH, to_us
from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.engine.sqlite_problem import repository_error
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.legacy.legacy_memory import memory_of_row, text_of
from chatmemory_layers.sqlite.memories.memory_store import load_user

log = logging.getLogger(__name__)

ROWS_AT_ONCE: Final = 200  # per transaction, for which other writers wait some hundredths of a second

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

    Args:
        connection: the connection to the file.
        user: the name of the user to whom the memories belong.
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


def _waiting(connection: sqlite3.Connection, after: int, *, limit: int) -> list[dict[str, Any]]:
    cursor = connection.execute(SELECT_WAITING, {"after": after, "limit": limit})
    names = [name for name, *_ in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _memory(row: Mapping[str, Any]) -> NewMemory | None:
    """Return the memory that *row* holds; None if it holds no text, or text that cannot be read."""
    texts = [row["content"], *(row[name] or "" for name in ("tags", "session_id", "app_type"))]
    memory = memory_of_row(row)
    return None if any(map(text_problem, texts)) or memory_problems("$", memory) else memory


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
    """Read texts even if they are not UTF-8."""
    usual = connection.text_factory
    connection.text_factory = text_of
    try:
        yield
    finally:
        connection.text_factory = usual
