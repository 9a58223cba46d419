"""The reads of conversations.  Each function runs on one snapshot and fetches all that it needs.

The conversations that changed last are read in the order of ``recency``, see ``message_tables.py``: the cost of a page
grows with the page, not with the store.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import NO_PRINCIPAL, principal
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
from chatmemory_layers.sql.columns import END_US, EPOCH, MICROSECOND, place_columns, to_us
from chatmemory_layers.sql.granted import parents_of, readable_grants, with_seen_parents
from chatmemory_layers.sql.rows import (
    CONVERSATION,
    SUMMARIZATION,
    conversation_of,
    owner_of,
    summarization_of,
)
from chatmemory_layers.sqlite.messages.message_past import (
    SELECT_PAST_NEWER,
    SELECT_PAST_OLDER,
    PastVersion,
    part_at,
    past_of,
)

# ruff: noqa: S608  columns and conditions of this module are put into statements, never values

SELECT_VERSION = """
SELECT conversation_key, summarized_place, version, owner_user, owner_app FROM chat_conversation
WHERE conversation_id = ? AND message_count > 0
"""

# Before a cursor newest first, so that LIMIT keeps the tail.  The last column is the position of the message in the view.
_FULL: Final = """
SELECT id, role, content, sent_at_us, metadata, covered_by, seq FROM chat_message
WHERE conversation_key = :conversation_key AND seq {side} AND sent_at_us < :before_us
ORDER BY seq {order} LIMIT :limit
"""
# The part that summaries have changed, by place, and the part after it, by seq: SQLite merges the two as it reads them.
_MODEL: Final = """
SELECT id, role, content, sent_at_us, metadata, covered_by, seq, place AS position FROM chat_message
WHERE conversation_key = :conversation_key AND place IS NOT NULL AND covered_by IS NULL
    AND place {side} AND sent_at_us < :before_us
UNION ALL
SELECT id, role, content, sent_at_us, metadata, covered_by, seq, seq FROM chat_message
WHERE conversation_key = :conversation_key AND place IS NULL AND seq > :summarized_place
    AND seq {side} AND sent_at_us < :before_us
ORDER BY position {order} LIMIT :limit
"""
SELECT_FULL_OLDER = _FULL.format(side="< :end", order="DESC")
SELECT_FULL_NEWER = _FULL.format(side="> :start", order="ASC")
SELECT_MODEL_OLDER = _MODEL.format(side="< :end", order="DESC")
SELECT_MODEL_NEWER = _MODEL.format(side="> :start", order="ASC")
SELECT_OLDER: Final[dict[View, str]] = {"full": SELECT_FULL_OLDER, "model": SELECT_MODEL_OLDER}
SELECT_NEWER: Final[dict[View, str]] = {"full": SELECT_FULL_NEWER, "model": SELECT_MODEL_NEWER}

_RECENT: Final = """
    recency BETWEEN 0 AND :after_us >> 20 AND (updated_at_us, conversation_id) < (:after_us, :after_id)
"""
_MOST_RECENT_FIRST: Final = "recency DESC, updated_at_us DESC, conversation_id DESC"

SELECT_CONVERSATION = f"""
SELECT {CONVERSATION} FROM chat_conversation WHERE conversation_id = :conversation_id AND message_count > 0
"""
# Ids with the same prefix are adjacent: starting at the prefix, those that have it come first.
SELECT_CONVERSATIONS_BY_ID = f"""
SELECT * FROM (
    SELECT {CONVERSATION} FROM chat_conversation
    WHERE conversation_id >= max(:prefix, :after_id) AND conversation_id <> :after_id AND message_count > 0
    ORDER BY conversation_id LIMIT :limit
) AS from_prefix
WHERE substr(conversation_id, 1, length(:prefix)) = :prefix
ORDER BY conversation_id
"""
SELECT_RECENT_CONVERSATIONS = f"""
SELECT {CONVERSATION} FROM chat_conversation WHERE {_RECENT} ORDER BY {_MOST_RECENT_FIRST} LIMIT :limit
"""
# Usually few ids have the prefix: all of them are read, by the index of ids (+).  FF: after every byte that can follow in UTF-8.
SELECT_RECENT_OF_PREFIX = f"""
SELECT {CONVERSATION} FROM chat_conversation
WHERE conversation_id >= :prefix AND conversation_id < :prefix || CAST(x'FF' AS TEXT)
    AND +updated_at_us <= :after_us AND (updated_at_us, conversation_id) < (:after_us, :after_id) AND message_count > 0
