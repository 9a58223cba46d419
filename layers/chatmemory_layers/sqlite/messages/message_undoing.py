"""Undoes the newest change of a conversation.  Runs inside a transaction that other writes may share."""

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState, InView
from chatmemory.conversation.message_repository import Undo
from chatmemory.conversation.messages import Undone
from chatmemory.conversation.undoing import (
    GONE,
    NOT_HELD,
    Held,
    Newest,
    change_of_undo,
    gone,
    latest_of,
    refusal_of_undo,
    restored_from,
    undone_of,
    without_newest,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ConversationUndoRefusal
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.message_forks import branches_holding, copy_held, point_of
from chatmemory_layers.sqlite.messages.message_removal import uncover
from chatmemory_layers.sqlite.messages.message_writes import clear_row

# The log does not index added messages: the messages themselves say which version stored them.
SELECT_NEWEST_CHANGE = """
SELECT action, reason FROM event
WHERE target_id = :conversation_id AND action <> 'added' AND kind = 'conversation' AND version = :version
ORDER BY number DESC LIMIT 1
"""
SELECT_NEWEST_MESSAGE = """
SELECT seq, id, role, version FROM chat_message WHERE conversation_key = :conversation_key ORDER BY seq DESC LIMIT 1
"""
SELECT_LAST_BEFORE = """
SELECT seq FROM chat_message WHERE conversation_key = :conversation_key AND (version IS NULL OR version < :version)
ORDER BY seq DESC LIMIT 1
"""
SELECT_DELETED = """
SELECT 1 FROM summarization_metadata
WHERE conversation_key = :conversation_key AND summary_message_id = :summary_id AND messages_deleted
"""
DELETE_BEHIND = """
DELETE FROM chat_message WHERE conversation_key = :conversation_key AND seq > :seq
RETURNING coalesce(place, seq), role, tokens
"""


def undo(transaction: Transaction, undo: Undo, /) -> Outcome[Undone, ConversationUndoRefusal]:
    """Undo the newest change.  The undo is a change itself, but cannot be undone."""
    row = conversation_row(transaction, undo.conversation_id)
    before, newest = row.state, _newest(transaction, row)
    refusal = refusal_of_undo(before, newest, undo, principal())
    if refusal is not None or newest is None:
        return Failure(refusal or gone(before))
    held: Held | None = None
    match newest.action:
        case "forked":
            after: ConversationState | None = clear_row(transaction, row, now=undo.now).state
        case "cleared":
            held = next(iter(latest_of(branches_holding(transaction, row.key))), None)
            after = None if held is None else _restore(transaction, row, held, undo)
        case _:
            after = _without_newest(transaction, row, undo)
    if after is None:
        return Failure(gone(before, NOT_HELD if newest.action == "cleared" else GONE))
    row.become(transaction, after)
    by = None if held is None else held.branch_id
    note(transaction, [change_of_undo(after, newest.action, by=by)])
    return Success(undone_of(before, after, newest.action, by))


def _newest(transaction: Transaction, row: ConversationRow) -> Newest | None:
    conversation = row.state.conversation
    asked = {
        "conversation_id": conversation.conversation_id,
        "conversation_key": row.key,
        "version": conversation.version,
    }
    change = transaction.execute(SELECT_NEWEST_CHANGE, asked).fetchone()
    if change is not None:
        return Newest(*change)
    message = transaction.execute(SELECT_NEWEST_MESSAGE, asked).fetchone()
    if message is None or message[2] == "summary" or message[3] != conversation.version:
        return None
    return Newest("added", None)


def _without_newest(transaction: Transaction, row: ConversationRow, undo: Undo) -> ConversationState | None:
    """Delete the messages of an append, or a summary; None when the messages that the summary covers are deleted."""
    asked = {"conversation_key": row.key, "version": row.state.conversation.version}
    _, summary_id, role, _ = transaction.execute(SELECT_NEWEST_MESSAGE, asked).fetchone()
    summary = {"conversation_key": row.key, "summary_id": summary_id}
    if role == "summary" and transaction.execute(SELECT_DELETED, summary).fetchone() is not None:
        return None
    (last,) = transaction.execute(SELECT_LAST_BEFORE, asked).fetchone() or (0,)
    deleting = {"conversation_key": row.key, "seq": last}
    removed = [InView(*each) for each in transaction.execute(DELETE_BEHIND, deleting).fetchall()]
    restored = uncover(transaction, row.key, summary_id)[0] if role == "summary" else ()
    return without_newest(row.state, removed, restored, undo)


def _restore(transaction: Transaction, row: ConversationRow, held: Held, undo: Undo) -> ConversationState:
    """Copy the messages that a branch holds back into a cleared conversation."""
    branch = conversation_row(transaction, held.branch_id)
    copy_held(transaction, branch, row, held)
    return restored_from(row.state, point_of(transaction, held), undo, branch.state.deleted_count)
