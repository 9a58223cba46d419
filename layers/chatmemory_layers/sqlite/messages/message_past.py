"""Reads a conversation as it was at an earlier version, and counts or copies that part of it.

The present version is read by the quicker statements of ``message_reads.py``.
"""

from datetime import datetime
from typing import Any, Final, NamedTuple

from chatmemory.conversation.forks import ForkPoint
from chatmemory.conversation.messages import View
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sqlite.engine.transaction import Execute


class Part(NamedTuple):
    """A part of a conversation: its messages up to a number, as they were at a version.

    Attributes:
        key: the key of the conversation.
        seq: only messages up to this number.
        version: only what was stored and covered by this version.
    """

    key: int
    seq: int
    version: int

    def parameters(self) -> dict[str, int]:
        """Return the part as parameters of statements."""
        return {"conversation_key": self.key, "last_seq": self.seq, "version": self.version}


# A message of an earlier edition lacks the version that covered it: the number of its summary is used instead.
_STORED: Final = """\
conversation_key = :conversation_key AND seq <= :last_seq AND (version IS NULL OR version <= :version)"""
_IN_VIEW: Final = """\
(covered_by IS NULL OR covered_at_version > :version OR (covered_at_version IS NULL AND EXISTS (
        SELECT 1 FROM chat_message AS summary
        WHERE summary.id = chat_message.covered_by AND summary.conversation_key = :conversation_key
            AND summary.seq > :last_seq
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
    AND {in_view}
UNION ALL
SELECT id, role, content, sent_at_us, metadata, NULL, seq, place FROM chat_message
WHERE {stored} AND sent_at_us < :before_us AND place {side} AND place <> seq
    AND id IN (
        SELECT summary_message_id FROM summarization_metadata
        WHERE summarization_metadata.conversation_key = :conversation_key
    )
    AND {in_view}
ORDER BY position {order} LIMIT :limit
"""


def _statement(template: str, side: str, order: str) -> str:
    return template.format(stored=_STORED, in_view=_IN_VIEW, side=side, order=order)


SELECT_PAST_OLDER: Final[dict[View, str]] = {
    "full": _statement(_FULL, "< :end", "DESC"),
    "model": _statement(_MODEL, "< :end", "DESC"),
}
SELECT_PAST_NEWER: Final[dict[View, str]] = {
    "full": _statement(_FULL, "> :start", "ASC"),
    "model": _statement(_MODEL, "> :start", "ASC"),
}
COUNT_PART: Final = f"""
SELECT count(*), count(*) FILTER (WHERE is_in_view), coalesce(sum(tokens) FILTER (WHERE is_in_view), 0),
    count(*) FILTER (WHERE is_in_view AND role IN ('user', 'assistant', 'tool'))
FROM (SELECT role, tokens, {_IN_VIEW} AS is_in_view FROM chat_message WHERE {_STORED})
"""  # noqa: S608  made of constants

# Each message of the part that summaries have changed has a place, except where a summary covers it.
COPY_MESSAGES: Final = f"""
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, covered_by, covered_at_version,
    metadata, content, version, stored_at_us)
SELECT :copy_key, seq, coalesce(place, CASE WHEN seq <= :summarized_place THEN seq END), id, role, sent_at_us, tokens,
    CASE WHEN is_in_view THEN NULL ELSE covered_by END, CASE WHEN is_in_view THEN NULL ELSE covered_at_version END,
    metadata, content, version, stored_at_us
FROM (SELECT *, {_IN_VIEW} AS is_in_view FROM chat_message WHERE {_STORED})
"""  # noqa: S608  made of constants
COPY_SUMMARIZATIONS: Final = """
INSERT INTO summarization_metadata (conversation_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, is_stale, made_at_version)
SELECT :copy_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale,
    made_at_version
FROM summarization_metadata
WHERE conversation_key = :conversation_key AND (made_at_version IS NULL OR made_at_version <= :version)
"""
COPY_COVERAGE: Final = """
INSERT INTO summary_coverage (conversation_key, message_id, metadata_id, ordinal)
SELECT :copy_key, message_id, metadata_id, ordinal
FROM summarization_metadata JOIN summary_coverage USING (conversation_key)
WHERE conversation_key = :conversation_key AND metadata_id = id
    AND (made_at_version IS NULL OR made_at_version <= :version)
"""
COPY_PART: Final = (COPY_MESSAGES, COPY_SUMMARIZATIONS, COPY_COVERAGE)

SELECT_KEPT = """
SELECT version, kept_since_version, kept_since_us FROM chat_conversation WHERE conversation_key = :conversation_key
"""
SELECT_VERSION_BEFORE = """
SELECT version FROM chat_message WHERE conversation_key = :conversation_key AND stored_at_us <= :at_us
ORDER BY seq DESC LIMIT 1
"""
SELECT_LAST = """
SELECT max(seq) FROM chat_message WHERE conversation_key = :conversation_key
"""
SELECT_VERSION_AT = """
SELECT seq, version FROM chat_message WHERE conversation_key = :conversation_key AND seq <= :seq
ORDER BY seq DESC LIMIT 1
"""


class PastVersion(NamedTuple):
    """A version of a conversation, and whether all that it held is still stored."""

    version: int
    is_whole: bool


def part_at(execute: Execute, key: int, version: int) -> Part:
    """Return the part of a conversation that was stored by a version.

    Numbers and versions grow together, so a binary search finds the last number without reading later messages.
    """
    (last,) = execute(SELECT_LAST, {"conversation_key": key}).fetchone()
    low, high, newest = 0, (last or 0) + 1, 0
    while high - low > 1:
        middle = (low + high) // 2
        asked = {"conversation_key": key, "seq": middle}
        seq, made_by = execute(SELECT_VERSION_AT, asked).fetchone() or (0, None)
        if made_by is None or made_by <= version:
            low, newest = middle, seq
        else:
            high = middle
    return Part(key, newest, version)


def past_of(execute: Execute, key: int, as_of: int | datetime) -> PastVersion:
    """Return the version that *as_of*, a version or an instant, names, at most the present one."""
    present, kept_since_version, kept_since_us = execute(SELECT_KEPT, {"conversation_key": key}).fetchone()
    if isinstance(as_of, int):
        version = min(as_of, present)
    else:
        at_us = to_us(as_of)
        # A change that has destroyed content has left nothing but its version and its instant.
        kept = kept_since_version if kept_since_us is not None and kept_since_us <= at_us else 0
        stored = execute(SELECT_VERSION_BEFORE, {"conversation_key": key, "at_us": at_us}).fetchone()
        version = max(kept, stored[0] or 0) if stored else kept
    return PastVersion(version, version >= kept_since_version)


def end_of(execute: Execute, part: Part) -> ForkPoint:
    """Return the point at the end of *part*, with the numbers of its messages."""
    return ForkPoint(part.seq, part.version, *execute(COUNT_PART, part.parameters()).fetchone())


def copy_part(execute: Execute, part: Part, *, summarized_place: int, copy_key: int) -> None:
    """Copy the messages and summaries of *part* into a conversation without any; *summarized_place* is that of the part's conversation."""
    copying: dict[str, Any] = {
        **part.parameters(),
        "summarized_place": summarized_place,
        "copy_key": copy_key,
    }
    for statement in COPY_PART:
        execute(statement, copying)