ORDER BY updated_at_us DESC, conversation_id DESC LIMIT :limit
"""
# The conversations that one grant shows.
_GRANTED: Final = """
    owner_user = :user AND (:app = '' OR owner_app IN ('', :app))
    AND substr(conversation_id, 1, length(:granted)) = :granted
    AND substr(conversation_id, 1, length(:prefix)) = :prefix AND message_count > 0
"""
SELECT_GRANTED_BY_ID = f"""
SELECT {CONVERSATION} FROM chat_conversation
WHERE {_GRANTED} AND conversation_id >= max(:prefix, :granted, :after_id) AND conversation_id <> :after_id
ORDER BY conversation_id LIMIT :limit
"""
SELECT_GRANTED_RECENT = f"""
SELECT {CONVERSATION} FROM chat_conversation
WHERE {_GRANTED} AND {_RECENT} ORDER BY {_MOST_RECENT_FIRST} LIMIT :limit
"""
SELECT_GRANTED: Final[dict[ConversationOrder, str]] = {
    "id": SELECT_GRANTED_BY_ID,
    "recent": SELECT_GRANTED_RECENT,
}
SELECT_OWNERS = """
SELECT conversation_id, owner_user, owner_app FROM chat_conversation
WHERE conversation_id IN (SELECT value FROM json_each(?))
"""

SELECT_SUMMARIZATION = f"""
SELECT {SUMMARIZATION} FROM summarization_metadata
WHERE conversation_key = :conversation_key AND summary_message_id = :message_id
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
"""

Rows: TypeAlias = Callable[[int, int], list[tuple[Any, ...]]]
"""Reads rows from a cursor on; the arguments are the cursor and the largest number of rows."""


def page(connection: sqlite3.Connection, query: PageQuery) -> MessagePage | None:
    """Return the messages that *query* asks for, oldest first; None when the conversation is empty."""
    known = connection.execute(SELECT_VERSION, (query.conversation_id,)).fetchone()
    if known is None or not _is_shown(query.conversation_id, known):
        return None
    key, summarized_place, version, *_ = known
    before_us = END_US if query.before is None else to_us(query.before)
    bounds = {"conversation_key": key, "summarized_place": summarized_place, "before_us": before_us}
    # Before the first summary the two views are the same, and the statement of the full one is quicker.
    view: View = query.view if summarized_place else "full"
    select_older, select_newer = SELECT_OLDER[view], SELECT_NEWER[view]
    at = PastVersion(version, is_whole=True)
    if query.as_of is not None:
        select_older, select_newer = SELECT_PAST_OLDER[query.view], SELECT_PAST_NEWER[query.view]
        at = past_of(connection.execute, key, query.as_of)
        bounds |= part_at(connection.execute, key, at.version).parameters()

    def older(end: int, limit: int) -> list[tuple[Any, ...]]:
        return connection.execute(select_older, {**bounds, "end": end, "limit": limit}).fetchall()

    def newer(start: int, limit: int) -> list[tuple[Any, ...]]:
        return connection.execute(select_newer, {**bounds, "start": start, "limit": limit}).fetchall()

    return _page(query, older, newer, at)


def _page(query: PageQuery, older: Rows, newer: Rows, at: PastVersion) -> MessagePage:
    """Return the page; *older* reads rows before a cursor, the newest first, *newer* rows after one, the oldest first."""
    if query.newer_than is not None:
        rows = newer(query.newer_than, END_US if query.limit is None else query.limit)
        before = older(query.newer_than + 1, 1)
        newest = rows[-1][-1] if rows else before[0][-1] if before else 0
        cursor = before[0][-1] + 1 if before else None
        return MessagePage(messages_of(rows), at.version, cursor, newest, is_whole=at.is_whole)
    # One row more than asked for shows whether there are older ones.
    rows = older(
        END_US if query.older_than is None else query.older_than,
        END_US if query.limit is None else query.limit + 1,
    )
    has_older = query.limit is not None and len(rows) > query.limit
    newest, oldest = (rows[0][-1], rows[-1][-1]) if rows else (0, 0)
    if has_older:
        rows.pop()
    rows.reverse()
    cursor = oldest + 1 if has_older else None
    return MessagePage(messages_of(rows), at.version, cursor, newest, is_whole=at.is_whole)


def _is_shown(conversation_id: str, row: tuple[Any, ...]) -> bool:
    """Return what ``may_read`` returns, without the way to its module; the last two columns of *row* are the owner."""
    who = principal()
    if who is NO_PRINCIPAL:  # nearly always
        return not row[-2]
    return who.may("read", Namespace(*row[-2:]), conversation_id)


def messages_of(rows: Sequence[tuple[Any, ...]]) -> tuple[ChatMessage, ...]:
    """Return the messages of rows that begin with the columns of ``SELECT_FULL_OLDER``."""
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


def conversation(connection: sqlite3.Connection, conversation_id: str) -> Conversation | None:
    """Return the counts, version and times of a conversation; None when it is empty."""
    row = connection.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    if row is None or not _is_shown(conversation_id, row):
        return None
    return _with_seen_parents(connection, [conversation_of(row)])[0]


def owner(connection: sqlite3.Connection, conversation_id: str) -> Namespace | None:
    """Return the owner of a conversation; None when it is empty."""
    row = connection.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    return None if row is None or not _is_shown(conversation_id, row) else owner_of(row)


def conversations(
    connection: sqlite3.Connection, listing: ConversationListing, /
) -> tuple[Conversation, ...]:
    """Return at most ``listing.limit`` conversations; SQLite compares ids as UTF-8, which is the order of code points."""
    after_us, after_id = place_columns(listing.after)
    asked: dict[str, object] = {
        "prefix": listing.prefix,
        "after_us": after_us,
        "after_id": after_id,
        "limit": listing.limit,
    }
    grants = readable_grants(principal())
    if grants is None:
        rows = connection.execute(_statement(listing), asked).fetchall()
        return _with_seen_parents(connection, list(map(conversation_of, rows)))
    # A page for each grant; a conversation that is granted twice appears once.
    statement = SELECT_GRANTED[listing.order]
    found = {
        row[0]: conversation_of(row)
        for one in grants
        for row in connection.execute(
            statement,
            {**asked, "user": one.owner.user, "app": one.owner.app, "granted": one.prefix},
        )
    }
    return _with_seen_parents(connection, _in_order(found.values(), listing.order)[: listing.limit])


def _statement(listing: ConversationListing) -> str:
    if listing.order == "id":
        return SELECT_CONVERSATIONS_BY_ID
    return SELECT_RECENT_OF_PREFIX if listing.prefix else SELECT_RECENT_CONVERSATIONS


def _in_order(found: Iterable[Conversation], order: ConversationOrder) -> list[Conversation]:
    if order == "id":
        return sorted(found, key=lambda one: one.conversation_id)
    return sorted(found, key=lambda one: (one.updated_at, one.conversation_id), reverse=True)


def _with_seen_parents(
    connection: sqlite3.Connection, conversations: Sequence[Conversation]
) -> tuple[Conversation, ...]:
    """Remove from each branch the id of a parent that the current principal may not see."""
    parents = parents_of(conversations)
    owners = connection.execute(SELECT_OWNERS, (json.dumps(parents),)).fetchall() if parents else ()
    return with_seen_parents(conversations, owners)


def summarization(
    connection: sqlite3.Connection, conversation_id: str, summary_message_id: str
) -> SummarizationMetadata | None:
    """Return the metadata of a summary message."""
    key = _shown_key(connection, conversation_id)
    return None if key is None else _summarization(connection, conversation_id, key, summary_message_id)


def summarizations_of(
    connection: sqlite3.Connection, conversation_id: str, message_id: str
) -> tuple[SummarizationMetadata, ...]:
    """Return the summaries that cover a message, directly or through another summary, in this order."""
    chain: list[SummarizationMetadata] = []
    if (key := _shown_key(connection, conversation_id)) is None:
        return ()
    while True:
        covered = {"conversation_key": key, "message_id": message_id}
        covering = connection.execute(SELECT_SUMMARY_OF, covered).fetchone()
        if covering is None:
            return tuple(chain)
        (message_id,) = covering
        found = _summarization(connection, conversation_id, key, message_id)
        if found is not None:
            chain.append(found)


def _shown_key(connection: sqlite3.Connection, conversation_id: str) -> int | None:
    """Return the key of a conversation; None when it does not exist or the current principal may not see it."""
    known = connection.execute(SELECT_VERSION, (conversation_id,)).fetchone()
    return int(known[0]) if known is not None and _is_shown(conversation_id, known) else None


def _summarization(
    connection: sqlite3.Connection, conversation_id: str, key: int, summary_message_id: str
) -> SummarizationMetadata | None:
    asked = {"conversation_key": key, "message_id": summary_message_id}
    row = connection.execute(SELECT_SUMMARIZATION, asked).fetchone()
    if row is None:
        return None
    covered = connection.execute(
        SELECT_COVERED_IDS, {"conversation_key": key, "metadata_id": row[0]}
    ).fetchall()
    return summarization_of(conversation_id, row, [message_id for (message_id,) in covered])
