"""The writes that change stored memories: retire, restore, rewrite, mark, record_use, attach.

Each runs in a transaction of the user.  ``memory_store.py`` stores memories, ``memory_removal.py`` removes them.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Never

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryNotFoundError
from chatmemory.events.event import USE, Change
from chatmemory.input.json_value import to_json
from chatmemory.longterm.changes import changed_by, changes_of_mark, changes_of_restore
from chatmemory.longterm.memories import Memory, UseReport
from chatmemory.longterm.repository_values import Attachment, Mark, MemoryDraft, Use
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.spread_keys import user_key
from chatmemory_layers.postgres.events.noted_events import note
from chatmemory_layers.postgres.memories import memory_reads
from chatmemory_layers.postgres.memories.memory_row import (
    IS_VALUE,
    OWNED,
    SEEN,
    seen_by,
    space_keys,
    vectors_of,
)
from chatmemory_layers.sql.columns import from_us, to_us

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

END_VALUE: Final = f"""
UPDATE atomic_memory SET superseded_at_us = greatest(created_at_us, $4), superseded_by = $5
WHERE {OWNED} AND app_type = $2 AND key = $3 AND {IS_VALUE} AND superseded_at_us IS NULL
RETURNING memory_id, app_type, superseded_at_us
"""

END_OTHER: Final = f"""
UPDATE atomic_memory SET superseded_at_us = greatest(created_at_us, $3), superseded_by = $4
WHERE {OWNED} AND memory_id = $2 AND superseded_at_us IS NULL
RETURNING memory_id, app_type
"""
# No two memories that are true have the same dedup key, which means that they are the same.
RESTORE: Final = f"""
UPDATE atomic_memory SET superseded_at_us = NULL, superseded_by = NULL, dedup_key = CASE WHEN EXISTS (
    SELECT FROM atomic_memory AS twin
    WHERE twin.{OWNED} AND twin.app_type = atomic_memory.app_type
        AND twin.dedup_key = atomic_memory.dedup_key AND twin.superseded_at_us IS NULL
) THEN NULL ELSE dedup_key END
WHERE {OWNED} AND memory_id = $2 AND superseded_at_us IS NOT NULL
RETURNING memory_id, app_type
"""

# The dedup key is removed: it would mean that two memories are the same.
UPDATE_SAID: Final = f"""
WITH earlier AS (
    INSERT INTO memory_version (user_key, memory_key, version, replaced_at_us, content, key, value, category, tags, confidence,
        source, message_ids, extractor, path)
    SELECT user_key, memory_key, version, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, content, key, value,
        category, tags, confidence, source, message_ids, extractor, path
    FROM atomic_memory WHERE {OWNED} AND memory_key = $2
)
UPDATE atomic_memory SET content = $3, key = $4, value = $5, category = $6, confidence = $7, source = $8, extractor = $9,
    path = $10, tags = ARRAY(SELECT json_array_elements_text($11::text::json)),
    message_ids = ARRAY(SELECT json_array_elements_text($12::text::json)), search_terms = $13, term_keys = ARRAY(
        SELECT DISTINCT hashtextextended(term, (SELECT term_salt FROM memory_user WHERE {OWNED})) FROM unnest(string_to_array($13, ' ')) AS term
    ), dedup_key = (
        SELECT $14::bytea WHERE NOT EXISTS (
            SELECT FROM atomic_memory AS twin
            WHERE twin.{OWNED} AND twin.app_type = atomic_memory.app_type
                AND twin.dedup_key = $14 AND twin.superseded_at_us IS NULL AND twin.memory_key <> $2
        )
    ), attribute = $15, version = version + 1
