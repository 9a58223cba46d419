"""Reads memories: one memory, the value of a key, lists.  Each function runs on one snapshot and fetches all that it needs.

``memory_search.py`` finds memories for a recall.
"""

import sqlite3
from datetime import datetime

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.repository_values import MemoryCount, MemoryListing
from chatmemory_layers.sql.columns import from_us, place_columns, to_us
from chatmemory_layers.sqlite.memories.memory_row import (
    CONTAINS,
    HAS_TAGS,
    IS_VALUE,
    OVER,
    SEEN,
    TRUE,
    Parameters,
    containing,
    memory_of,
    seen_by,
    tagged,
    true_at,
)

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

SELECT_MEMORY = f"SELECT * FROM memory_record WHERE memory_id = :memory_id AND {SEEN}"
# +: uses the index of keys, or of sessions; otherwise SQLite would read all memories of the user, as they are in order.
_VALUE = """
SELECT * FROM memory_record
WHERE user_key = (SELECT user_key FROM memory_user WHERE user_name = :user) AND key = :key AND app_type = :app AND {is_value}
    AND {true}
ORDER BY +created_at_us DESC, memory_id DESC LIMIT 1
"""
SELECT_VALUE = _VALUE.format(true="superseded_at_us IS NULL", is_value=IS_VALUE)
SELECT_VALUE_THEN = _VALUE.format(true=TRUE, is_value=IS_VALUE)
# Text is compared as UTF-8, which is the order of code points.
_SELECTED = f"""
{SEEN} AND CASE WHEN :superseded THEN {OVER} ELSE {TRUE} END
    AND (NOT :exact_app OR app_type = :app) AND (NOT :has_attribute OR attribute IS NOT NULL)
    AND (:memory_type IS NULL OR memory_type = :memory_type)
    AND (:category IS NULL OR category = :category)
    AND (:source IS NULL OR source = :source)
    AND (:session_id IS NULL OR session_id = :session_id)
    AND (:value_prefix IS NULL OR (substr(key, 1, length(:value_prefix)) = :value_prefix AND {IS_VALUE}))
    AND {HAS_TAGS} AND {CONTAINS}
"""
_LISTED = f"""
SELECT * FROM memory_record
WHERE {{narrowed}} AND ({{place}}, memory_id) < (:after_us, :after_id) AND {_SELECTED}
ORDER BY {{order}} DESC, memory_id DESC LIMIT :limit
"""
SELECT_LISTED = _LISTED.format(narrowed="TRUE", place="created_at_us", order="created_at_us")
SELECT_LISTED_SINCE = _LISTED.format(
    narrowed="created_at_us BETWEEN :since_us AND :after_us", place="+created_at_us", order="created_at_us"
)
SELECT_LISTED_OF_SESSION = _LISTED.format(
    narrowed="session_id = :session_id", place="+created_at_us", order="+created_at_us"
)
# FF: after every byte that can follow in UTF-8.
SELECT_LISTED_OF_KEYS = _LISTED.format(
    narrowed="key >= :value_prefix AND key < :value_prefix || CAST(x'FF' AS TEXT)",
    place="+created_at_us",
    order="+created_at_us",
)
SELECT_LISTED_OF_ATTRIBUTES = _LISTED.format(
    narrowed="attribute IS NOT NULL AND superseded_at_us IS NULL",
    place="+created_at_us",
    order="+created_at_us",
)
COUNT_LISTED = f"""
SELECT memory_type, category, source, count(*) FROM memory_record
WHERE {_SELECTED} AND (:since_us IS NULL OR created_at_us >= :since_us)
GROUP BY memory_type, category, source
"""
SELECT_REACH = f"""
SELECT created_at_us FROM atomic_memory
WHERE {SEEN} AND (created_at_us, memory_id) < (:after_us, :after_id)
ORDER BY created_at_us DESC, memory_id DESC LIMIT 1 OFFSET :count - 1
"""
SELECT_UNEMBEDDED = f"""
SELECT * FROM memory_record
WHERE {SEEN} AND memory_type = 'long_term' AND superseded_at_us IS NULL
    AND (model, dim) IS NOT (:model, :dim) AND (created_at_us, memory_id) < (:after_us, :after_id)
ORDER BY created_at_us DESC, memory_id DESC LIMIT :limit
"""
COUNT_UNEMBEDDED = f"""
SELECT coalesce(sum(memories), 0) FROM memory_coverage WHERE {SEEN} AND space_key IS NOT (
    SELECT space_key FROM memory_space
    WHERE user_key = (SELECT user_key FROM memory_user WHERE user_name = :user) AND model = :model AND dim = :dim
)
"""


