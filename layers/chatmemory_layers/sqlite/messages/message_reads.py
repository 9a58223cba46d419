"""What is read of conversations.  Each function runs on one snapshot and fetches all that it needs."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import ANYBODY, principal
from chatmemory.conversation.message_repository import ConversationListing, PageQuery
from chatmemory.conversation.messages import (
    ChatMessage,
    Conversation,
    ConversationOrder,
    MessagePage,
    SummarizationMetadata,
    TimestampRange,
    View,
)
from chatmemory.input.json_value import from_json
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, from_us, to_us
from chatmemory_layers.sql.granted import granted_as_json
from chatmemory_layers.sqlite.messages.message_past import (
    SELECT_PAST_NEWER,
    SELECT_PAST_OLDER,
    Past,
    past_of,
)

SELECT_VERSION = """
SELECT conversation_key, summarized_seq, version, owner_user, owner_app FROM chat_conversation
WHERE conversation_id = ? AND message_count > 0
"""

# Newest first so that LIMIT keeps the tail; -1 is no limit.  The last column is where a message stands in the view.
SELECT_FULL_OLDER = """
SELECT id, role, content, sent_at_us, metadata, covered_by, seq FROM chat_message
WHERE conversation_key = :conversation_key AND seq < :end AND sent_at_us < :before_us
ORDER BY seq DESC LIMIT :limit
"""
SELECT_FULL_NEWER = """
SELECT id, role, content, sent_at_us, metadata, covered_by, seq FROM chat_message
WHERE conversation_key = :conversation_key AND seq > :start AND sent_at_us < :before_us
ORDER BY seq LIMIT :limit
"""
# The part that summaries have changed, by place, and what came after it, by seq: SQLite merges the two as they come.
SELECT_MODEL_OLDER = """
SELECT id, role, content, sent_at_us, metadata, covered_by, seq, place AS position FROM chat_message
WHERE conversation_key = :conversation_key AND place IS NOT NULL AND covered_by IS NULL
    AND place < :end AND sent_at_us < :before_us
UNION ALL
SELECT id, role, content, sent_at_us, metadata, covered_by, seq, seq FROM chat_message
WHERE conversation_key = :conversation_key AND place IS NULL AND seq > :summarized_seq
    AND seq < :end AND sent_at_us < :before_us
ORDER BY position DESC LIMIT :limit
"""
SELECT_MODEL_NEWER = """
SELECT id, role, content, sent_at_us, metadata, covered_by, seq, place AS position FROM chat_message
WHERE conversation_key = :conversation_key AND place IS NOT NULL AND covered_by IS NULL
    AND place > :start AND sent_at_us < :before_us
UNION ALL
SELECT id, role, content, sent_at_us, metadata, covered_by, seq, seq FROM chat_message
WHERE conversation_key = :conversation_key AND place IS NULL AND seq > :summarized_seq
    AND seq > :start AND sent_at_us < :before_us
ORDER BY position LIMIT :limit
"""
SELECT_OLDER: Final[dict[View, str]] = {"full": SELECT_FULL_OLDER, "model": SELECT_MODEL_OLDER}
SELECT_NEWER: Final[dict[View, str]] = {"full": SELECT_FULL_NEWER, "model": SELECT_MODEL_NEWER}

# Ids that begin alike stand together: from the prefix on, those that have it come first.
SELECT_CONVERSATIONS_BY_ID = """
SELECT * FROM (
    SELECT conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
        updated_at_us, owner_user, owner_app
    FROM chat_conversation
    WHERE conversation_id >= max(:prefix, :after_id) AND conversation_id <> :after_id AND message_count > 0
    ORDER BY conversation_id LIMIT :limit
) AS from_prefix
WHERE substr(conversation_id, 1, length(:prefix)) = :prefix
ORDER BY conversation_id
"""
# Reads every conversation (100,000 in 17 ms): an index by updated_at_us would have to be written by every append.
SELECT_RECENT_CONVERSATIONS = """
SELECT conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, owner_user, owner_app
FROM chat_conversation
WHERE substr(conversation_id, 1, length(:prefix)) = :prefix
    AND (updated_at_us, conversation_id) < (:after_us, :after_id) AND message_count > 0
ORDER BY updated_at_us DESC, conversation_id DESC LIMIT :limit
"""
# Reads the conversations of the owners that are granted, each once however often it is granted.
SELECT_GRANTED_BY_ID = """
SELECT DISTINCT conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, owner_user, owner_app
FROM json_each(:granted) AS one CROSS JOIN chat_conversation
    ON owner_user = json_extract(one.value, '$.user')
    AND (json_extract(one.value, '$.app') = '' OR owner_app IN ('', json_extract(one.value, '$.app')))
    AND substr(conversation_id, 1, length(json_extract(one.value, '$.prefix'))) = json_extract(one.value, '$.prefix')
