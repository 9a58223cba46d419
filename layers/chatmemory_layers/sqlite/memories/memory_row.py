"""Rows of memories: SQL conditions on them with their parameters, and the conversion between a memory and its columns.

``memory_tables.py`` describes the columns of ``atomic_memory`` and of its view ``memory_record``.  The modules
``memory_reads.py``, ``memory_search.py``, ``memory_store.py`` and ``memory_writes.py`` read and write the rows.  A condition
is SQL for a WHERE clause over the table or the view.
"""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import from_json, to_json
from chatmemory.longterm.memories import NO_PROVENANCE, EarlierContent, Memory, Provenance
from chatmemory.longterm.memory_rules import folded
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, to_us

Parameters: TypeAlias = dict[str, object]

Row: TypeAlias = tuple[Any, ...]
"""A row of the view ``memory_record``; the last column is its key."""

# See ``value_key``.
IS_VALUE = "role = 'system' AND source = 'system'"
# See Namespace.sees.
SEEN = """
user_key = (SELECT user_key FROM memory_user WHERE user_name = :user) AND (:app = '' OR app_type IN ('', :app))
"""
# Now, unless there is an instant.
TRUE = """
(:as_of_us IS NULL OR created_at_us <= :as_of_us) AND (superseded_at_us IS NULL OR superseded_at_us > :as_of_us)
"""
# No longer true, now or at a time; what was no longer true then had been true before.
OVER = "superseded_at_us <= coalesce(:as_of_us, superseded_at_us)"
# A text that is not a JSON array is read as ``tags_of`` reads it: separated by commas.
HAS_TAGS = """
(:tags = '[]' OR NOT EXISTS (
    SELECT 1 FROM json_each(:tags) AS wanted
    WHERE wanted.value NOT IN (
        SELECT value FROM json_each(CASE
            WHEN tags IS NULL THEN '[]'
            WHEN json_valid(tags) AND json_type(tags) = 'array' THEN tags
            ELSE '[' || replace(replace(json_quote(tags), ', ', ','), ',', '","') || ']'
        END)
    )
))
"""
# contained is folded already.  lower() folds ASCII only, unless SQLite is built with ICU.
CONTAINS = """
(:contained IS NULL OR instr(lower(content), :contained) OR instr(lower(key), :contained)
    OR instr(lower(CASE WHEN substr(value, 1, 1) = '"' THEN json_extract(value, '$') ELSE value END), :contained))
"""
# What a search may find.
RECALLABLE = f"""
memory_type = 'long_term' AND {SEEN} AND {TRUE} AND (:category IS NULL OR category = :category) AND {HAS_TAGS}
"""

# CROSS: reads in the order of the keys, and stops at the limit; otherwise SQLite would read all memories of the user.
SELECT_PASSING = f"""
SELECT memory_record.* FROM json_each(:keys) AS wanted CROSS JOIN memory_record ON memory_key = wanted.value
WHERE {RECALLABLE} LIMIT :limit
"""  # noqa: S608  conditions, no values


def seen_by(namespace: Namespace) -> Parameters:
    """Return the parameters of ``SEEN``, which selects what a reader in *namespace* sees."""
    return {"user": namespace.user, "app": namespace.app}


def true_at(as_of: datetime | None) -> Parameters:
    """Return the parameters of ``TRUE``, which selects what was true at *as_of*; None: what is true now."""
    return {"as_of_us": None if as_of is None else to_us(as_of)}


def tagged(tags: Sequence[str]) -> Parameters:
    """Return the parameters of ``HAS_TAGS``, which selects memories with all of *tags*."""
    return {"tags": json.dumps(tags)}


def containing(text: str | None) -> Parameters:
    """Return the parameters of ``CONTAINS``, which selects memories that contain *text*; None: all memories."""
    return {"contained": None if text is None else folded(text)}


def passing(connection: sqlite3.Connection, keys: Sequence[int], parameters: Parameters) -> list[Row]:
    """Return the *keys*, best first, whose rows a search may find, in this order; *parameters*: those of ``RECALLABLE``, and ``limit``."""
    return connection.execute(SELECT_PASSING, {**parameters, "keys": json.dumps(keys)}).fetchall()


def memory_of(row: Row, namespace: Namespace) -> Memory:
    """Return the memory of a row of the view ``memory_record`` that a reader in *namespace* sees."""
    (
        memory_id,
        app_type,
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
        provenance,
        created_at_us,
        last_used_at_us,
        use_count,
        model,
        dim,
        superseded_at_us,
        superseded_by,
        version,
        attribute,
        *_,
    ) = row
    return Memory(
        memory_id,
        namespace if app_type == namespace.app else Namespace(namespace.user, app_type),
        content,
        key,
        None if value is None else from_json(value),
        category,
        () if tags is None else tags_of(tags),
        confidence,
        source,
        role,
        session_id,
        memory_type,
        bool(pinned),
        provenance_of(provenance),
        EPOCH + created_at_us * MICROSECOND,
        None if last_used_at_us is None else EPOCH + last_used_at_us * MICROSECOND,
        use_count,
        None if model is None else EmbeddingSpace(model, dim),
        None if superseded_at_us is None else EPOCH + superseded_at_us * MICROSECOND,
        superseded_by,
        version,
        attribute=attribute,
    )


def said_columns(said: MemoryDraft | EarlierContent) -> tuple[object, ...]:
    """Return the columns content, key, value, category, tags, confidence, source and provenance, which a correction changes."""
    return (
        said.content,
        said.key,
        to_json(said.value),
        said.category,
        to_json(said.tags) if said.tags else None,
        said.confidence,
        said.source,
        provenance_column(said.provenance),
    )


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags of a column: a JSON array; or any text of the desktop application, separated by commas.

    ``HAS_TAGS`` reads them in the same way.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):  # brackets within brackets are text, to SQLite as well
        found = None
    tags = cast("list[object]", found) if isinstance(found, list) else text.replace(", ", ",").split(",")
    return tuple([tag for tag in tags if isinstance(tag, str) and tag])


def provenance_column(provenance: Provenance) -> str | None:
    """Return where a memory came from as JSON; None: it is unknown."""
    if provenance == NO_PROVENANCE:
        return None
    return to_json(
        {
            "message_ids": provenance.message_ids,
            "extractor": provenance.extractor,
            "path": provenance.path,
        }
    )


def provenance_of(text: str | None) -> Provenance:
    """Return where a memory came from, read from its column."""
    if text is None:
        return NO_PROVENANCE
    column = json.loads(text)
    return Provenance(tuple(column["message_ids"]), column["extractor"], column["path"])
