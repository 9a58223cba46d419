"""Lists conversations and describes them.  Each function runs on one snapshot and fetches all that it needs.

The conversations that changed last are read in the order of ``recency``, see ``message_tables.py``: the cost of a page
grows with the page, not with the store.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import principal
from chatmemory.conversation.message_repository import ConversationListing
from chatmemory.conversation.messages import Conversation, ConversationOrder
from chatmemory_layers.sql.columns import END_US, to_us
from chatmemory_layers.sql.granted import may_read, parents_of, readable_grants, with_seen_parents
from chatmemory_layers.sql.rows import CONVERSATION, conversation_of, owner_of

# ruff: noqa: S608  columns and conditions of this module are put into statements, never values

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


def conversation(connection: sqlite3.Connection, conversation_id: str) -> Conversation | None:
    """Return the counts, version and times of a conversation; None when it is empty."""
    row = connection.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    if row is None or not may_read(conversation_id, *row[-2:]):
        return None
    return _with_seen_parents(connection, [conversation_of(row)])[0]


def owner(connection: sqlite3.Connection, conversation_id: str) -> Namespace | None:
    """Return the owner of a conversation; None when it is empty."""
    row = connection.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    return None if row is None or not may_read(conversation_id, *row[-2:]) else owner_of(row)


def conversations(
    connection: sqlite3.Connection, listing: ConversationListing, /
) -> tuple[Conversation, ...]:
    """Return at most ``listing.limit`` conversations; SQLite compares ids as UTF-8, which is the order of code points."""
    after_us, after_id = (
        (END_US, "") if listing.after is None else (to_us(listing.after[0]), listing.after[1])
    )
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
