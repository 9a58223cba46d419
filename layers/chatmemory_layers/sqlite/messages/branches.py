"""Reads a branch, or an earlier version of any conversation, by levels.

A branch shows its own messages after those of its parents, each up to the point of the fork.  The present version of
a conversation that is not a branch is read by the quicker statements of ``message_reads.py``.
"""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from chatmemory.conversation.messages import View
from chatmemory_layers.sql.columns import END_US, to_us

Execute: TypeAlias = Callable[..., sqlite3.Cursor]


class Level(NamedTuple):
    """The messages stored under one key that a conversation shows.

    Attributes:
        key: the key of a conversation.
        floor: only messages with a greater number; those up to it belong to its parent.
        reach: only messages up to this number.
        version: only what was stored and covered by this version.
    """

    key: int
    floor: int
    reach: int
    version: int

    def bounds(self) -> dict[str, int]:
        """Return the level as parameters of statements."""
        return {
            "conversation_key": self.key,
            "floor": self.floor,
            "reach": self.reach,
            "version": self.version,
        }


SELECT_PARENT = """
SELECT parent_key, shared_seq, shared_version FROM chat_conversation WHERE conversation_key = :conversation_key
"""

# A message of an earlier edition has no version that covered it: the number of its summary is used instead.
_STORED: Final = """\
conversation_key = :conversation_key AND seq > :floor AND seq <= :reach
    AND (version IS NULL OR version <= :version)"""
_IN_VIEW: Final = """\
AND (covered_by IS NULL OR covered_at_version > :version OR (covered_at_version IS NULL AND EXISTS (
        SELECT 1 FROM chat_message AS summary
        WHERE summary.id = chat_message.covered_by AND summary.conversation_key = :conversation_key
            AND summary.seq > :reach
    )))"""

# Messages have their seq as position and are read in order from its index; summaries, which are few, have other positions.
_FULL: Final = """
SELECT id, role, content, sent_at_us, metadata,
    CASE WHEN covered_at_version > :version THEN NULL ELSE covered_by END, seq
FROM chat_message
WHERE {stored} AND sent_at_us < :before_us AND seq {side}
ORDER BY seq {order} LIMIT :limit
"""
_MODEL: Final = """
SELECT id, role, content, sent_at_us, metadata, NULL, seq, seq AS position FROM chat_message
WHERE {stored} AND sent_at_us < :before_us AND seq {side} AND coalesce(place, seq) = seq
    {in_view}
UNION ALL
SELECT id, role, content, sent_at_us, metadata, NULL, seq, place FROM chat_message
WHERE {stored} AND sent_at_us < :before_us AND place {side} AND place <> seq
    AND id IN (
        SELECT summary_message_id FROM summarization_metadata
        WHERE summarization_metadata.conversation_key = :conversation_key
    )
    {in_view}
ORDER BY position {order} LIMIT :limit
"""


def _statement(template: str, side: str, order: str) -> str:
    return template.format(stored=_STORED, in_view=_IN_VIEW, side=side, order=order)


SELECT_LEVEL_OLDER: Final[dict[View, str]] = {
    "full": _statement(_FULL, "< :end", "DESC"),
    "model": _statement(_MODEL, "< :end", "DESC"),
}
SELECT_LEVEL_NEWER: Final[dict[View, str]] = {
    "full": _statement(_FULL, "> :start", "ASC"),
    "model": _statement(_MODEL, "> :start", "ASC"),
}
COUNT_LEVEL: Final = f"""
SELECT count(*), coalesce(sum(role = 'summary'), 0) FROM chat_message WHERE {_STORED}
"""  # noqa: S608  made of a constant
COUNT_LEVEL_VIEW: Final = f"""
SELECT count(*), coalesce(sum(tokens), 0), coalesce(sum(role IN ('user', 'assistant', 'tool')), 0)
FROM chat_message WHERE {_STORED} {_IN_VIEW}
"""  # noqa: S608  made of constants
SELECT_LEVEL_BY_IDS: Final = f"""
SELECT id, role, content, metadata, seq, version FROM chat_message
WHERE {_STORED} AND id IN (SELECT value FROM json_each(:ids))
"""  # noqa: S608  made of a constant


SELECT_LEVEL_IN_VIEW: Final = f"""
SELECT coalesce(place, seq), role, tokens FROM chat_message
WHERE {_STORED} AND id IN (SELECT value FROM json_each(:ids)) {_IN_VIEW}
"""  # noqa: S608  made of constants
# A copy has a place, since it is in the part that may be summarized.
COPY_MESSAGES: Final = f"""
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, covered_by, covered_at_version,
    metadata, content, version, stored_at_us, message_count, view_count, view_tokens, open_count)
SELECT :branch_key, seq, coalesce(place, seq), id, role, sent_at_us, tokens,
    CASE WHEN is_in_view THEN NULL ELSE covered_by END, CASE WHEN is_in_view THEN NULL ELSE covered_at_version END,
    metadata, content, version, stored_at_us, message_count, view_count, view_tokens, open_count
FROM (SELECT *, (TRUE {_IN_VIEW}) AS is_in_view FROM chat_message WHERE {_STORED})
"""  # noqa: S608  made of constants
COPY_SUMMARIZATIONS = """
INSERT INTO summarization_metadata (conversation_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, is_stale, made_at_version)
SELECT :branch_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale,
    made_at_version
FROM summarization_metadata
WHERE conversation_key = :conversation_key AND (made_at_version IS NULL OR made_at_version <= :version)
"""
COPY_COVERAGE = """
INSERT INTO summary_coverage (conversation_key, message_id, metadata_id, ordinal)
SELECT :branch_key, message_id, metadata_id, ordinal
FROM summarization_metadata JOIN summary_coverage USING (conversation_key)
WHERE conversation_key = :conversation_key AND metadata_id = id
    AND (made_at_version IS NULL OR made_at_version <= :version)
"""

