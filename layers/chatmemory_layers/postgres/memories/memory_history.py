"""``history``: reads the events of a memory and its earlier contents, which corrections keep in ``memory_version``."""

from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import from_json
from chatmemory.longterm.memories import Provenance
from chatmemory.longterm.memory_history import EarlierContent, MemoryHistory
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.events.event_log import MEMORY_EVENT_COLUMNS, event_of
from chatmemory_layers.postgres.memories.memory_row import OWNED, SEEN, seen_by
from chatmemory_layers.sql.columns import from_us

# ruff: noqa: S608  columns and conditions are put into statements, never values

SELECT_EVENTS: Final = f"""
SELECT {MEMORY_EVENT_COLUMNS} FROM memory_event
WHERE {OWNED} AND memory_id = $3 AND ($2 = '' OR owner_app IN ('', $2))
ORDER BY number
"""
SELECT_CONTENTS: Final = f"""
SELECT version, replaced_at_us, content, key, value, category, tags, confidence, source, message_ids, extractor, path
FROM memory_version
WHERE {OWNED} AND memory_key = (SELECT memory_key FROM atomic_memory WHERE {SEEN} AND memory_id = $3)
ORDER BY version
"""


async def history(connection: Connection, namespace: Namespace, memory_id: str) -> MemoryHistory:
    """Return the events of a memory that the namespace sees, and its earlier contents."""
    asked = (*seen_by(namespace), memory_id)
    events = tuple([event_of(row) for row in await connection.fetch(SELECT_EVENTS, *asked)])
    contents = [content_of(row) for row in await connection.fetch(SELECT_CONTENTS, *asked)]
    return MemoryHistory(events, tuple(contents))


def content_of(row: Row) -> EarlierContent:
    """Return the content of a memory before a correction, from a row of ``memory_version``."""
    return EarlierContent(
        row["version"],
        from_us(row["replaced_at_us"]),
        row["content"],
        row["key"],
        from_json(row["value"]),
        row["category"],
        tuple(row["tags"]),
        row["confidence"],
        row["source"],
        Provenance(tuple(row["message_ids"]), row["extractor"], row["path"]),
    )
