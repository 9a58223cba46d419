"""``history`` reads the past of a memory; ``whole`` reads memories with all that moves with them to another store.

``keep_content`` stores the content of a memory before a correction, ``keep_past`` the past of an imported memory.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from chatmemory.access.namespace import Namespace
from chatmemory.effect.lazy import np
from chatmemory.input.json_value import from_json
from chatmemory.longterm.changes import MemoryName
from chatmemory.longterm.memories import EarlierContent, MemoryHistory
from chatmemory.longterm.repository_values import ImportedPast, WholeMemory
from chatmemory_layers.sql.columns import from_us, to_us
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import EVENT_COLUMNS, NS_PER_US, event_in
from chatmemory_layers.sqlite.memories.memory_row import (
    SEEN,
    memory_of,
    provenance_of,
    said_columns,
    seen_by,
    tags_of,
)

# ruff: noqa: S608  columns and conditions are put into statements, never values

_CONTENT: Final = "content, key, value, category, tags, confidence, source, provenance"
KEEP_CONTENT: Final = f"""
INSERT INTO memory_version (memory_key, version, replaced_at_us, {_CONTENT})
SELECT id, version, :now_us, {_CONTENT} FROM atomic_memory WHERE id = :memory_key
"""
SELECT_EVENTS: Final = f"""
SELECT {EVENT_COLUMNS} FROM event
WHERE target_id = :memory_id AND action <> 'added' AND kind = 'memory' AND owner_user = :user
    AND (:app = '' OR owner_app IN ('', :app))
ORDER BY number
"""
SELECT_CONTENTS: Final = f"""
SELECT version, replaced_at_us, {_CONTENT} FROM memory_version
WHERE memory_key = (SELECT id FROM atomic_memory WHERE memory_id = :memory_id AND {SEEN})
ORDER BY version
"""
SELECT_CONTENTS_OF_KEY: Final = f"""
SELECT version, replaced_at_us, {_CONTENT} FROM memory_version WHERE memory_key = :memory_key ORDER BY version
"""
SELECT_USERS: Final = (
    "SELECT user_key, user_name FROM memory_user WHERE user_name >= :user ORDER BY user_name"
)
SELECT_WHOLE: Final = """
SELECT memory_record.*, (SELECT dedup_key FROM atomic_memory WHERE id = memory_key),
    (SELECT vector FROM memory_embedding WHERE memory_embedding.memory_key = memory_record.memory_key)
FROM memory_record WHERE user_key = :user_key AND memory_id > :after ORDER BY memory_id LIMIT :limit
"""
SET_PAST: Final = """
UPDATE atomic_memory SET last_used_at_us = :last_used_at_us, use_count = :use_count, superseded_at_us = :superseded_at_us,
    superseded_by = :superseded_by, version = :version
WHERE id = :memory_key
"""
INSERT_CONTENT: Final = f"""
INSERT INTO memory_version (memory_key, version, replaced_at_us, {_CONTENT})
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def history(connection: sqlite3.Connection, namespace: Namespace, memory_id: str) -> MemoryHistory:
    """Return the events of a memory that the namespace sees, and its earlier contents."""
    asked = {**seen_by(namespace), "memory_id": memory_id}
    events = tuple([event_in(row) for row in connection.execute(SELECT_EVENTS, asked).fetchall()])
    contents = _contents(connection.execute(SELECT_CONTENTS, asked).fetchall())
    return MemoryHistory(events, contents)


def _contents(rows: Iterable[tuple[Any, ...]]) -> tuple[EarlierContent, ...]:
    """Return the content of a memory before each correction, oldest first."""
    return tuple(
        [
            EarlierContent(
                version,
                from_us(replaced_at_us),
                content,
                key,
                from_json(value),
                category,
                () if tags is None else tags_of(tags),
                confidence,
                source,
                provenance_of(provenance),
            )
            for version, replaced_at_us, content, key, value, category, tags, confidence, source, provenance in rows
        ]
    )


def keep_content(transaction: Transaction, key: int) -> None:
    """Store the present content of the memory *key*, before a correction replaces it."""
    kept = {"memory_key": key, "now_us": time.time_ns() // NS_PER_US}
    transaction.execute(KEEP_CONTENT, kept)


def whole(
    connection: sqlite3.Connection, *, limit: int, after: MemoryName | None = None
) -> tuple[WholeMemory, ...]:
    """Return memories of all users, true now or not, with everything that is copied with them to another store."""
    return tuple(islice(_behind(connection, limit, after or ("", "")), limit))


def _behind(connection: sqlite3.Connection, limit: int, after: MemoryName) -> Iterator[WholeMemory]:
    for user_key, user_id in connection.execute(SELECT_USERS, {"user": after[0]}).fetchall():
        asked = {
            "user_key": user_key,
            "after": after[1] if user_id == after[0] else "",
            "limit": limit,
        }
        for row in connection.execute(SELECT_WHOLE, asked).fetchall():
            yield _whole(connection, row, Namespace(user_id))


def _whole(connection: sqlite3.Connection, row: tuple[Any, ...], namespace: Namespace) -> WholeMemory:
    *record, memory_key, dedup_key, vector = row
    memory = memory_of((*record, memory_key), namespace)
    is_over = memory.superseded_at is not None
    earlier = (
        connection.execute(SELECT_CONTENTS_OF_KEY, {"memory_key": memory_key}) if memory.version > 1 else ()
    )
    return WholeMemory(
        memory,
        _contents(earlier),
        None if is_over else dedup_key,
        None if vector is None else np.frombuffer(vector, "<f4"),
    )


def keep_past(transaction: Transaction, memory_key: int, past: ImportedPast) -> None:
    """Store the uses, the end and the earlier contents that an imported memory had in its former store."""
    columns = {
        "memory_key": memory_key,
        "last_used_at_us": None if past.last_accessed is None else to_us(past.last_accessed),
        "use_count": past.access_count,
        "superseded_at_us": None if past.superseded_at is None else to_us(past.superseded_at),
        "superseded_by": past.superseded_by,
        "version": past.version,
    }
    transaction.execute(SET_PAST, columns)
    for content in past.earlier:
        replaced = memory_key, content.version, to_us(content.replaced_at)
        transaction.execute(INSERT_CONTENT, (*replaced, *said_columns(content)))
