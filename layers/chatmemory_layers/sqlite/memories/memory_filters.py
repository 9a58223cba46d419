"""Conditions that statements about memories share, the parameters that they need, and the rows that pass them.

Each is SQL for a WHERE clause over ``atomic_memory`` or the view ``memory_record``.
"""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from chatmemory.longterm.memories import Namespace
from chatmemory.longterm.memory_rules import folded
from chatmemory_layers.sql.columns import to_us

Parameters: TypeAlias = dict[str, object]

Row: TypeAlias = tuple[Any, ...]
"""A row of the view ``memory_record``; the last column is its key."""

# See Namespace.sees.
SEEN = """
user_key = (SELECT user_key FROM memory_user WHERE user_id = :user) AND (:app = '' OR app_type IN ('', :app))
"""
# Now, unless there is an instant.
TRUE = """
(:as_of_us IS NULL OR created_at_us <= :as_of_us) AND (superseded_at_us IS NULL OR superseded_at_us > :as_of_us)
"""
# What is no JSON array is read as memory_row.tags_of reads it: separated by commas.
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
# contained is folded already.  lower() knows ASCII alone, unless somebody has built SQLite with ICU.
CONTAINS = """
(:contained IS NULL OR instr(lower(content), :contained) OR instr(lower(key), :contained)
    OR instr(lower(CASE WHEN substr(value, 1, 1) = '"' THEN json_extract(value, '$') ELSE value END), :contained))
"""
# What a search may find.
RECALLABLE = f"""
memory_type = 'long_term' AND {SEEN} AND {TRUE} AND (:category IS NULL OR category = :category) AND {HAS_TAGS}
"""

# CROSS: in the order of the keys, and no further than the limit; SQLite would rather walk through all of the user's.
SELECT_PASSING = f"""
SELECT memory_record.* FROM json_each(:keys) AS wanted CROSS JOIN memory_record ON memory_key = wanted.value
WHERE {RECALLABLE} LIMIT :limit
"""  # noqa: S608  conditions, no values


def seen_by(namespace: Namespace) -> Parameters:
    """Return the parameters of ``SEEN``."""
    return {"user": namespace.user, "app": namespace.app}


def true_at(as_of: datetime | None) -> Parameters:
    """Return the parameters of ``TRUE``."""
    return {"as_of_us": None if as_of is None else to_us(as_of)}


def tagged(tags: Sequence[str]) -> Parameters:
    """Return the parameters of ``HAS_TAGS``."""
    return {"tags": json.dumps(tags)}


def containing(text: str | None) -> Parameters:
    """Return the parameters of ``CONTAINS``."""
    return {"contained": None if text is None else folded(text)}


def passing(connection: sqlite3.Connection, keys: Sequence[int], parameters: Parameters) -> list[Row]:
    """Return the rows of the first ``limit`` of *keys* that are recallable; *parameters* are those of ``RECALLABLE``."""
    return connection.execute(SELECT_PASSING, {**parameters, "keys": json.dumps(keys)}).fetchall()
