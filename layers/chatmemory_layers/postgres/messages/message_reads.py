"""The reads of conversations.  Each function runs one statement, so that it sees one snapshot in one round trip."""

from collections.abc import Sequence
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import principal
from chatmemory.conversation.message_repository import ConversationListing, PageQuery
from chatmemory.conversation.messages import (
    ChatMessage,
    Conversation,
    ConversationOrder,
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.input.json_value import from_json
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.messages.message_past import (
    SELECT_PAST_NEWER,
    SELECT_PAST_OLDER,
    newer,
    older,
)
from chatmemory_layers.sql.columns import END_US, from_us, place_columns, to_us
from chatmemory_layers.sql.granted import granted_as_json, may_read, parents_of, with_seen_parents
from chatmemory_layers.sql.rows import (
    CONVERSATION,
    SUMMARIZATION,
    conversation_of,
    owner_of,
    summarization_of,
)

# ruff: noqa: S608  the columns of rows are put into statements, never values

_NOW: Final = """
SELECT stretch.*, conversation.version, owner_user, owner_app FROM conversation LEFT JOIN LATERAL (
    {stretch}
) AS stretch ON TRUE
WHERE conversation.conversation_id = $1 AND conversation.message_count > 0
ORDER BY stretch.position
"""
_FULL: Final = """\
SELECT id, seq, role, content, sent_at_us, metadata, covered_by, seq AS position FROM chat_message
    WHERE conversation_id = $1 AND seq {side} AND sent_at_us < $3
    ORDER BY seq {order} LIMIT {limit}"""
_MODEL: Final = """\
SELECT id, seq, role, content, sent_at_us, metadata, covered_by, place AS position FROM chat_message
    WHERE conversation_id = $1 AND covered_by IS NULL AND place {side} AND sent_at_us < $3
    ORDER BY place {order} LIMIT {limit}"""
SELECT_FULL_OLDER: Final = older(_NOW, _FULL)
SELECT_FULL_NEWER: Final = newer(_NOW, _FULL)
SELECT_MODEL_OLDER: Final = older(_NOW, _MODEL)
SELECT_MODEL_NEWER: Final = newer(_NOW, _MODEL)
SELECT_OLDER: Final[dict[View, str]] = {"full": SELECT_FULL_OLDER, "model": SELECT_MODEL_OLDER}
SELECT_NEWER: Final[dict[View, str]] = {"full": SELECT_FULL_NEWER, "model": SELECT_MODEL_NEWER}

SELECT_KNOWN_CONVERSATION: Final = f"""
SELECT {CONVERSATION} FROM conversation
WHERE conversation_id = $1 AND message_count > 0
"""
# Ids with a common prefix are neighbours in the index: from the prefix on, those that have it come first.
SELECT_CONVERSATIONS_BY_ID: Final = f"""
SELECT * FROM (
    SELECT {CONVERSATION} FROM conversation
    WHERE conversation_id >= greatest($1 COLLATE "C", $2) AND conversation_id <> $2 AND message_count > 0
    ORDER BY conversation_id LIMIT $3
) AS from_prefix
WHERE starts_with(conversation_id, $1)
ORDER BY conversation_id
"""
# It uses the index of recency, see migration_steps.py.
SELECT_RECENT_CONVERSATIONS: Final = f"""
SELECT {CONVERSATION} FROM conversation
WHERE starts_with(conversation_id, $1) AND recency BETWEEN 0 AND $4::bigint >> 20
    AND (updated_at_us, conversation_id) < ($4, $2)
ORDER BY recency DESC, updated_at_us DESC, conversation_id DESC LIMIT $3
"""
# Usually few ids have the prefix, and all of them are read by the index of ids.  No id sorts after 512 of the last character.
SELECT_RECENT_OF_PREFIX: Final = f"""
SELECT {CONVERSATION} FROM conversation
WHERE conversation_id >= $1 AND conversation_id <= $1 || repeat(chr(1114111), 512) AND starts_with(conversation_id, $1)
    AND (updated_at_us, conversation_id) < ($4, $2) AND message_count > 0
ORDER BY updated_at_us DESC, conversation_id DESC LIMIT $3
"""
# A page for each grant, without repeating a conversation that is granted twice; together they may be more than a page.
_GRANTED: Final = f"""
SELECT DISTINCT owned.* FROM json_to_recordset($4::text::json) AS granted ("user" text, app text, prefix text)
CROSS JOIN LATERAL (
    SELECT {CONVERSATION} FROM conversation
    WHERE hashtextextended(owner_user, 0) = hashtextextended(granted."user" COLLATE "C", 0)
        AND owner_user = granted."user" AND (granted.app = '' OR owner_app IN ('', granted.app))
        AND starts_with(conversation_id, granted.prefix) AND starts_with(conversation_id, $1) AND {{condition}}
    ORDER BY {{order}} LIMIT $3
) AS owned
ORDER BY {{final}}
"""
SELECT_GRANTED_BY_ID: Final = _GRANTED.format(
    condition="message_count > 0 AND conversation_id > $2", order="conversation_id", final="conversation_id"
)
SELECT_GRANTED_RECENT: Final = _GRANTED.format(
    condition="recency BETWEEN 0 AND $5::bigint >> 20 AND (updated_at_us, conversation_id) < ($5, $2)",
    order="recency DESC, updated_at_us DESC, conversation_id DESC",
    final="updated_at_us DESC, conversation_id DESC",
)
SELECT_GRANTED: Final[dict[ConversationOrder, str]] = {
    "id": SELECT_GRANTED_BY_ID,
    "recent": SELECT_GRANTED_RECENT,
}

SELECT_OWNERS: Final = """
SELECT conversation_id, owner_user, owner_app FROM conversation WHERE conversation_id = ANY ($1::text[])
"""

SELECT_SUMMARIZATION: Final = f"""
SELECT {SUMMARIZATION}, owner_user, owner_app, ARRAY(
    SELECT message_id FROM summary_coverage
    WHERE summary_coverage.conversation_id = $1 AND metadata_id = summarization_metadata.id ORDER BY ordinal
) AS covered_ids
FROM summarization_metadata JOIN conversation USING (conversation_id)
WHERE conversation_id = $1 AND hashtextextended(summary_message_id, 0) = hashtextextended($2, 0)
    AND summary_message_id = $2
"""
# From the summary that covers the message to the summary that covers it in turn, and so on.  LIMIT makes the planner look
# them up one by one instead of reading all summaries of the conversation.
SELECT_SUMMARIZATIONS_OF: Final = f"""
WITH RECURSIVE chain (id, summary_message_id, height) AS (
    SELECT NULL::text COLLATE "C", $2::text COLLATE "C", 0
    UNION ALL
    SELECT covering.id, covering.summary_message_id, height + 1
    FROM chain CROSS JOIN LATERAL (
        SELECT summarization_metadata.id, summarization_metadata.summary_message_id
        FROM summary_coverage JOIN summarization_metadata
            ON summarization_metadata.conversation_id = $1 AND summarization_metadata.id = metadata_id
        WHERE summary_coverage.conversation_id = $1
            AND hashtextextended(message_id, 0) = hashtextextended(chain.summary_message_id, 0)
            AND message_id = chain.summary_message_id
        LIMIT 1
    ) AS covering
)
SELECT summarization.*, owner_user, owner_app FROM chain CROSS JOIN LATERAL (
    SELECT {SUMMARIZATION}, ARRAY(
        SELECT message_id FROM summary_coverage
        WHERE summary_coverage.conversation_id = $1 AND metadata_id = chain.id ORDER BY ordinal
    ) AS covered_ids
    FROM summarization_metadata
    WHERE conversation_id = $1 AND id = chain.id
    LIMIT 1
) AS summarization JOIN conversation ON conversation.conversation_id = $1
ORDER BY height
"""


async def page(connection: Connection, query: PageQuery) -> MessagePage | None:
    """Return the messages that *query* asks for, oldest first; None when the conversation is empty."""
    before_us = END_US if query.before is None else to_us(query.before)
    select_older, select_newer = SELECT_OLDER[query.view], SELECT_NEWER[query.view]
    past: tuple[int | None, ...] = ()
    if query.as_of is not None:
        select_older, select_newer = SELECT_PAST_OLDER[query.view], SELECT_PAST_NEWER[query.view]
        past = (query.as_of, None) if isinstance(query.as_of, int) else (None, to_us(query.as_of))
    if query.newer_than is None:
        end = END_US if query.older_than is None else query.older_than
        # One more row shows whether there are older ones.
        limit = None if query.limit is None else query.limit + 1
        rows = await connection.fetch(select_older, query.conversation_id, end, before_us, limit, *past)
    else:
        rows = await connection.fetch(
            select_newer, query.conversation_id, query.newer_than, before_us, query.limit, *past
        )
    if not _is_shown(query.conversation_id, rows):
        return None
    # A conversation without messages to read has one row, with its version.
    found: Sequence[Row] = [] if rows[0]["position"] is None else rows
    if query.newer_than is None:
        has_older = query.limit is not None and len(found) > query.limit
    else:
        has_older = bool(found) and found[0]["position"] <= query.newer_than
    return MessagePage(
        tuple(map(message_of, found[1:] if has_older else found)),
        version=rows[0]["version"],
        older=found[0]["position"] + 1 if has_older else None,
        newer=found[-1]["position"] if found else 0,
        is_whole=rows[0].get("is_whole", True),
    )


def _is_shown(conversation_id: str, rows: Sequence[Row]) -> bool:
    """Return whether the conversation exists and the principal may see it."""
    return bool(rows) and may_read(conversation_id, rows[0]["owner_user"], rows[0]["owner_app"])


def message_of(row: Row) -> ChatMessage:
    """Return the message of a row of ``chat_message``, which may have further columns."""
    return ChatMessage(
        row["id"],
        row["seq"],
        row["role"],
        row["content"],
        from_us(row["sent_at_us"]),
        from_json(row["metadata"]),
        row["covered_by"],
    )


async def conversation(connection: Connection, conversation_id: str) -> Conversation | None:
    """Return the counts, version and times of a conversation; None when it is empty."""
    rows = await connection.fetch(SELECT_KNOWN_CONVERSATION, conversation_id)
    if not _is_shown(conversation_id, rows):
        return None
    return (await _with_seen_parents(connection, [conversation_of(tuple(rows[0].values()))]))[0]


async def owner(connection: Connection, conversation_id: str) -> Namespace | None:
    """Return the owner of a conversation; None when it is empty."""
    rows = await connection.fetch(SELECT_KNOWN_CONVERSATION, conversation_id)
    return owner_of(tuple(rows[0].values())) if _is_shown(conversation_id, rows) else None


async def conversations(connection: Connection, listing: ConversationListing, /) -> tuple[Conversation, ...]:
    """Return at most ``listing.limit`` conversations; the collation of the column compares ids by code point."""
    after_us, after_id = place_columns(listing.after)
    asked = (listing.prefix, after_id, listing.limit)
    in_order = (after_us,) if listing.order == "recent" else ()
    if (granted := granted_as_json(principal())) is None:
        rows = await connection.fetch(_list_statement(listing), *asked, *in_order)
    else:
        rows = await connection.fetch(SELECT_GRANTED[listing.order], *asked, granted, *in_order)
    found = [conversation_of(tuple(row.values())) for row in rows[: listing.limit]]
    return await _with_seen_parents(connection, found)


def _list_statement(listing: ConversationListing) -> str:
    if listing.order == "id":
        return SELECT_CONVERSATIONS_BY_ID
    return SELECT_RECENT_OF_PREFIX if listing.prefix else SELECT_RECENT_CONVERSATIONS


async def _with_seen_parents(
    connection: Connection, conversations: Sequence[Conversation]
) -> tuple[Conversation, ...]:
    """Remove from each branch the name of a parent that the principal may not see."""
    parents = parents_of(conversations)
    owners = await connection.fetch(SELECT_OWNERS, parents) if parents else ()
    return with_seen_parents(conversations, [tuple(row.values()) for row in owners])


async def summarization(
    connection: Connection, conversation_id: str, summary_message_id: str
) -> SummarizationMetadata | None:
    """Return the metadata of a summary message."""
    rows = await connection.fetch(SELECT_SUMMARIZATION, conversation_id, summary_message_id)
    return _summarization(conversation_id, rows[0]) if _is_shown(conversation_id, rows) else None


async def summarizations_of(
    connection: Connection, conversation_id: str, message_id: str
) -> tuple[SummarizationMetadata, ...]:
    """Return the summaries that cover a message, directly or through another summary."""
    rows = await connection.fetch(SELECT_SUMMARIZATIONS_OF, conversation_id, message_id)
    if not _is_shown(conversation_id, rows):
        return ()
    return tuple(_summarization(conversation_id, row) for row in rows)


def _summarization(conversation_id: str, row: Row) -> SummarizationMetadata:
    return summarization_of(conversation_id, tuple(row.values()), row["covered_ids"])