SELECT_KEPT = """
SELECT version, kept_since_version, kept_since_us FROM chat_conversation WHERE conversation_key = :conversation_key
"""
SELECT_LEVEL_VERSION = f"""
SELECT version FROM chat_message WHERE {_STORED} AND stored_at_us <= :at_us ORDER BY seq DESC LIMIT 1
"""  # noqa: S608  made of a constant


SELECT_LAST = """
SELECT max(seq) FROM chat_message WHERE conversation_key = :conversation_key AND seq > :floor AND seq <= :reach
"""
SELECT_VERSION_AT = """
SELECT version FROM chat_message WHERE conversation_key = :conversation_key AND seq > :floor AND seq <= :seq
ORDER BY seq DESC LIMIT 1
"""


class Past(NamedTuple):
    """A version of a conversation, and whether all that it held is still stored."""

    version: int
    is_whole: bool


def levels_of(execute: Execute, key: int, version: int = END_US) -> list[Level]:
    """Return the levels of the conversation *key* at *version*: itself first, then its parents.

    Args:
        execute: executes a statement.
        key: the key of the conversation.
        version: the version; the default is later than every version.
    """
    levels: list[Level] = []
    reach = END_US
    while True:
        parent_key, seq, parent_version = execute(SELECT_PARENT, {"conversation_key": key}).fetchone()
        if parent_key is None:
            return [*levels, Level(key, 0, reach, version)]
        levels.append(Level(key, seq, reach, version))
        key, reach, version = parent_key, min(reach, seq), min(version, parent_version)


def reach_of(execute: Execute, level: Level, version: int) -> int:
    """Return a number up to which the messages of *level* are those that were stored by *version*.

    Numbers and versions grow together, so a binary search finds it without reading later messages.

    Args:
        execute: executes a statement.
        level: the messages to search.
        version: the version.
    """
    (last,) = execute(SELECT_LAST, level.bounds()).fetchone()
    low, high = level.floor, (level.floor if last is None else last) + 1
    while high - low > 1:
        middle = (low + high) // 2
        found = execute(SELECT_VERSION_AT, {**level.bounds(), "seq": middle}).fetchone()
        if found is None or found[0] is None or found[0] <= version:
            low = middle
        else:
            high = middle
    return low


def past_of(execute: Execute, key: int, as_of: int | datetime) -> Past:
    """Return the version that *as_of* names, at most the present one.

    Args:
        execute: executes a statement.
        key: the key of the conversation.
        as_of: a version, or an instant.
    """
    present, kept_since_version, kept_since_us = execute(SELECT_KEPT, {"conversation_key": key}).fetchone()
    if isinstance(as_of, int):
        version = min(as_of, present)
    else:
        at_us = to_us(as_of)
        # A change that has destroyed content has left nothing but its version and its instant.
        version = kept_since_version if kept_since_us is not None and kept_since_us <= at_us else 0
        for level in levels_of(execute, key):
            stored = execute(SELECT_LEVEL_VERSION, {**level.bounds(), "at_us": at_us}).fetchone()
            if stored is not None:
                version = max(version, stored[0])
                break
    return Past(version, version >= kept_since_version)


def older_rows(
    execute: Execute, levels: Sequence[Level], view: View, *, end: int, before_us: int, limit: int
) -> list[tuple[Any, ...]]:
    """Return the newest rows before *end*, the newest first; the last column is the position of each.

    Args:
        execute: runs a statement.
        levels: the levels of the conversation.
        view: which messages.
        end: the cursor; only rows before it.
        before_us: only messages that were said earlier, in microseconds since 1970.
        limit: the largest number of rows.
    """
    rows: list[tuple[Any, ...]] = []
    for level in levels:
        if len(rows) < limit and level.floor < end:
            asked = {**level.bounds(), "end": end, "before_us": before_us, "limit": limit - len(rows)}
            rows += execute(SELECT_LEVEL_OLDER[view], asked).fetchall()
    return rows


def newer_rows(
    execute: Execute, levels: Sequence[Level], view: View, *, start: int, before_us: int, limit: int
) -> list[tuple[Any, ...]]:
    """Return the oldest rows after *start*, the oldest first; the last column is the position of each.

    Args:
        execute: runs a statement.
        levels: the levels of the conversation.
        view: which messages.
        start: the cursor; only rows after it.
        before_us: only messages that were said earlier, in microseconds since 1970.
        limit: the largest number of rows.
    """
    rows: list[tuple[Any, ...]] = []
    for level in reversed(levels):
        if len(rows) < limit and level.reach > start:
            asked = {**level.bounds(), "start": start, "before_us": before_us, "limit": limit - len(rows)}
            rows += execute(SELECT_LEVEL_NEWER[view], asked).fetchall()
    return rows
