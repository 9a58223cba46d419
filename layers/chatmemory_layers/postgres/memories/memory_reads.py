"""What is read of memories without a query: get, value, list, unembedded.  Each function is one statement.

How they are found for a recall stands in ``memory_search.py``.
"""

from datetime import datetime
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.memory_rules import folded
from chatmemory.longterm.repository_values import MemoryListing
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.memories.memory_row import (
    OWNED,
    RECORD,
    SEEN,
    TRUE,
    memory_of,
    seen_by,
    true_at,
)
from chatmemory_layers.sql.columns import END_US, to_us

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

SELECT_MEMORY: Final = f"""
SELECT * FROM {RECORD} WHERE {SEEN} AND memory_id = $3
"""
SELECT_VALUE: Final = f"""
SELECT * FROM {RECORD} WHERE {OWNED} AND app_type = $2 AND key = $4 AND {TRUE}
ORDER BY created_at_us DESC, memory_id DESC LIMIT 1
"""
# $12 is folded already.  By the collation C, lower() knows ASCII alone.
CONTAINS: Final = """(
    strpos(lower(content), $12) > 0 OR strpos(lower(key), $12) > 0
    OR strpos(lower((CASE WHEN starts_with(value, '"') THEN value::json #>> '{}' ELSE value END) COLLATE "C"), $12) > 0
)"""
SELECT_LISTED: Final = f"""
SELECT * FROM {RECORD}
WHERE {SEEN} AND {TRUE} AND (created_at_us, memory_id) < ($4, $5) AND (NOT $6 OR app_type = $2)
    AND ($7::text IS NULL OR memory_type = $7) AND ($8::text IS NULL OR category = $8)
    AND ($9::text IS NULL OR session_id = $9) AND ($10::text IS NULL OR $10 = ANY (tags))
    AND ($11::text IS NULL OR starts_with(key, $11)) AND ($12::text IS NULL OR {CONTAINS})
    AND (NOT $13 OR attribute IS NOT NULL)
ORDER BY created_at_us DESC, memory_id DESC LIMIT $14
"""
# Out of the index of attributes: most users have said far more than what they are.
SELECT_LISTED_OF_ATTRIBUTES: Final = SELECT_LISTED.replace(
    "(NOT $13 OR attribute IS NOT NULL)", "$13 AND attribute IS NOT NULL AND superseded_at_us IS NULL"
)
LACKING: Final = f"""
{SEEN} AND memory_type = 'long_term' AND superseded_at_us IS NULL
    AND (space_key = (SELECT space_key FROM memory_space WHERE model = $3 AND dim = $4)) IS NOT TRUE
"""
# A row at least: the page may be empty, and the number is told all the same.
SELECT_UNEMBEDDED: Final = f"""
SELECT counted.lacking, page.*
FROM (SELECT count(*) AS lacking FROM atomic_memory WHERE {LACKING}) AS counted LEFT JOIN LATERAL (
    SELECT * FROM {RECORD} WHERE {LACKING} AND (created_at_us, memory_id) < ($5, $6)
    ORDER BY created_at_us DESC, memory_id DESC LIMIT $7
) AS page ON TRUE
ORDER BY page.created_at_us DESC, page.memory_id DESC
"""


async def get(connection: Connection, namespace: Namespace, memory_id: str) -> Memory | None:
    """See ``MemoryRepository.get``."""
    rows = await connection.fetch(SELECT_MEMORY, *seen_by(namespace), memory_id)
    return memory_of(rows[0], namespace.user) if rows else None


async def value(
    connection: Connection, namespace: Namespace, key: str, *, as_of: datetime | None = None
) -> Memory | None:
    """See ``MemoryRepository.value``."""
    rows = await connection.fetch(SELECT_VALUE, *true_at(namespace, as_of), key)
    return memory_of(rows[0], namespace.user) if rows else None


async def listed(connection: Connection, listing: MemoryListing, /) -> tuple[Memory, ...]:
    """See ``MemoryRepository.list``; the column's collation is the order of code points."""
    is_of_attributes = listing.has_attribute and listing.as_of is None
    rows = await connection.fetch(
        SELECT_LISTED_OF_ATTRIBUTES if is_of_attributes else SELECT_LISTED,
        *true_at(listing.namespace, listing.as_of),
        *_behind(listing.after),
        listing.exact_app,
        listing.memory_type,
        listing.category,
        listing.session_id,
        listing.tag,
        listing.key_prefix,
        None if listing.containing is None else folded(listing.containing),
        listing.has_attribute,
        listing.limit,
    )
    return tuple([memory_of(row, listing.namespace.user) for row in rows])


async def unembedded(
    connection: Connection,
    namespace: Namespace,
    space: EmbeddingSpace,
    *,
    limit: int,
    after: Place | None = None,
) -> tuple[tuple[Memory, ...], int]:
    """See ``MemoryRepository.unembedded``."""
    rows = await connection.fetch(
        SELECT_UNEMBEDDED, *seen_by(namespace), space.model, space.dim, *_behind(after), limit
    )
    found = [memory_of(row, namespace.user) for row in rows if row["memory_id"] is not None]
    return tuple(found), rows[0]["lacking"]


def _behind(after: Place | None) -> tuple[int, str]:
    return (END_US, "") if after is None else (to_us(after[0]), after[1])