WHERE substr(conversation_id, 1, length(:prefix)) = :prefix AND message_count > 0
    AND conversation_id > :after_id
ORDER BY conversation_id LIMIT :limit
"""
SELECT_GRANTED_RECENT = """
SELECT DISTINCT conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, owner_user, owner_app
FROM json_each(:granted) AS one CROSS JOIN chat_conversation
    ON owner_user = json_extract(one.value, '$.user')
    AND (json_extract(one.value, '$.app') = '' OR owner_app IN ('', json_extract(one.value, '$.app')))
    AND substr(conversation_id, 1, length(json_extract(one.value, '$.prefix'))) = json_extract(one.value, '$.prefix')
WHERE substr(conversation_id, 1, length(:prefix)) = :prefix AND message_count > 0
    AND (updated_at_us, conversation_id) < (:after_us, :after_id)
ORDER BY updated_at_us DESC, conversation_id DESC LIMIT :limit
"""
SELECT_CONVERSATIONS: Final[dict[ConversationOrder, str]] = {
    "id": SELECT_CONVERSATIONS_BY_ID,
    "recent": SELECT_RECENT_CONVERSATIONS,
}
SELECT_GRANTED: Final[dict[ConversationOrder, str]] = {
    "id": SELECT_GRANTED_BY_ID,
    "recent": SELECT_GRANTED_RECENT,
}
SELECT_CONVERSATION = """
SELECT conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, owner_user, owner_app
FROM chat_conversation
WHERE conversation_id = :conversation_id AND message_count > 0
"""

SELECT_SUMMARIZATION = """
SELECT conversation_key, summarization_metadata.id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, summarization_metadata.created_at_us, is_stale, owner_user, owner_app
FROM summarization_metadata JOIN chat_conversation USING (conversation_key)
WHERE conversation_id = :conversation_id AND summary_message_id = :message_id
"""
SELECT_COVERED_IDS = """
SELECT message_id FROM summary_coverage
WHERE conversation_key = :conversation_key AND metadata_id = :metadata_id
ORDER BY ordinal
"""
SELECT_SUMMARY_OF = """
SELECT summary_message_id
FROM summary_coverage
    JOIN chat_conversation USING (conversation_key)
    JOIN summarization_metadata ON summarization_metadata.conversation_key = summary_coverage.conversation_key
        AND summarization_metadata.id = metadata_id