WHERE {OWNED} AND memory_key = $2
"""
DELETE_EMBEDDING: Final = f"""
WITH gone AS (DELETE FROM memory_embedding WHERE {OWNED} AND memory_key = $2)
UPDATE atomic_memory SET space_key = NULL WHERE {OWNED} AND memory_key = $2
"""

UPDATE_MARKS: Final = f"""
UPDATE atomic_memory SET memory_type = coalesce($4, memory_type), pinned = coalesce($5, pinned)
WHERE {SEEN} AND memory_id = $3
"""

UPSERT_EMBEDDINGS: Final = f"""
WITH read AS MATERIALIZED (
    SELECT * FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::bigint[]) AS read (memory_id, version, first, last)
), embedded AS (
    UPDATE atomic_memory SET space_key = $3 FROM read
    WHERE {SEEN} AND atomic_memory.memory_id = read.memory_id AND atomic_memory.version = read.version
    RETURNING memory_key, first, last
)
INSERT INTO memory_embedding (user_key, memory_key, space_key, vector)
SELECT $1, memory_key, $3, ($8::real[])[first : last] FROM embedded
ON CONFLICT (user_key, memory_key) DO UPDATE SET space_key = excluded.space_key, vector = excluded.vector
RETURNING memory_key
"""

COUNT_USE: Final = f"""
UPDATE atomic_memory SET use_count = use_count + 1, last_used_at_us = $5, last_use_id = $4
WHERE {SEEN} AND memory_id = ANY ($3::text[]) AND last_use_id IS DISTINCT FROM $4
RETURNING memory_key
"""
INSERT_USES: Final = """
INSERT INTO memory_use (user_key, memory_key, session_id) SELECT $1, unnest($2::uuid[]), $3
ON CONFLICT DO NOTHING
"""
# A memory from a tool or an assistant must not be promoted by its use: see MINJA and OWASP ASI06.
PROMOTE_USED: Final = f"""
UPDATE atomic_memory SET memory_type = 'long_term'
WHERE {OWNED} AND memory_key = ANY ($2::uuid[]) AND memory_type = 'short_term' AND source = 'user_stated'
    AND role = 'user' AND $3 <= (
        SELECT count(*) FROM memory_use WHERE {OWNED} AND memory_use.memory_key = atomic_memory.memory_key
    )
