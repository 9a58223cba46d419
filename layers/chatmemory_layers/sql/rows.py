"""Rows as values: SQLite and PostgreSQL select these columns in this order, and more columns may follow."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.messages import (
    Conversation,
    ForkOrigin,
    SummarizationMetadata,
    TimestampRange,
)
from chatmemory.events.event import Event
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, from_us

Row: TypeAlias = Sequence[Any]

CONVERSATION: Final = """conversation_id, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, forked_from, forked_at_version, forked_at_seq, owner_user, owner_app"""
"""The columns of ``conversation_of`` and ``owner_of``."""

STATE: Final = f"""{CONVERSATION},
    next_seq, rewritten_at_version, deleted_count, kept_since_version, kept_since_us"""
"""The columns of ``state_of``; the next column says whether history work is queued."""

SUMMARIZATION: Final = """summarization_metadata.id, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted,
    summarization_metadata.created_at_us, is_stale"""
"""The columns of ``summarization_of``."""


def conversation_of(row: Row) -> Conversation:
    """Return the conversation of a row, as readers see it."""
    id_, version, messages, view, tokens, still_open, created_at_us, updated_at_us, parent, *point = row[:11]
    return Conversation(
        id_,
        version,
        messages,
        view,
        tokens,
        still_open,
        EPOCH + created_at_us * MICROSECOND,
        EPOCH + updated_at_us * MICROSECOND,
        None if parent is None else ForkOrigin(parent, *point),
    )


def owner_of(row: Row) -> Namespace:
    """Return the owner of the conversation of a row."""
    return Namespace(*row[11:13])


def state_of(row: Row) -> ConversationState:
    """Return the state of the conversation of a row."""
    next_seq, rewritten_at_version, deleted_count, kept_since_version, kept_since_us, has_work = row[13:19]
    return ConversationState(
        conversation_of(row),
        next_seq,
        rewritten_at_version,
        deleted_count,
        bool(has_work),
        owner_of(row),
        kept_since_version,
        None if kept_since_us is None else from_us(kept_since_us),
    )


def summarization_of(conversation_id: str, row: Row, covered: Iterable[str]) -> SummarizationMetadata:
    """Return what a summary covers; *covered*: the ids of the covered messages, in order."""
    id_, summary_message_id, starts_at_us, ends_at_us, skill_id, messages_deleted, created_at_us, is_stale = (
        row[:8]
    )
    return SummarizationMetadata(
        id_,
        conversation_id,
        summary_message_id,
        tuple(covered),
        TimestampRange(from_us(starts_at_us), from_us(ends_at_us)),
        skill_id,
        bool(messages_deleted),
        from_us(created_at_us),
        bool(is_stale),
    )


def event_of(row: Row, cursor: str) -> Event:
    """Return the event of a row, whose columns are in the order of the attributes of ``Event``; the owner takes two.

    *cursor* continues the list of changes after this event.
    """
    number, stored_at_us, said_at_us, who, user, kind, action, target, *others = row[:16]
    owner_user, owner_app, version, reach, successor, reason, session_id, evidence = others
    return Event(
        number,
        from_us(stored_at_us),
        None if said_at_us is None else from_us(said_at_us),
        who,
        user,
        kind,
        action,
        target,
        Namespace(owner_user, owner_app),
        version,
        reach,
        successor,
        reason,
        session_id,
        () if evidence is None else tuple(json.loads(evidence)),
        cursor,
    )
