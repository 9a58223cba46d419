"""Rows of memories: conditions on them, how they are written to ``atomic_memory`` and read back, the keys of spaces.

``memory_reads.py``, ``memory_search.py``, ``memory_store.py`` and ``memory_writes.py`` define which rows are read and written.
A condition is SQL for a WHERE clause over ``atomic_memory`` or its ``RECORD``.  Its parameters have the same numbers in
every statement: ``$1`` is the key of the user, ``$2`` the app, ``$3`` the instant.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from chatmemory.access.namespace import Namespace
from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import from_json, to_json
from chatmemory.longterm.memories import Memory, Provenance
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.spread_keys import new_key, user_key
from chatmemory_layers.postgres.events.noted_events import insert_memory_events
from chatmemory_layers.sql.columns import from_us, to_us

# ruff: noqa: S608  conditions and the names of columns are put into statements, never values

# Without a join, so that an index returns lists in their order.  ``memory_of`` reads the columns up to dim by their order.
RECORD: Final = """(
    SELECT memory_id, app_type, content, key, value, category, tags, confidence, source, role, session_id, memory_type,
        pinned, message_ids, extractor, path, created_at_us, last_used_at_us, use_count, superseded_at_us, superseded_by,
        version, attribute,
        (SELECT model FROM memory_space WHERE memory_space.space_key = atomic_memory.space_key),
        (SELECT dim FROM memory_space WHERE memory_space.space_key = atomic_memory.space_key),
        search_terms, memory_key, user_key, space_key
    FROM atomic_memory
) AS memory_record"""

OWNED: Final = "user_key = $1"
# See ``value_key``.
IS_VALUE: Final = "role = 'system' AND source = 'system'"
# See Namespace.sees.
SEEN: Final = f"{OWNED} AND ($2 = '' OR app_type IN ('', $2))"
# True now, or at the instant if there is one.
TRUE: Final = """
($3::bigint IS NULL OR created_at_us <= $3) AND (superseded_at_us IS NULL OR superseded_at_us > $3)
"""

# No longer, now or then; what was true no longer then had begun.
OVER: Final = "superseded_at_us <= coalesce($3::bigint, superseded_at_us)"

SELECT_SPACES: Final = """
SELECT space_key, model, dim
FROM unnest($1::text[], $2::bigint[]) AS wanted (model, dim) JOIN memory_space USING (model, dim)
"""
INSERT_SPACES: Final = """
INSERT INTO memory_space (model, dim, space_key) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
ON CONFLICT DO NOTHING
"""

DRAFTS: Final = {
    "memory_id": "text[]",
    "user_key": "uuid[]",
    "app_type": "text[]",
    "content": "text[]",
    "key": "text[]",
    "value": "text[]",
    "category": "text[]",
    "tags": "text[]",
    "confidence": "double precision[]",
    "source": "text[]",
    "role": "text[]",
    "session_id": "text[]",
    "memory_type": "text[]",
    "pinned": "boolean[]",
    "message_ids": "text[]",
    "extractor": "text[]",
    "path": "text[]",
    "created_at_us": "bigint[]",
    "search_terms": "text[]",
    "dedup_key": "text[]",
    "space_key": "bigint[]",
    "attribute": "text[]",
    "superseded_at_us": "bigint[]",
    "superseded_by": "text[]",
    "memory_key": "uuid[]",
}
"""The columns of drafts with their types: arrays of one length."""

# Those that are sent in another form than they are stored, because PostgreSQL has no array of arrays of different lengths.
_STORED: Final = {
    "tags": "ARRAY(SELECT json_array_elements_text(tags::json))",
    "message_ids": "ARRAY(SELECT json_array_elements_text(message_ids::json))",
    "dedup_key": "decode(dedup_key, 'hex')",
}

# The vectors of drafts are one array of numbers, and two that say where each vector begins and ends, because PostgreSQL has
# no array of arrays of different lengths.
_VECTORS: Final = ("bigint[]", "bigint[]", "real[]")
DRAFT_PARAMETERS: Final = len(DRAFTS) + len(_VECTORS)
"""The number of parameters of ``insert_drafts``, which ``drafts_of`` returns."""


def insert_drafts(first: int) -> str:
    """Return expressions for a WITH clause that write drafts and their vectors, whose parameters begin with the number *first*.

    A table ``owner`` has user_key and term_salt; drafts of other users are left out.
    """
    types = (*DRAFTS.values(), *_VECTORS)
    columns, stored = ", ".join(DRAFTS), ", ".join([_STORED.get(name, name) for name in DRAFTS])
    *arrays, numbers = (f"${number}::{type_}" for number, type_ in enumerate(types, first))
    return f"""draft AS MATERIALIZED (
    SELECT * FROM unnest({", ".join(arrays)}) AS draft ({columns}, vector_first, vector_last)
), added AS (
    INSERT INTO atomic_memory ({columns}, term_keys)
    SELECT {stored}, ARRAY(
        SELECT DISTINCT hashtextextended(term, term_salt) FROM unnest(string_to_array(search_terms, ' ')) AS term
    )
    FROM draft JOIN owner USING (user_key)
), embedding AS (
    INSERT INTO memory_embedding (user_key, memory_key, space_key, vector)
    SELECT user_key, memory_key, space_key, ({numbers})[vector_first : vector_last]
    FROM draft JOIN owner USING (user_key) WHERE vector_first IS NOT NULL
)"""


# Writes rows with their vectors and events in one round trip, for users that have a row.  The parameters are those of
# ``drafts_of`` and ``columns_of``.
INSERT_MEMORIES: Final = f"""
WITH owner AS MATERIALIZED (
    SELECT user_key, term_salt FROM memory_user WHERE memory_user.user_key = ANY ($2::uuid[])
), {insert_drafts(1)}, event AS ({insert_memory_events(DRAFT_PARAMETERS + 1)})
SELECT FROM owner
"""


def seen_by(namespace: Namespace) -> tuple[UUID, str]:
    """Return the parameters of ``SEEN``."""
    return user_key(namespace.user), namespace.app


def true_at(namespace: Namespace, as_of: datetime | None) -> tuple[UUID, str, int | None]:
    """Return the parameters of ``SEEN`` and ``TRUE``."""
    return *seen_by(namespace), None if as_of is None else to_us(as_of)


MemoryRow: TypeAlias = dict[str, Any]
"""A memory as it is sent to the server: the columns ``DRAFTS``, and ``vector``."""


def row_of(draft: MemoryDraft, space_key: int | None) -> MemoryRow:
    """Return the row of *draft*, whose vector belongs to the space of this number."""
    return {
        "memory_id": draft.id,
        "user_key": user_key(draft.namespace.user),
        "app_type": draft.namespace.app,
        "content": draft.content,
        "key": draft.key,
        "value": to_json(draft.value),
        "category": draft.category,
        "tags": json.dumps(draft.tags),
        "confidence": draft.confidence,
        "source": draft.source,
        "role": draft.role,
        "session_id": draft.session_id,
        "memory_type": draft.memory_type,
        "pinned": draft.pinned,
        "message_ids": json.dumps(draft.provenance.message_ids),
        "extractor": draft.provenance.extractor,
        "path": draft.provenance.path,
        "created_at_us": to_us(draft.created_at),
        "search_terms": draft.terms,
        "dedup_key": None if draft.dedup_key is None else draft.dedup_key.hex(),
        "space_key": space_key,
        "attribute": draft.attribute,
        "superseded_at_us": None,
        "superseded_by": None,
        "memory_key": new_key(),
        "vector": draft.vector,
    }


def drafts_of(rows: Iterable[MemoryRow]) -> list[object]:
    """Return the parameters of ``insert_drafts`` for *rows*, at least one."""
    rows = list(rows)
    columns = [[row[name] for row in rows] for name in DRAFTS]
    return [*columns, *vectors_of([row["vector"] for row in rows])]


def vectors_of(
    vectors: Sequence["Vector | None"],
) -> tuple[list[int | None], list[int | None], "Vector | list[float]"]:
    """Return the index, counted from 1, at which each of *vectors* begins and ends in one array of numbers, and this array."""
    given = [vector for vector in vectors if vector is not None]
    if not given:
        return [None] * len(vectors), [None] * len(vectors), []
    ends = np.cumsum([0 if vector is None else vector.size for vector in vectors]).tolist()
    firsts = [
        None if vector is None else end - vector.size + 1 for vector, end in zip(vectors, ends, strict=True)
    ]
    lasts = [None if vector is None else end for vector, end in zip(vectors, ends, strict=True)]
    return firsts, lasts, np.concatenate(given)


def memory_of(row: Row, user: str) -> Memory:
    """Return the memory of a row, which begins with the columns of ``RECORD``, that belongs to *user*."""
    (
        memory_id,
        app,
        content,
        key,
        value,
        category,
        tags,
        confidence,
        source,
        role,
        session_id,
        memory_type,
        pinned,
        message_ids,
        extractor,
        path,
        created_at_us,
        used_at_us,
        use_count,
        ended_at_us,
        superseded_by,
        version,
        attribute,
        model,
        dim,
        *_,
    ) = row.values()
    return Memory(
        memory_id,
        Namespace(user, app),
        content,
        key,
        from_json(value),
        category,
        tuple(tags),
        confidence,
        source,
        role,
        session_id,
        memory_type,
        pinned,
        Provenance(tuple(message_ids), extractor, path),
        from_us(created_at_us),
        None if used_at_us is None else from_us(used_at_us),
        use_count,
        None if model is None else EmbeddingSpace(model, dim),
        None if ended_at_us is None else from_us(ended_at_us),
        superseded_by,
        version,
        attribute=attribute,
    )


async def space_keys(
    connection: Connection, spaces: Iterable[EmbeddingSpace]
) -> Mapping[EmbeddingSpace, int]:
    """Return the number of each of *spaces*, storing those that are new."""
    # Always in the same order, so that no two transactions wait for each other.
    wanted = sorted(set(spaces), key=lambda space: (space.model, space.dim))
    if not wanted:
        return {}
    columns = [space.model for space in wanted], [space.dim for space in wanted]
    known = await _known(connection, *columns)
    if len(known) < len(wanted):
        await connection.execute(INSERT_SPACES, *columns, [_space_key(space) for space in wanted])
        known = await _known(connection, *columns)
    return known


def _space_key(space: EmbeddingSpace) -> int:
    """Return the number of a new space: 63 bits of its hash, so that no sequence is needed."""
    hashed = hashlib.sha256(f"{space.model}\0{space.dim}".encode()).digest()
    return int.from_bytes(hashed[:8]) >> 1


async def _known(connection: Connection, models: list[str], dims: list[int]) -> Mapping[EmbeddingSpace, int]:
    rows = await connection.fetch(SELECT_SPACES, models, dims)
    return {EmbeddingSpace(row["model"], row["dim"]): row["space_key"] for row in rows}