RETURNING memory_id, app_type
"""


async def retire(
    connection: Connection, namespace: Namespace, key: str, *, now: datetime
) -> Outcome[bool, Never]:
    """Mark the value of this key in exactly this namespace as no longer true."""
    ended = await connection.fetch(END_VALUE, *seen_by(namespace), key, to_us(now), None)
    changes = [
        Change("retired", "memory", row["memory_id"], namespace, said_at=from_us(row["superseded_at_us"]))
        for row in ended
    ]
    await note(connection, changes)
    return Success(bool(ended))


async def restore(
    connection: Connection,
    namespace: Namespace,
    memory_id: str,
    *,
    instead_of: str | None = None,
    now: datetime,
) -> Outcome[Memory, MemoryNotFoundError]:
    """Make a memory true again, from its ``created_at`` on, as if it had never stopped being true."""
    before = await memory_reads.get(connection, namespace, memory_id)
    if before is None:
        return Failure(MemoryNotFoundError(memory_id))
    if instead_of is not None and await memory_reads.get(connection, namespace, instead_of) is None:
        return Failure(MemoryNotFoundError(instead_of))
    user = user_key(namespace.user)
    ended: Sequence[Row] = ()
    if instead_of is not None and instead_of != memory_id:
        ended = await connection.fetch(END_OTHER, user, instead_of, to_us(now), memory_id)
    if before.superseded_at is not None and before.value_key is not None:
        value = (*seen_by(before.namespace), before.value_key)
        ended = [*ended, *await connection.fetch(END_VALUE, *value, to_us(now), memory_id)]
    found = await connection.fetch(RESTORE, user, memory_id)
    names = (
        [(row["memory_id"], Namespace(namespace.user, row["app_type"])) for row in rows]
        for rows in (found, ended)
    )
    await note(connection, [*changes_of_restore(*names, by=memory_id, now=now)])
    restored = await memory_reads.get(connection, namespace, memory_id)
    return Failure(MemoryNotFoundError(memory_id)) if restored is None else Success(restored)


async def rewrite(
    connection: Connection, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
) -> Outcome[Memory | None, MemoryChangedError]:
    """Replace the content of a memory with the content of *draft*, and increase its version by one."""
    found = await connection.fetch(memory_reads.SELECT_MEMORY, *seen_by(draft.namespace), draft.id)
    if not found:
        return Success(None)
    user, key, version = user_key(draft.namespace.user), found[0]["memory_key"], found[0]["version"]
    if version != expected_version:
        return Failure(MemoryChangedError(draft.id, expected=expected_version, actual=version))
    await connection.execute(
        UPDATE_SAID,
        user,
        key,
        draft.content,
        draft.key,
        to_json(draft.value),
        draft.category,
        draft.confidence,
        draft.source,
        draft.provenance.extractor,
        draft.provenance.path,
        json.dumps(draft.tags),
        json.dumps(draft.provenance.message_ids),
        draft.terms,
        draft.dedup_key,
        draft.attribute,
    )
    if not keep_vector:
        if draft.space is None or draft.vector is None:
            await connection.execute(DELETE_EMBEDDING, user, key)
        else:
            attachment = Attachment(draft.id, version + 1, draft.vector)
            await attach(connection, draft.namespace, draft.space, (attachment,))
    rewritten = await memory_reads.get(connection, draft.namespace, draft.id)
    if rewritten is not None:
        await note(connection, [changed_by(draft, rewritten)])
    return Success(rewritten)


async def mark(connection: Connection, mark: Mark) -> Outcome[Memory | None, Never]:
    """Change the type of a memory, or pin or unpin it."""
    before = await memory_reads.get(connection, mark.namespace, mark.memory_id)
    if before is None or not (changes := changes_of_mark(mark, before)):
        return Success(before)
    seen = seen_by(mark.namespace)
    await connection.execute(UPDATE_MARKS, *seen, mark.memory_id, mark.memory_type, mark.pinned)
    await note(connection, changes)
    return Success(await memory_reads.get(connection, mark.namespace, mark.memory_id))


async def record_use(connection: Connection, use: Use) -> Outcome[UseReport, Never]:
    """Count one use of each memory that the namespace sees, and set ``last_accessed``."""
    namespace = use.namespace
    counted = await connection.fetch(
        COUNT_USE, *seen_by(namespace), use.memory_ids, use.use_id, to_us(use.now)
    )
    user, keys = user_key(namespace.user), [row["memory_key"] for row in counted]
    if use.session_id is not None:
        await connection.execute(INSERT_USES, user, keys, use.session_id)
    promoted: dict[str, str] = {}
    if use.promote_after is not None:
        rows = await connection.fetch(PROMOTE_USED, user, keys, use.promote_after)
        promoted = {row["memory_id"]: row["app_type"] for row in rows}
    ids = [memory_id for memory_id in dict.fromkeys(use.memory_ids) if memory_id in promoted]
    owners = [(memory_id, Namespace(namespace.user, promoted[memory_id])) for memory_id in ids]
    await note(connection, [Change("promoted", "memory", *promotion, reason=USE) for promotion in owners])
    return Success(UseReport(len(keys), tuple(ids)))


async def attach(
    connection: Connection, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
) -> Outcome[int, Never]:
    """Store a vector of *space* for each memory, replacing any other vector."""
    if not attachments:
        return Success(0)
    space_key = (await space_keys(connection, [space]))[space]
    attached = await connection.fetch(
        UPSERT_EMBEDDINGS,
        *seen_by(namespace),
        space_key,
        [each.memory_id for each in attachments],
        [each.version for each in attachments],
        *vectors_of([each.vector for each in attachments]),
    )
    return Success(len(attached))
