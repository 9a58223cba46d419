"""The statements that read a page of an earlier version of a conversation: $5 is the version, or $6 the instant."""

from typing import Final

from chatmemory.conversation.messages import View

# Of a change that has deleted content, only the version and the instant are stored.
_PAST: Final = """
WITH past AS (
    SELECT parent_id, owner_user, owner_app, kept_since_version, least(version, coalesce($5::bigint, greatest(
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
SELECT past.version, parent_id, owner_user, owner_app, past.version >= kept_since_version AS is_whole, stretch.*
FROM past LEFT JOIN LATERAL (
    {stretch}
) AS stretch ON TRUE
ORDER BY stretch.position
"""
IN_VIEW: Final = "(covered_by IS NULL OR covered_at_version > {version})"
_WAS_STORED: Final = "(version IS NULL OR version <= past.version)"
_WAS_IN_VIEW: Final = f"{_WAS_STORED} AND {IN_VIEW.format(version='past.version')}"

FULL: Final = """\
SELECT seq AS position, seq, id, role, content, sent_at_us, metadata,
        CASE WHEN covered_at_version > {version} THEN NULL ELSE covered_by END AS covered_by
    FROM chat_message
    WHERE conversation_id = $1 AND seq {side} AND sent_at_us < {before} AND {was_stored}
    ORDER BY seq {order} LIMIT {limit}"""
# The position of a message is its seq, whose index returns them in order; the few summaries have other positions.
MODEL: Final = """\
SELECT * FROM (
        (SELECT seq AS position, seq, id, role, content, sent_at_us, metadata, NULL AS covered_by FROM chat_message
        WHERE conversation_id = $1 AND seq {side} AND place = seq AND sent_at_us < {before} AND {was_in_view}
        ORDER BY seq {order} LIMIT {limit})
        UNION ALL
        SELECT place, seq, chat_message.id, role, content, sent_at_us, metadata, NULL
        FROM summarization_metadata JOIN chat_message ON chat_message.conversation_id = $1
            AND hashtextextended(chat_message.id, 0) = hashtextextended(summary_message_id, 0)
            AND chat_message.id = summary_message_id
        WHERE summarization_metadata.conversation_id = $1 AND place {side} AND place <> seq AND sent_at_us < {before}
            AND {was_in_view}
    ) AS in_view
    ORDER BY position {order} LIMIT {limit}"""


def _older(stretch: str) -> str:
    return _PAST.format(stretch=_stretch(stretch, "< $2", "DESC", "$4::bigint"))


def _newer(stretch: str) -> str:
    """Return the statement that reads the message at or before the cursor, if any, then those after it."""
    before = _stretch(stretch, "<= $2", "DESC", "1")
    behind = _stretch(stretch, "> $2", "ASC", "$4::bigint")
    return _PAST.format(stretch=f"({before})\n    UNION ALL\n    ({behind})")


def _stretch(stretch: str, side: str, order: str, limit: str) -> str:
    return stretch.format(
        side=side,
        order=order,
        limit=limit,
        before="$3",
        version="past.version",
        was_stored=_WAS_STORED,
        was_in_view=_WAS_IN_VIEW,
    )


SELECT_PAST_OLDER: Final[dict[View, str]] = {"full": _older(FULL), "model": _older(MODEL)}
SELECT_PAST_NEWER: Final[dict[View, str]] = {"full": _newer(FULL), "model": _newer(MODEL)}
