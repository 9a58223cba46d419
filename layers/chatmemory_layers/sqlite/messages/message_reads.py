"""What is read of conversations.  Each function runs on one snapshot and fetches all that it needs."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import ANYBODY, principal
from chatmemory.conversation.message_repository import ConversationListing, PageQuery
from chatmemory.conversation.messages import (
    ChatMessage,
    Conversation,
    ConversationOrder,
    ForkOrigin,
    MessagePage,
    SummarizationMetadata,
    TimestampRange,
    View,
)
from chatmemory.input.json_value import from_json
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, from_us, to_us
from chatmemory_layers.sql.granted import granted_as_json
from chatmemory_layers.sqlite.messages.branches import (
    Level,
    Past,
    levels_of,
    newer_rows,
    older_rows,
    past_of,
    reach_of,
)

SELECT_VERSION = """
SELECT conversation_key, summarized_seq, version, parent_key, owner_user, owner_app FROM chat_conversation
WHERE conversation_id = ? AND message_count > 0
"""

# Newest first so that LIMIT keeps the tail.  The last column is where a message stands in the view.
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
        updated_at_us, forked_from, forked_at_version, forked_at_seq, owner_user, owner_app
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
    updated_at_us, forked_from, forked_at_version, forked_at_seq, owner_user, owner_app
FROM chat_conversation
WHERE substr(conversation_id, 1, length(:prefix)) = :prefix
    AND (updated_at_us, conversation_id) < (:after_us, :after_id) AND message_count > 0
ORDER BY updated_at_us DESC, conversation_id DESC LIMIT :limit
"""
# Reads the conversations of the owners that are granted, each once however often it is granted.
SELECT_GRANTED_BY_ID = """
SELECT DISTINCT conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, forked_from, forked_at_version, forked_at_seq, owner_user, owner_app
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
    updated_at_us, forked_from, forked_at_version, forked_at_seq, owner_user, owner_app
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
    updated_at_us, forked_from, forked_at_version, forked_at_seq, owner_user, owner_app
FROM chat_conversation
WHERE conversation_id = :conversation_id AND message_count > 0
"""

SELECT_OWNERS = """
SELECT conversation_id, owner_user, owner_app FROM chat_conversation
WHERE conversation_id IN (SELECT value FROM json_each(?))
"""

SELECT_SUMMARIZATION = """
SELECT id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale
FROM summarization_metadata
WHERE conversation_key = :conversation_key AND summary_message_id = :message_id
    AND (made_at_version IS NULL OR made_at_version <= :version)
"""
SELECT_COVERED_IDS = """
SELECT message_id FROM summary_coverage
WHERE conversation_key = :conversation_key AND metadata_id = :metadata_id
ORDER BY ordinal
"""
SELECT_SUMMARY_OF = """
SELECT summary_message_id
FROM summary_coverage JOIN summarization_metadata
    ON summarization_metadata.conversation_key = summary_coverage.conversation_key AND id = metadata_id
WHERE summary_coverage.conversation_key = :conversation_key AND message_id = :message_id
    AND (made_at_version IS NULL OR made_at_version <= :version)
"""

_END: Final = 2**63 - 1  # behind every place and every instant
Rows: TypeAlias = Callable[[int, int], list[tuple[Any, ...]]]
"""Reads rows from a cursor on, at most so many."""


def page(connection: sqlite3.Connection, query: PageQuery) -> MessagePage | None:
    """See ``MessageRepository.page``."""
    known = connection.execute(SELECT_VERSION, (query.conversation_id,)).fetchone()
    if known is None or not _is_shown(query.conversation_id, known):
        return None
    key, summarized_seq, version, parent_key, *_ = known
    before_us = _END if query.before is None else to_us(query.before)
    if query.as_of is not None or parent_key is not None:
        return _page_of_levels(connection, query, key, version, before_us)
    bounds = {"conversation_key": key, "summarized_seq": summarized_seq, "before_us": before_us}
    # Before the first summary the two views are one, and the statement of the full one is quicker.
    view: View = query.view if summarized_seq else "full"

    def older(end: int, limit: int) -> list[tuple[Any, ...]]:
        return connection.execute(SELECT_OLDER[view], {**bounds, "end": end, "limit": limit}).fetchall()

    def newer(start: int, limit: int) -> list[tuple[Any, ...]]:
        return connection.execute(SELECT_NEWER[view], {**bounds, "start": start, "limit": limit}).fetchall()

    return _page(query, older, newer, Past(version, is_whole=True))


def _page_of_levels(
    connection: sqlite3.Connection, query: PageQuery, key: int, version: int, before_us: int
) -> MessagePage:
    """Read a branch, or an earlier version."""
    at = Past(version, is_whole=True)
    if query.as_of is not None:
        at = past_of(connection.execute, key, query.as_of)
    levels = levels_of(connection.execute, key, at.version)
    if query.as_of is not None:
        reach = reach_of(connection.execute, levels[0], at.version)
        levels[0] = levels[0]._replace(reach=min(levels[0].reach, reach))

    def older(end: int, limit: int) -> list[tuple[Any, ...]]:
        return older_rows(connection.execute, levels, query.view, end=end, before_us=before_us, limit=limit)

    def newer(start: int, limit: int) -> list[tuple[Any, ...]]:
        return newer_rows(
            connection.execute, levels, query.view, start=start, before_us=before_us, limit=limit
        )

    return _page(query, older, newer, at)


