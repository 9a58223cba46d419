"""The reads of memories without a query: get, value, list, reach, unembedded.  Each function runs one statement.

``memory_search.py`` finds memories for a recall.
"""

from datetime import datetime
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.memory_rules import folded
from chatmemory.longterm.repository_values import MemoryCount, MemoryListing
from chatmemory_layers.postgres.engine.connection import PLANNED_EACH_TIME, Connection
from chatmemory_layers.postgres.memories.memory_row import (
    IS_VALUE,
    OVER,
    OWNED,
    RECORD,
    SEEN,
    TRUE,
    memory_of,
    seen_by,
    true_at,
)
from chatmemory_layers.sql.columns import BEGINNING_US, from_us, place_columns, to_us

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

SELECT_MEMORY: Final = f"""
SELECT * FROM {RECORD} WHERE {SEEN} AND memory_id = $3
"""
SELECT_VALUE: Final = f"""
SELECT * FROM {RECORD} WHERE {OWNED} AND app_type = $2 AND key = $4 AND {IS_VALUE} AND {TRUE}
ORDER BY created_at_us DESC, memory_id DESC LIMIT 1
"""
# $12 is in lower case already.  With the collation C, lower() changes ASCII characters only.
CONTAINS: Final = """(
    strpos(lower(content), $12) > 0 OR strpos(lower(key), $12) > 0
    OR strpos(lower((CASE WHEN starts_with(value, '"') THEN value::json #>> '{}' ELSE value END) COLLATE "C"), $12) > 0
)"""
_SELECTED: Final = f"""
{SEEN} AND CASE WHEN $16 THEN {OVER} ELSE {TRUE} END AND (created_at_us, memory_id) < ($4, $5) AND (NOT $6 OR app_type = $2)
    AND ($7::text IS NULL OR memory_type = $7) AND ($8::text IS NULL OR category = $8)
    AND ($9::text IS NULL OR session_id = $9) AND ($10::text IS NULL OR $10 = ANY (tags))
    AND ($11::text IS NULL OR (starts_with(key, $11) AND {IS_VALUE})) AND ($12::text IS NULL OR {CONTAINS})
    AND (NOT $13 OR attribute IS NOT NULL) AND created_at_us >= $14
    AND ($15::text IS NULL OR source = $15) AND {PLANNED_EACH_TIME}
"""
SELECT_LISTED: Final = f"""
SELECT * FROM {RECORD} WHERE {_SELECTED} ORDER BY created_at_us DESC, memory_id DESC LIMIT $17
"""
COUNT_LISTED: Final = f"""
SELECT memory_type, category, source, count(*) AS count FROM {RECORD} WHERE {_SELECTED}
GROUP BY memory_type, category, source
"""
# Uses the index of attributes: most memories of a user state no attribute.
SELECT_LISTED_OF_ATTRIBUTES: Final = SELECT_LISTED.replace(
    "(NOT $13 OR attribute IS NOT NULL)", "$13 AND attribute IS NOT NULL AND superseded_at_us IS NULL"
)
SELECT_REACH: Final = f"""
SELECT created_at_us FROM atomic_memory WHERE {SEEN} AND (created_at_us, memory_id) < ($3, $4) AND {PLANNED_EACH_TIME}
ORDER BY created_at_us DESC, memory_id DESC LIMIT 1 OFFSET $5 - 1
"""
LACKING: Final = f"""
{SEEN} AND memory_type = 'long_term' AND superseded_at_us IS NULL
    AND (space_key = (SELECT space_key FROM memory_space WHERE model = $3 AND dim = $4)) IS NOT TRUE
"""
# Returns at least one row, so that the number is known if the page is empty.
SELECT_UNEMBEDDED: Final = f"""
SELECT page.*, counted.lacking
FROM (SELECT count(*) AS lacking FROM atomic_memory WHERE {LACKING}) AS counted LEFT JOIN LATERAL (
    SELECT * FROM {RECORD} WHERE {LACKING} AND (created_at_us, memory_id) < ($5, $6)
    ORDER BY created_at_us DESC, memory_id DESC LIMIT $7
) AS page ON TRUE
WHERE {PLANNED_EACH_TIME}
ORDER BY page.created_at_us DESC, page.memory_id DESC
"""


async def get(connection: Connection, namespace: Namespace, memory_id: str) -> Memory | None:
    """Return a memory, whether true now or superseded."""
    rows = await connection.fetch(SELECT_MEMORY, *seen_by(namespace), memory_id)
    return memory_of(rows[0], namespace.user) if rows else None


async def value(
    connection: Connection, namespace: Namespace, key: str, *, as_of: datetime | None = None
) -> Memory | None:
    """Return the value of a key in exactly this namespace: the newest memory with this ``value_key``."""
    rows = await connection.fetch(SELECT_VALUE, *true_at(namespace, as_of), key)
    return memory_of(rows[0], namespace.user) if rows else None


async def listed(connection: Connection, listing: MemoryListing, /) -> tuple[Memory, ...]:
    """Return at most ``listing.limit`` memories, newest first; the collation of the column orders ids by code point."""
    is_of_attributes = listing.has_attribute and listing.as_of is None and not listing.superseded
    rows = await connection.fetch(
        SELECT_LISTED_OF_ATTRIBUTES if is_of_attributes else SELECT_LISTED,
        *_selected(listing, after=listing.after),
        listing.limit,
    )
    return tuple([memory_of(row, listing.namespace.user) for row in rows])


async def counted(connection: Connection, listing: MemoryListing, /) -> tuple[MemoryCount, ...]:
    """Count the memories of *listing*, whatever its ``limit`` and ``after``, by type, category and source, in any order."""
    rows = await connection.fetch(COUNT_LISTED, *_selected(listing, after=None))
    return tuple(
        [MemoryCount(row["memory_type"], row["category"], row["source"], row["count"]) for row in rows]
    )


def _selected(listing: MemoryListing, *, after: Place | None) -> tuple[object, ...]:
    """Return the parameters of ``_SELECTED``."""
    return (
        *true_at(listing.namespace, listing.as_of),
        *place_columns(after),
        listing.exact_app,
        listing.memory_type,
        listing.category,
        listing.session_id,
        listing.tag,
        listing.value_prefix,
        None if listing.containing is None else folded(listing.containing),
        listing.has_attribute,
        BEGINNING_US if listing.since is None else to_us(listing.since),
        listing.source,
        listing.superseded,
    )


async def reach(
    connection: Connection, namespace: Namespace, count: int, *, after: Place | None = None
) -> datetime | None:
    """Return the creation time of the *count*-th memory, counted from the newest on."""
    rows = await connection.fetch(SELECT_REACH, *seen_by(namespace), *place_columns(after), count)
    return from_us(rows[0]["created_at_us"]) if rows else None


async def unembedded(
    connection: Connection,
    namespace: Namespace,
    space: EmbeddingSpace,
    *,
    limit: int,
    after: Place | None = None,
) -> tuple[tuple[Memory, ...], int]:
    """Return long-term memories that are true now and lack a vector of *space*."""
    rows = await connection.fetch(
        SELECT_UNEMBEDDED, *seen_by(namespace), space.model, space.dim, *place_columns(after), limit
    )
    found = [memory_of(row, namespace.user) for row in rows if row["memory_id"] is not None]
    return tuple(found), rows[0]["lacking"]
