"""``history`` reads the past of a memory; ``whole`` reads memories with all that moves with them to another store.

``keep_pasts`` stores the past of imported memories.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.effect.lazy import np
from chatmemory.input.json_value import from_json, to_json
from chatmemory.longterm.changes import MemoryName, name_of
from chatmemory.longterm.memories import EarlierContent, MemoryHistory, Provenance
from chatmemory.longterm.repository_values import MemoryDraft, WholeMemory
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.spread_keys import user_key
from chatmemory_layers.postgres.events.event_log import MEMORY_EVENT_COLUMNS, event_in
from chatmemory_layers.postgres.memories.memory_row import OWNED, RECORD, SEEN, MemoryRow, memory_of, seen_by
from chatmemory_layers.sql.columns import from_us, to_us

# ruff: noqa: S608  columns and conditions are put into statements, never values

SELECT_EVENTS: Final = f"""
SELECT {MEMORY_EVENT_COLUMNS} FROM memory_event
WHERE {OWNED} AND memory_id = $3 AND ($2 = '' OR owner_app IN ('', $2))
ORDER BY number
"""
_CONTENT: Final = """version, replaced_at_us, content, key, value, category, tags, confidence, source, message_ids, extractor,
    path"""
SELECT_CONTENTS: Final = f"""
SELECT {_CONTENT} FROM memory_version
WHERE {OWNED} AND memory_key = (SELECT memory_key FROM atomic_memory WHERE {SEEN} AND memory_id = $3)
ORDER BY version
"""
SELECT_NEXT_USER: Final = """
SELECT user_key, user_name FROM memory_user WHERE user_name > $1 COLLATE "C" ORDER BY user_name COLLATE "C" LIMIT 1
"""
SELECT_WHOLE: Final = f"""
SELECT memory_record.*,
    (SELECT dedup_key FROM atomic_memory
     WHERE atomic_memory.user_key = memory_record.user_key AND atomic_memory.memory_key = memory_record.memory_key),
    (SELECT vector::real[] FROM memory_embedding
     WHERE memory_embedding.user_key = memory_record.user_key AND memory_embedding.memory_key = memory_record.memory_key)
FROM {RECORD} WHERE user_key = $1 AND memory_id > $2 ORDER BY memory_id LIMIT $3
"""
SELECT_EARLIER: Final = f"""
SELECT memory_key, {_CONTENT} FROM memory_version WHERE user_key = $1 AND memory_key = ANY ($2::uuid[]) ORDER BY memory_key, version
"""
# A value that brings its past may have been superseded when it was stored.
SET_PAST: Final = """
UPDATE atomic_memory SET last_used_at_us = $3, use_count = $4, version = $7,
    superseded_at_us = coalesce($5, superseded_at_us), superseded_by = coalesce($6, superseded_by)
WHERE user_key = $1 AND memory_id = $2
"""
INSERT_CONTENT: Final = f"""
INSERT INTO memory_version (user_key, memory_key, {_CONTENT})
SELECT $1, memory_key, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM atomic_memory
WHERE user_key = $1 AND memory_id = $2
"""


async def history(connection: Connection, namespace: Namespace, memory_id: str) -> MemoryHistory:
    """Return the events of a memory that the namespace sees, and its earlier contents."""
    asked = (*seen_by(namespace), memory_id)
    events = tuple([event_in(row) for row in await connection.fetch(SELECT_EVENTS, *asked)])
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


async def whole(
    connection: Connection, *, limit: int, after: MemoryName | None = None
) -> tuple[WholeMemory, ...]:
    """Return memories of all users as they are copied to another store; the collation orders ids by code point."""
    user, memory_id = after or ("", "")
    found: list[WholeMemory] = []
    key = user_key(user) if after else None
    while len(found) < limit:
        if key is not None:
            rows = await connection.fetch(SELECT_WHOLE, key, memory_id, limit - len(found))
            found += await _whole(connection, rows, user)
        following = await connection.fetch(SELECT_NEXT_USER, user)
        if not following:
            break
        key, user, memory_id = following[0]["user_key"], following[0]["user_name"], ""
    return tuple(found)


async def _whole(connection: Connection, rows: Sequence[Row], user: str) -> Sequence[WholeMemory]:
    corrected = [row["memory_key"] for row in rows if row["version"] > 1]
    earlier: dict[object, list[EarlierContent]] = {key: [] for key in corrected}
    if corrected:
        for row in await connection.fetch(SELECT_EARLIER, user_key(user), corrected):
            earlier[row["memory_key"]].append(content_of(row))
    return [
        WholeMemory(
            memory_of(row, user),
            tuple(earlier.get(row["memory_key"], ())),
            row["dedup_key"] if row["superseded_at_us"] is None else None,
            None if row["vector"] is None else np.asarray(row["vector"], "<f4"),
        )
        for row in rows
    ]


async def keep_pasts(
    connection: Connection, new: Mapping[MemoryName, MemoryRow], drafts: Sequence[MemoryDraft]
) -> None:
    """Store the past that *drafts* bring from another store, for each draft that is *new*."""
    for draft in drafts:
        if (past := draft.past) is None or name_of(draft) not in new:
            continue
        of = user_key(draft.namespace.user), draft.id
        await connection.execute(
            SET_PAST,
            *of,
            None if past.last_accessed is None else to_us(past.last_accessed),
            past.access_count,
            None if past.superseded_at is None else to_us(past.superseded_at),
            past.superseded_by,
            past.version,
        )
        for content in past.earlier:
            provenance = content.provenance
            await connection.execute(
                INSERT_CONTENT,
                *of,
                content.version,
                to_us(content.replaced_at),
                content.content,
                content.key,
                to_json(content.value),
                content.category,
                list(content.tags),
                content.confidence,
                content.source,
                list(provenance.message_ids),
                provenance.extractor,
                provenance.path,
            )
