"""What is read of an earlier version of a conversation: which version an instant names, and the statements of its pages."""

import sqlite3
from datetime import datetime
from typing import Final, NamedTuple

from chatmemory.conversation.messages import View
from chatmemory_layers.sql.columns import END_US, to_us

# Of a change that has destroyed content nothing is stored but its version and its instant.
SELECT_PAST = """
SELECT version, kept_since_version, CASE WHEN kept_since_us <= :at_us THEN kept_since_version ELSE 0 END, (
    SELECT chat_message.version FROM chat_message
    WHERE conversation_key = :conversation_key AND stored_at_us <= :at_us
    ORDER BY seq DESC LIMIT 1
)
FROM chat_conversation WHERE conversation_key = :conversation_key
"""

SELECT_PAST_FULL_OLDER = """
SELECT id, role, content, sent_at_us, metadata,
    CASE WHEN covered_at_version > :version THEN NULL ELSE covered_by END, seq
FROM chat_message
WHERE conversation_key = :conversation_key AND seq < :end AND sent_at_us < :before_us
    AND (version IS NULL OR version <= :version)
ORDER BY seq DESC LIMIT :limit
"""
SELECT_PAST_FULL_NEWER = """
SELECT id, role, content, sent_at_us, metadata,
    CASE WHEN covered_at_version > :version THEN NULL ELSE covered_by END, seq
FROM chat_message
WHERE conversation_key = :conversation_key AND seq > :start AND sent_at_us < :before_us
    AND (version IS NULL OR version <= :version)
ORDER BY seq LIMIT :limit
"""
# Messages stand at their seq and come out of its index in order; summaries, which are few, stand elsewhere.
SELECT_PAST_MODEL_OLDER = """
SELECT id, role, content, sent_at_us, metadata, NULL, seq, seq AS position FROM chat_message
WHERE conversation_key = :conversation_key AND seq < :end AND coalesce(place, seq) = seq AND sent_at_us < :before_us
    AND (version IS NULL OR version <= :version) AND (covered_by IS NULL OR covered_at_version > :version)
UNION ALL
SELECT chat_message.id, role, content, sent_at_us, metadata, NULL, seq, place
FROM summarization_metadata CROSS JOIN chat_message ON chat_message.id = summary_message_id
    AND chat_message.conversation_key = summarization_metadata.conversation_key
WHERE summarization_metadata.conversation_key = :conversation_key AND place < :end AND place <> seq
    AND sent_at_us < :before_us
    AND (version IS NULL OR version <= :version) AND (covered_by IS NULL OR covered_at_version > :version)
ORDER BY position DESC LIMIT :limit
"""
SELECT_PAST_MODEL_NEWER = """
SELECT id, role, content, sent_at_us, metadata, NULL, seq, seq AS position FROM chat_message
WHERE conversation_key = :conversation_key AND seq > :start AND coalesce(place, seq) = seq AND sent_at_us < :before_us
    AND (version IS NULL OR version <= :version) AND (covered_by IS NULL OR covered_at_version > :version)
UNION ALL
SELECT chat_message.id, role, content, sent_at_us, metadata, NULL, seq, place
FROM summarization_metadata CROSS JOIN chat_message ON chat_message.id = summary_message_id
    AND chat_message.conversation_key = summarization_metadata.conversation_key
WHERE summarization_metadata.conversation_key = :conversation_key AND place > :start AND place <> seq
    AND sent_at_us < :before_us
    AND (version IS NULL OR version <= :version) AND (covered_by IS NULL OR covered_at_version > :version)
ORDER BY position LIMIT :limit
"""
SELECT_PAST_OLDER: Final[dict[View, str]] = {
    "full": SELECT_PAST_FULL_OLDER,
    "model": SELECT_PAST_MODEL_OLDER,
}
SELECT_PAST_NEWER: Final[dict[View, str]] = {
    "full": SELECT_PAST_FULL_NEWER,
    "model": SELECT_PAST_MODEL_NEWER,
}


class Past(NamedTuple):
    """A version of a conversation, and whether all that it held is still stored."""

    version: int
    is_whole: bool


def past_of(connection: sqlite3.Connection, key: int, as_of: int | datetime) -> Past:
    """Return the version that *as_of* names, at most the present one."""
    asked = {"conversation_key": key, "at_us": -END_US if isinstance(as_of, int) else to_us(as_of)}
    present, kept_since_version, kept, stored = connection.execute(SELECT_PAST, asked).fetchone()
    version = min(as_of, present) if isinstance(as_of, int) else max(kept, stored or 0)
    return Past(version, version >= kept_since_version)
