"""``history`` reads the past of a memory and its earlier contents; ``keep_content`` stores a content before a correction."""

import sqlite3
import time
from collections.abc import Iterable
from typing import Any, Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import from_json
from chatmemory.longterm.memory_history import EarlierContent, MemoryHistory
from chatmemory_layers.sql.columns import from_us
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import EVENT_COLUMNS, NS_PER_US, event_of
from chatmemory_layers.sqlite.memories.memory_row import SEEN, provenance_of, seen_by, tags_of

# ruff: noqa: S608  columns and conditions are put into statements, never values

KEEP_CONTENT: Final = """
INSERT INTO memory_version (memory_key, version, replaced_at_us, content, key, value, category, tags, confidence, source,
    provenance)
SELECT id, version, :now_us, content, key, value, category, tags, confidence, source, provenance
FROM atomic_memory WHERE id = :memory_key
"""
SELECT_EVENTS: Final = f"""
SELECT {EVENT_COLUMNS} FROM event
WHERE target_id = :memory_id AND action <> 'added' AND kind = 'memory' AND owner_user = :user
    AND (:app = '' OR owner_app IN ('', :app))
ORDER BY number
"""
SELECT_CONTENTS: Final = f"""
SELECT version, replaced_at_us, content, key, value, category, tags, confidence, source, provenance FROM memory_version
WHERE memory_key = (SELECT id FROM atomic_memory WHERE memory_id = :memory_id AND {SEEN})
ORDER BY version
"""
SELECT_CONTENTS_OF_KEY: Final = """
SELECT version, replaced_at_us, content, key, value, category, tags, confidence, source, provenance FROM memory_version
WHERE memory_key = :memory_key ORDER BY version
"""


def keep_content(transaction: Transaction, key: int) -> None:
    """Store the present content of the memory *key*, before a correction replaces it.

    Args:
        transaction: the transaction of the write.
        key: the key of the row of the memory.
    """
    kept = {"memory_key": key, "now_us": time.time_ns() // NS_PER_US}
    transaction.execute(KEEP_CONTENT, kept)


def history(connection: sqlite3.Connection, namespace: Namespace, memory_id: str) -> MemoryHistory:
    """Return the events of a memory that the namespace sees, and its earlier contents."""
    asked = {**seen_by(namespace), "memory_id": memory_id}
    events = tuple([event_of(row) for row in connection.execute(SELECT_EVENTS, asked).fetchall()])
    contents = _contents(connection.execute(SELECT_CONTENTS, asked).fetchall())
    return MemoryHistory(events, contents)


def contents_of(connection: sqlite3.Connection, memory_key: int) -> tuple[EarlierContent, ...]:
    """Return the content of this memory before each correction, oldest first.

    Args:
        connection: the connection to the file.
        memory_key: the key of the row of the memory.
    """
    return _contents(connection.execute(SELECT_CONTENTS_OF_KEY, {"memory_key": memory_key}).fetchall())


def _contents(rows: Iterable[tuple[Any, ...]]) -> tuple[EarlierContent, ...]:
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