def _page(query: PageQuery, older: Rows, newer: Rows, at: Past) -> MessagePage:
    """Return the page, and the place before it.

    Args:
        query: what is asked for.
        older: reads rows before a cursor, the newest first.
        newer: reads rows behind a cursor, the oldest first.
        at: the version that the page shows.
    """
    if query.newer_than is not None:
        rows = newer(query.newer_than, _END if query.limit is None else query.limit)
        before = older(query.newer_than + 1, 1)
        newest = rows[-1][-1] if rows else before[0][-1] if before else 0
        cursor = before[0][-1] + 1 if before else None
        return MessagePage(_messages(rows), at.version, cursor, newest, is_whole=at.is_whole)
    # One row more than is asked for tells whether there are older ones.
    rows = older(
        _END if query.older_than is None else query.older_than,
        _END if query.limit is None else query.limit + 1,
    )
    has_older = query.limit is not None and len(rows) > query.limit
    newest, oldest = (rows[0][-1], rows[-1][-1]) if rows else (0, 0)
    if has_older:
        rows.pop()
    rows.reverse()
    cursor = oldest + 1 if has_older else None
    return MessagePage(_messages(rows), at.version, cursor, newest, is_whole=at.is_whole)


def _is_shown(conversation_id: str, row: tuple[Any, ...]) -> bool:
    """Return whether who acts may see the conversation, of whose owner the last two columns of *row* tell."""
    who = principal()
    return who is ANYBODY or who.may("read", Namespace(*row[-2:]), conversation_id)


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
) -> ChatMessage | None:
    """Return the newest message in view that is kept under *key*, for a transaction that will change it."""
    bounds = {"conversation_key": key, "summarized_seq": summarized_seq, "before_us": _END, "end": _END}
    newest = _messages(execute(SELECT_MODEL_OLDER, {**bounds, "limit": 1}).fetchall())
    return newest[0] if newest else None


def conversation(connection: sqlite3.Connection, conversation_id: str) -> Conversation | None:
    """See ``MessageRepository.conversation``."""
    row = connection.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    if row is None or not _is_shown(conversation_id, row):
        return None
    return _with_seen_parents(connection, [_conversation(row)])[0]


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
    return _with_seen_parents(connection, list(map(_conversation, rows)))


def _with_seen_parents(
    connection: sqlite3.Connection, conversations: Sequence[Conversation]
) -> tuple[Conversation, ...]:
    """Take from each branch the name of a parent that who acts may not see."""
    who = principal()
    parents = {one.forked_from.conversation_id for one in conversations if one.forked_from is not None}
    if who is ANYBODY or not parents:
        return tuple(conversations)
    owners = connection.execute(SELECT_OWNERS, (json.dumps([*parents]),)).fetchall()
    seen = {id_ for id_, *owner in owners if who.may("read", Namespace(*owner), id_)}
    return tuple(
        one
        if one.forked_from is None or one.forked_from.conversation_id in seen
        else evolve(one, forked_from=None)
        for one in conversations
    )


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
        forked_from,
        forked_at_version,
        forked_at_seq,
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
        forked_from=None
        if forked_from is None
        else ForkOrigin(forked_from, forked_at_version, forked_at_seq),
    )


def summarization(
    connection: sqlite3.Connection, conversation_id: str, summary_message_id: str
) -> SummarizationMetadata | None:
    """See ``MessageRepository.summarization``."""
    return _summarization(
        connection, conversation_id, _levels(connection, conversation_id), summary_message_id
    )


def _levels(connection: sqlite3.Connection, conversation_id: str) -> list[Level]:
    """Return what makes up the conversation, as far as who acts may see it."""
    known = connection.execute(SELECT_VERSION, (conversation_id,)).fetchone()
    if known is None or not _is_shown(conversation_id, known):
        return []
    return levels_of(connection.execute, known[0])


def _summarization(
    connection: sqlite3.Connection, conversation_id: str, levels: Sequence[Level], summary_message_id: str
) -> SummarizationMetadata | None:
    for level in levels:
        asked = {**level.bounds(), "message_id": summary_message_id}
        row = connection.execute(SELECT_SUMMARIZATION, asked).fetchone()
        if row is not None:
            break
    else:
        return None
    id_, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, stale = row
    covered = connection.execute(
        SELECT_COVERED_IDS, {"conversation_key": level.key, "metadata_id": id_}
    ).fetchall()
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
    levels = _levels(connection, conversation_id)
    while True:
        covering = [
            row
            for level in levels
            for row in connection.execute(SELECT_SUMMARY_OF, {**level.bounds(), "message_id": message_id})
        ]
        if not covering:
            return tuple(chain)
        (message_id,) = covering[0]
        found = _summarization(connection, conversation_id, levels, message_id)
        if found is not None:
            chain.append(found)
