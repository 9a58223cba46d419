"""Conditions that statements about memories share, and the parameters that they need.

Each is SQL for a WHERE clause over ``atomic_memory`` or the view ``memory``.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from chatmemory.memories import Namespace
from chatmemory_layers.columns import to_us

Parameters: TypeAlias = dict[str, object]

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
# What a search may find.
RECALLABLE = f"""
memory_type = 'long_term' AND {SEEN} AND {TRUE} AND (:category IS NULL OR category = :category) AND {HAS_TAGS}
"""


def seen_by(namespace: Namespace) -> Parameters:
    """Return the parameters of ``SEEN``."""
    return {"user": namespace.user, "app": namespace.app}


def true_at(as_of: datetime | None) -> Parameters:
    """Return the parameters of ``TRUE``."""
    return {"as_of_us": None if as_of is None else to_us(as_of)}


def tagged(tags: Sequence[str]) -> Parameters:
    """Return the parameters of ``HAS_TAGS``."""
    return {"tags": json.dumps(tags)}
