"""The statements that read an earlier version of a conversation, and that count or copy a part of one."""

from typing import Final

from chatmemory.conversation.messages import View

# $5 is the version, or $6 the instant.  Of a change that has deleted content, only the version and the instant are stored.
_PAST: Final = """
WITH past AS (
    SELECT owner_user, owner_app, kept_since_version, least(version, coalesce($5::bigint, greatest(
        CASE WHEN kept_since_us <= $6::bigint THEN kept_since_version END,
        (
            SELECT chat_message.version FROM chat_message
            WHERE chat_message.conversation_id = $1 AND stored_at_us <= $6
            ORDER BY seq DESC LIMIT 1
        ),
        0
    ))) AS version
    FROM conversation
    WHERE conversation_id = $1 AND message_count > 0
)
SELECT stretch.*, past.version, owner_user, owner_app, past.version >= kept_since_version AS is_whole
FROM past LEFT JOIN LATERAL (
    {stretch}
) AS stretch ON TRUE
ORDER BY stretch.position
"""
_WAS_STORED: Final = "(version IS NULL OR version <= past.version)"
_WAS_IN_VIEW: Final = f"{_WAS_STORED} AND (covered_by IS NULL OR covered_at_version > past.version)"

_FULL: Final = """\
SELECT id, role, content, sent_at_us, metadata,
        CASE WHEN covered_at_version > past.version THEN NULL ELSE covered_by END AS covered_by, seq, seq AS position
    FROM chat_message
    WHERE conversation_id = $1 AND seq {side} AND sent_at_us < $3 AND {was_stored}
    ORDER BY seq {order} LIMIT {limit}"""
# The position of a message is its seq, whose index returns them in order; the few summaries have other positions.
_MODEL: Final = """\
SELECT * FROM (
        (SELECT id, role, content, sent_at_us, metadata, NULL AS covered_by, seq, seq AS position FROM chat_message
        WHERE conversation_id = $1 AND seq {side} AND place = seq AND sent_at_us < $3 AND {was_in_view}
        ORDER BY seq {order} LIMIT {limit})
        UNION ALL
        SELECT chat_message.id, role, content, sent_at_us, metadata, NULL, seq, place
        FROM summarization_metadata JOIN chat_message ON chat_message.conversation_id = $1
            AND hashtextextended(chat_message.id, 0) = hashtextextended(summary_message_id, 0)
            AND chat_message.id = summary_message_id
        WHERE summarization_metadata.conversation_id = $1 AND place {side} AND place <> seq AND sent_at_us < $3
            AND {was_in_view}
    ) AS in_view
    ORDER BY position {order} LIMIT {limit}"""


def older(page: str, stretch: str) -> str:
    """Return the *page* that reads a *stretch* before the cursor, newest first, so that LIMIT keeps the newest messages."""
    return page.format(stretch=_stretch(stretch, "< $2", "DESC", "$4::bigint"))


def newer(page: str, stretch: str) -> str:
    """Return the *page* that reads the message at or before the cursor, if any, then those after it."""
    before = _stretch(stretch, "<= $2", "DESC", "1")
    behind = _stretch(stretch, "> $2", "ASC", "$4::bigint")
    return page.format(stretch=f"({before})\n    UNION ALL\n    ({behind})")


def _stretch(stretch: str, side: str, order: str, limit: str) -> str:
    return stretch.format(
        side=side,
        order=order,
        limit=limit,
        was_stored=_WAS_STORED,
        was_in_view=_WAS_IN_VIEW,
    )


SELECT_PAST_OLDER: Final[dict[View, str]] = {"full": older(_PAST, _FULL), "model": older(_PAST, _MODEL)}
SELECT_PAST_NEWER: Final[dict[View, str]] = {"full": newer(_PAST, _FULL), "model": newer(_PAST, _MODEL)}

# $1 is the conversation, $2 the last number, $3 the version.  A message of an earlier edition does not record the version that
# covered it; the number of its summary tells it.
_PART: Final = "conversation_id = $1 AND seq <= $2 AND (version IS NULL OR version <= $3::bigint)"
_IN_VIEW: Final = """(covered_by IS NULL OR covered_at_version > $3::bigint OR (covered_at_version IS NULL AND EXISTS (
        SELECT FROM chat_message AS summary WHERE summary.conversation_id = $1
            AND hashtextextended(summary.id, 0) = hashtextextended(chat_message.covered_by, 0)
            AND summary.id = chat_message.covered_by AND summary.seq > $2
    )))"""
COUNT_PART: Final = f"""
SELECT count(*) AS messages, count(*) FILTER (WHERE is_in_view) AS in_view,
    coalesce(sum(tokens) FILTER (WHERE is_in_view), 0)::bigint AS tokens,
    count(*) FILTER (WHERE is_in_view AND role IN ('user', 'assistant', 'tool')) AS open
FROM (SELECT role, tokens, {_IN_VIEW} AS is_in_view FROM chat_message WHERE {_PART}) AS part
"""  # noqa: S608  made of constants

COPY_MESSAGES: Final = f"""
INSERT INTO chat_message (conversation_id, seq, place, id, role, content, sent_at_us, metadata, tokens, covered_by,
    covered_at_version, version, stored_at_us)
SELECT $4, seq, place, id, role, content, sent_at_us, metadata, tokens,
    CASE WHEN {_IN_VIEW} THEN NULL ELSE covered_by END, CASE WHEN {_IN_VIEW} THEN NULL ELSE covered_at_version END,
    version, stored_at_us
FROM chat_message WHERE {_PART}
"""  # noqa: S608  made of constants
COPY_SUMMARIZATIONS: Final = """
INSERT INTO summarization_metadata (conversation_id, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, is_stale, made_at_version)
SELECT $3, id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale,
    made_at_version
FROM summarization_metadata
WHERE conversation_id = $1 AND (made_at_version IS NULL OR made_at_version <= $2)
"""
COPY_COVERAGE: Final = """
INSERT INTO summary_coverage (conversation_id, metadata_id, message_id, ordinal)
SELECT $3, metadata_id, message_id, ordinal
FROM summarization_metadata JOIN summary_coverage
    ON summary_coverage.conversation_id = $1 AND metadata_id = id
WHERE summarization_metadata.conversation_id = $1 AND (made_at_version IS NULL OR made_at_version <= $2)
"""
