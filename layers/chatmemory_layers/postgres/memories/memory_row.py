"""Rows of memories: conditions on them, a memory on its way into ``atomic_memory``, how rows come back, the keys of spaces.

Which rows are read and written is the business of ``memory_reads.py``, ``memory_search.py``, ``memory_store.py`` and
``memory_writes.py``.  A condition is SQL for a WHERE clause over ``atomic_memory`` or its view ``memory_record``; its
parameters have one place in every statement: ``$1`` the user, ``$2`` the app, ``$3`` the instant.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, Self, final

from attrs import astuple, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import from_json, to_json
from chatmemory.longterm.memories import Memory, Provenance
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.sql.columns import from_us, to_us

# A key that is looked up once, instead of a join: what follows comes out of an index of the user in its order.
OWNED: Final = "user_key = (SELECT user_key FROM memory_user WHERE user_id = $1)"
# See Namespace.sees.
SEEN: Final = f"{OWNED} AND ($2 = '' OR app_type IN ('', $2))"
# Now, unless there is an instant.
TRUE: Final = """
($3::bigint IS NULL OR created_at_us <= $3) AND (superseded_at_us IS NULL OR superseded_at_us > $3)
"""

SELECT_SPACES: Final = """
SELECT space_key, model, dim
FROM unnest($1::text[], $2::text[]::bigint[]) AS wanted (model, dim) JOIN memory_space USING (model, dim)
"""
INSERT_SPACES: Final = """
INSERT INTO memory_space (model, dim) SELECT * FROM unnest($1::text[], $2::text[]::bigint[])
ON CONFLICT DO NOTHING
"""

# Rows and their vectors, of users who are there, in one round trip: arrays of one length, as text for the reason that
# STORE_MESSAGES gives.
INSERT_MEMORIES: Final = """
WITH draft AS MATERIALIZED (
    SELECT *
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[]::double precision[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[]::boolean[],
        $15::text[], $16::text[], $17::text[], $18::text[]::bigint[], $19::text[], $20::text[], $21::text[]::bigint[],
        $22::text[], $23::text[]::bigint[], $24::text[]
    ) AS draft (memory_id, user_id, app_type, content, key, value, category, tags, confidence, source, role, session_id,
        memory_type, pinned, message_ids, extractor, path, created_at_us, search_terms, dedup_key, space_key, vector,
        superseded_at_us, superseded_by)
), added AS (
    INSERT INTO atomic_memory (memory_id, user_key, app_type, content, key, value, category, tags, confidence, source,
        role, session_id, memory_type, pinned, message_ids, extractor, path, created_at_us, search_terms, dedup_key,
        space_key, superseded_at_us, superseded_by, term_keys)
    SELECT memory_id, user_key, app_type, content, key, value, category,
        ARRAY(SELECT json_array_elements_text(tags::json)), confidence, source, role, session_id, memory_type, pinned,
        ARRAY(SELECT json_array_elements_text(message_ids::json)), extractor, path, created_at_us, search_terms,
        decode(dedup_key, 'hex'), space_key, superseded_at_us, superseded_by,
        ARRAY(
            SELECT DISTINCT hashtextextended(term, user_key)
            FROM unnest(string_to_array(search_terms, ' ')) AS term
        )
    FROM draft JOIN memory_user USING (user_id)
    WHERE memory_user.user_id = ANY ($2::text[])
    RETURNING memory_key, user_key, memory_id
)
INSERT INTO memory_embedding (memory_key, space_key, vector)
SELECT memory_key, space_key, vector::real[]
FROM added JOIN memory_user USING (user_key) JOIN draft USING (user_id, memory_id)
WHERE vector IS NOT NULL AND memory_user.user_id = ANY ($2::text[])
"""


def seen_by(namespace: Namespace) -> tuple[str, str]:
    """Return the parameters of ``SEEN``."""
    return namespace.user, namespace.app


def true_at(namespace: Namespace, as_of: datetime | None) -> tuple[str, str, int | None]:
    """Return the parameters of ``SEEN`` and ``TRUE``."""
    return namespace.user, namespace.app, None if as_of is None else to_us(as_of)


@final
@frozen(slots=False)  # made for every memory, see messages.py
class MemoryRow:
    """A memory as it travels, in the order of the parameters of ``INSERT_MEMORIES``.

    Attributes:
        tags, message_ids: JSON arrays.
        dedup_key: hexadecimal.
        space_key: of the space of *vector*; None with None.
        vector: a literal of PostgreSQL's.
    """

    memory_id: str
    user_id: str
    app_type: str
    content: str
    key: str | None
    value: str | None
    category: str | None
    tags: str
    confidence: float
    source: str
    role: str
    session_id: str | None
    memory_type: str
    pinned: bool
    message_ids: str
    extractor: str | None
    path: str | None
    created_at_us: int
    search_terms: str
    dedup_key: str | None
    space_key: int | None
    vector: str | None
    superseded_at_us: int | None = None
    superseded_by: str | None = None

    @classmethod
    def of(cls, draft: MemoryDraft, space_key: int | None) -> Self:
        """Write *draft*, whose vector is of the space of this number."""
        return cls(
            memory_id=draft.id,
            user_id=draft.namespace.user,
            app_type=draft.namespace.app,
            content=draft.content,
            key=draft.key,
            value=to_json(draft.value),
            category=draft.category,
            tags=json.dumps(draft.tags),
            confidence=draft.confidence,
            source=draft.source,
            role=draft.role,
            session_id=draft.session_id,
            memory_type=draft.memory_type,
            pinned=draft.pinned,
            message_ids=json.dumps(draft.provenance.message_ids),
            extractor=draft.provenance.extractor,
            path=draft.provenance.path,
            created_at_us=to_us(draft.created_at),
            search_terms=draft.terms,
            dedup_key=None if draft.dedup_key is None else draft.dedup_key.hex(),
            space_key=space_key,
            vector=None if draft.vector is None else vector_literal(draft.vector),
        )


async def insert_memories(connection: Connection, rows: Iterable[MemoryRow]) -> None:
    """Write *rows*, at least one, and their vectors."""
    texts = ((None if value is None else str(value) for value in astuple(row)) for row in rows)
    await connection.execute(INSERT_MEMORIES, *(list(column) for column in zip(*texts, strict=True)))


def vector_literal(vector: Vector) -> str:
    """Write *vector* as PostgreSQL reads arrays; each number comes back as the very float32 that it was."""
    # Nine digits tell every float32 from the next; the seventeen of repr take three times as long.
    numbers = ",".join(["%.9g"] * vector.size) % tuple(vector.tolist())
    return f"{{{numbers}}}"


def memory_of(row: Row, user: str) -> Memory:
    """Make a memory of a row of the view ``memory_record`` that is the *user*'s."""
    ended_at_us, used_at_us = row["superseded_at_us"], row["last_used_at_us"]
    return Memory(
        id=row["memory_id"],
        namespace=Namespace(user, row["app_type"]),
        content=row["content"],
        key=row["key"],
        value=from_json(row["value"]),
        category=row["category"],
        tags=tuple(row["tags"]),
        confidence=row["confidence"],
        source=row["source"],
        role=row["role"],
        session_id=row["session_id"],
        memory_type=row["memory_type"],
        pinned=row["pinned"],
        provenance=Provenance(tuple(row["message_ids"]), row["extractor"], row["path"]),
        created_at=from_us(row["created_at_us"]),
        last_accessed=None if used_at_us is None else from_us(used_at_us),
        access_count=row["use_count"],
        embedding=None if row["model"] is None else EmbeddingSpace(row["model"], row["dim"]),
        superseded_at=None if ended_at_us is None else from_us(ended_at_us),
        superseded_by=row["superseded_by"],
        version=row["version"],
    )


async def space_keys(
    connection: Connection, spaces: Iterable[EmbeddingSpace]
) -> Mapping[EmbeddingSpace, int]:
    """Return the numbers of *spaces*, making those that are new."""
    # In one order everywhere, so that no two wait for each other.
    wanted = sorted(set(spaces), key=lambda space: (space.model, space.dim))
    if not wanted:
        return {}
    columns = [space.model for space in wanted], [str(space.dim) for space in wanted]
    known = await _known(connection, *columns)
    if len(known) < len(wanted):
        await connection.execute(INSERT_SPACES, *columns)
        known = await _known(connection, *columns)
    return known


async def _known(connection: Connection, models: list[str], dims: list[str]) -> Mapping[EmbeddingSpace, int]:
    rows = await connection.fetch(SELECT_SPACES, models, dims)
    return {EmbeddingSpace(row["model"], row["dim"]): row["space_key"] for row in rows}
