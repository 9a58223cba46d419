"""Reads conversations.  Each function runs on one snapshot and fetches all that it needs."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import NO_PRINCIPAL, principal
from chatmemory.conversation.message_repository import PageQuery
from chatmemory.conversation.messages import (
    ChatMessage,
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.input.json_value import from_json
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, to_us
from chatmemory_layers.sql.rows import SUMMARIZATION, summarization_of
from chatmemory_layers.sqlite.messages.message_past import (
    SELECT_PAST_NEWER,
    SELECT_PAST_OLDER,
    PastVersion,
    part_at,
    past_of,
)

SELECT_VERSION = """
SELECT conversation_key, summarized_place, version, owner_user, owner_app FROM chat_conversation
WHERE conversation_id = ? AND message_count > 0
"""

# Newest first so that LIMIT keeps the tail.  The last column is the position of the message in the view.
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

SELECT_SUMMARIZATION = f"""
SELECT {SUMMARIZATION} FROM summarization_metadata
WHERE conversation_key = :conversation_key AND summary_message_id = :message_id
"""  # noqa: S608  made of a constant
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

_END: Final = 2**63 - 1  # after every place and every instant
Rows: TypeAlias = Callable[[int, int], list[tuple[Any, ...]]]
"""Reads rows from a cursor on; the arguments are the cursor and the largest number of rows."""


def page(connection: sqlite3.Connection, query: PageQuery) -> MessagePage | None:
    """Return the messages that *query* asks for, oldest first; None when the conversation is empty."""
    known = connection.execute(SELECT_VERSION, (query.conversation_id,)).fetchone()
    if known is None or not _is_shown(query.conversation_id, known):
        return None
    key, summarized_place, version, *_ = known
    before_us = _END if query.before is None else to_us(query.before)
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
        rows = newer(query.newer_than, _END if query.limit is None else query.limit)
        before = older(query.newer_than + 1, 1)
        newest = rows[-1][-1] if rows else before[0][-1] if before else 0
        cursor = before[0][-1] + 1 if before else None
        return MessagePage(messages_of(rows), at.version, cursor, newest, is_whole=at.is_whole)
    # One row more than asked for shows whether there are older ones.
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
    return MessagePage(messages_of(rows), at.version, cursor, newest, is_whole=at.is_whole)


def _is_shown(conversation_id: str, row: tuple[Any, ...]) -> bool:
    """Return whether the current principal may see the conversation; the last two columns of *row* are its owner."""
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