def get(connection: sqlite3.Connection, namespace: Namespace, memory_id: str) -> Memory | None:
    """Return a memory, whether true now or superseded."""
    asked = {**seen_by(namespace), "memory_id": memory_id}
    row = connection.execute(SELECT_MEMORY, asked).fetchone()
    return None if row is None else memory_of(row, namespace)


def value(
    connection: sqlite3.Connection, namespace: Namespace, key: str, *, as_of: datetime | None = None
) -> Memory | None:
    """Return the value of a key in exactly this namespace: the newest memory with this ``value_key``."""
    parameters = {**seen_by(namespace), **true_at(as_of), "key": key}
    statement = SELECT_VALUE if as_of is None else SELECT_VALUE_THEN
    row = connection.execute(statement, parameters).fetchone()
    return None if row is None else memory_of(row, namespace)


def listed(connection: sqlite3.Connection, listing: MemoryListing) -> tuple[Memory, ...]:
    """Return at most ``listing.limit`` memories, newest first."""
    parameters = {**_selected(listing), **_behind(listing.after), "limit": listing.limit}
    rows = connection.execute(_statement(listing), parameters).fetchall()
    return tuple([memory_of(row, listing.namespace) for row in rows])


def counted(connection: sqlite3.Connection, listing: MemoryListing, /) -> tuple[MemoryCount, ...]:
    """Count the memories of *listing*, whatever its ``limit`` and ``after``, by type, category and source, in any order."""
    rows = connection.execute(COUNT_LISTED, _selected(listing)).fetchall()
    return tuple([MemoryCount(*row) for row in rows])


def _selected(listing: MemoryListing) -> Parameters:
    return {
        **seen_by(listing.namespace),
        **true_at(listing.as_of),
        **tagged(() if listing.tag is None else (listing.tag,)),
        **containing(listing.containing),
        "since_us": None if listing.since is None else to_us(listing.since),
        "exact_app": listing.exact_app,
        "has_attribute": listing.has_attribute,
        "memory_type": listing.memory_type,
        "category": listing.category,
        "source": listing.source,
        "superseded": listing.superseded,
        "session_id": listing.session_id,
        "value_prefix": listing.value_prefix,
    }


def reach(
    connection: sqlite3.Connection, namespace: Namespace, count: int, *, after: Place | None = None
) -> datetime | None:
    """Return the creation time of the *count*-th memory, counted from the newest on."""
    walk = {**seen_by(namespace), **_behind(after), "count": count}
    row = connection.execute(SELECT_REACH, walk).fetchone()
    return None if row is None else from_us(row[0])


def unembedded(
    connection: sqlite3.Connection,
    namespace: Namespace,
    space: EmbeddingSpace,
    *,
    limit: int,
    after: Place | None = None,
) -> tuple[tuple[Memory, ...], int]:
    """Return long-term memories that are true now and lack a vector of *space*."""
    parameters = {
        **seen_by(namespace),
        **_behind(after),
        "model": space.model,
        "dim": space.dim,
        "limit": limit,
    }
    rows = connection.execute(SELECT_UNEMBEDDED, parameters).fetchall()
    (count,) = connection.execute(COUNT_UNEMBEDDED, parameters).fetchone()
    return tuple([memory_of(row, namespace) for row in rows]), count


def _statement(listing: MemoryListing) -> str:
    if listing.since is not None:
        return SELECT_LISTED_SINCE
    if listing.session_id is not None:
        return SELECT_LISTED_OF_SESSION
    if listing.has_attribute and listing.as_of is None and not listing.superseded:
        return SELECT_LISTED_OF_ATTRIBUTES
    return SELECT_LISTED_OF_KEYS if listing.value_prefix else SELECT_LISTED


def _behind(place: Place | None) -> Parameters:
    after_us, after_id = place_columns(place)
    return {"after_us": after_us, "after_id": after_id}