WHERE conversation_id = :conversation_id AND message_id = :message_id
"""

_END: Final = 2**63 - 1  # behind every place and every instant
_NO_LIMIT: Final = -1


def page(connection: sqlite3.Connection, query: PageQuery) -> MessagePage | None:
    """See ``MessageRepository.page``."""
    known = connection.execute(SELECT_VERSION, (query.conversation_id,)).fetchone()
    if known is None or not _is_shown(query.conversation_id, known):
        return None
    key, summarized_seq, version, *_ = known
    bounds = {
        "conversation_key": key,
        "summarized_seq": summarized_seq,
        "before_us": _END if query.before is None else to_us(query.before),
    }
    # Before the first summary the two views are one, and the statement of the full one is quicker.
    view: View = query.view if summarized_seq else "full"
    older, newer, is_whole = SELECT_OLDER[view], SELECT_NEWER[view], True
    if query.as_of is not None:
        version, is_whole = past_of(connection, key, query.as_of)
        bounds["version"] = version
        older, newer = SELECT_PAST_OLDER[query.view], SELECT_PAST_NEWER[query.view]
    if query.newer_than is None:
        return _older_page(connection, query, older, bounds, Past(version, is_whole))
    return _newer_page(connection, query, (older, newer), query.newer_than, bounds, Past(version, is_whole))


def _is_shown(conversation_id: str, row: tuple[Any, ...]) -> bool:
    """Return whether who acts may see the conversation, of whose owner the last two columns of *row* tell."""
    who = principal()
    return who is ANYBODY or who.may("read", Namespace(*row[-2:]), conversation_id)


def _older_page(
    connection: sqlite3.Connection, query: PageQuery, older: str, bounds: dict[str, int], at: Past
) -> MessagePage:
    """Return the page that ends where the query says, and the place before it, which one row more tells."""
    limit = _NO_LIMIT if query.limit is None else query.limit + 1
    end = _END if query.older_than is None else query.older_than
    rows = connection.execute(older, {**bounds, "end": end, "limit": limit}).fetchall()
    has_older = query.limit is not None and len(rows) > query.limit
    newest, oldest = (rows[0][-1], rows[-1][-1]) if rows else (0, 0)
    if has_older:
        rows.pop()
    rows.reverse()
    return MessagePage(
        _messages(rows), at.version, oldest + 1 if has_older else None, newest, is_whole=at.is_whole
    )


def _newer_page(
    connection: sqlite3.Connection,
    query: PageQuery,
    statements: tuple[str, str],
    start: int,
    bounds: dict[str, int],
    at: Past,
) -> MessagePage:
    """Return the page that begins behind *start*, and the place before it."""
    limit = _NO_LIMIT if query.limit is None else query.limit
    older, newer = statements
    rows = connection.execute(newer, {**bounds, "start": start, "limit": limit}).fetchall()
    before = connection.execute(older, {**bounds, "end": start + 1, "limit": 1}).fetchone()
    newest = rows[-1][-1] if rows else before[-1] if before else 0
    return MessagePage(
        _messages(rows), at.version, before[-1] + 1 if before else None, newest, is_whole=at.is_whole
    )


def _messages(rows: Sequence[tuple[Any, ...]]) -> tuple[ChatMessage, ...]:
    # A list first: a generator costs a tenth more.
    messages = [
        ChatMessage(
            id_,
            seq,
            role,
            content,
            EPOCH + sent_at_us * MICROSECOND,
            None if metadata is None else from_json(metadata),
            covered_by,
        )
        for id_, role, content, sent_at_us, metadata, covered_by, seq, *_ in rows
    ]
    return tuple(messages)


def newest_in_view(
    execute: Callable[[str, dict[str, int]], sqlite3.Cursor], key: int, summarized_seq: int
) -> ChatMessage:
    """Return the newest message of a view that is not empty, for a transaction that will change it."""
    bounds = {"conversation_key": key, "summarized_seq": summarized_seq, "before_us": _END, "end": _END}
    return _messages(execute(SELECT_MODEL_OLDER, {**bounds, "limit": 1}).fetchall())[0]


def conversation(connection: sqlite3.Connection, conversation_id: str) -> Conversation | None:
    """See ``MessageRepository.conversation``."""
    row = connection.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    return _conversation(row) if row is not None and _is_shown(conversation_id, row) else None


def conversations(
    connection: sqlite3.Connection, listing: ConversationListing, /
) -> tuple[Conversation, ...]:
    """See ``MessageRepository.conversations``; SQLite compares text as UTF-8, which is the order of code points."""
    after_us, after_id = (_END, "") if listing.after is None else (to_us(listing.after[0]), listing.after[1])
    asked = {
        "prefix": listing.prefix,
        "after_us": after_us,
        "after_id": after_id,
        "limit": listing.limit,
    }
    if (granted := granted_as_json(principal())) is None:
        rows = connection.execute(SELECT_CONVERSATIONS[listing.order], asked).fetchall()
    else:
        rows = connection.execute(SELECT_GRANTED[listing.order], {**asked, "granted": granted}).fetchall()
    return tuple(map(_conversation, rows))


def _conversation(row: tuple[Any, ...]) -> Conversation:
    (
        conversation_id,
        version,
        message_count,
        view_count,
        view_tokens,
        open_count,
        created_at_us,
        updated_at_us,
        *_,
    ) = row
    return Conversation(
        conversation_id,
        version=version,
        message_count=message_count,
        view_count=view_count,
        view_tokens=view_tokens,
        open_count=open_count,
        created_at=from_us(created_at_us),
        updated_at=from_us(updated_at_us),
    )


def summarization(
    connection: sqlite3.Connection, conversation_id: str, summary_message_id: str
) -> SummarizationMetadata | None:
    """See ``MessageRepository.summarization``."""
    names = {"conversation_id": conversation_id, "message_id": summary_message_id}
    row = connection.execute(SELECT_SUMMARIZATION, names).fetchone()
    if row is None or not _is_shown(conversation_id, row):
        return None
    (
        key,
        id_,
        summary_message_id,
        starts_at_us,
        ends_at_us,
        skill_id,
        messages_deleted,
        created_at_us,
        stale,
        *_,
    ) = row
    covered = connection.execute(SELECT_COVERED_IDS, {"conversation_key": key, "metadata_id": id_}).fetchall()
    return SummarizationMetadata(
        id=id_,
        conversation_id=conversation_id,
        summary_message_id=summary_message_id,
        summarized_message_ids=tuple(message_id for (message_id,) in covered),
        timestamp_range=TimestampRange(from_us(starts_at_us), from_us(ends_at_us)),
        skill_id=skill_id,
        messages_deleted=bool(messages_deleted),
        created_at=from_us(created_at_us),
        is_stale=bool(stale),
    )


def summarizations_of(
    connection: sqlite3.Connection, conversation_id: str, message_id: str
) -> tuple[SummarizationMetadata, ...]:
    """See ``MessageRepository.summarizations_of``: from summary to summary of the summary."""
    chain: list[SummarizationMetadata] = []
    while True:
        names = {"conversation_id": conversation_id, "message_id": message_id}
        row = connection.execute(SELECT_SUMMARY_OF, names).fetchone()
        if row is None:
            return tuple(chain)
        (message_id,) = row
        found = summarization(connection, conversation_id, message_id)
        if found is not None:
            chain.append(found)
