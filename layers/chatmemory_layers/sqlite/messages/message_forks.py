"""Forks a conversation: copies its messages up to a point into a new one, which is an ordinary conversation from then on."""

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint, decide_fork
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Forked
from chatmemory.conversation.undoing import Held
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ForkRefusal
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.held_messages import note_branch
from chatmemory_layers.sqlite.messages.message_past import Part, copy_part, part_at, size_of

SELECT_MESSAGE_POINT = """
SELECT seq, coalesce(version, 1) FROM chat_message WHERE id = :message_id AND conversation_key = :conversation_key
"""
SET_ORIGIN = """
UPDATE chat_conversation SET forked_from = ?, forked_at_version = ?, forked_at_seq = ? WHERE conversation_key = ?
"""


def fork(transaction: Transaction, fork: Fork, /) -> Outcome[Forked, ForkRefusal]:
    """Store a branch: an ordinary conversation that begins with a copy of the messages of its parent up to a point."""
    parent = conversation_row(transaction, fork.conversation_id)
    branch = conversation_row(transaction, fork.new_id)
    point = _point(transaction, parent, fork.at) or _point(transaction, branch, fork.at)
    decision = decide_fork(parent.state, branch.state, point, fork, principal())
    if isinstance(decision, Forked):
        return Success(decision)
    if not isinstance(decision, ConversationState):
        return Failure(decision)
    branch.inserted_key(transaction, decision.owner)
    held = Held(fork.new_id, decision.next_seq - 1, decision.conversation.version)
    origin = (fork.conversation_id, held.version, held.seq, branch.key)
    transaction.execute(SET_ORIGIN, origin)
    copy_held(transaction, parent, branch, held)
    branch.become(transaction, decision)
    note(transaction, [decision.made_by_fork(fork)])
    return Success(Forked(decision.conversation, is_new=True))


def copy_held(transaction: Transaction, source: ConversationRow, copy: ConversationRow, held: Held) -> None:
    """Copy the part of a conversation that *held* describes into one without messages, and record that it holds them.

    Args:
        transaction: the transaction of the write.
        source: the row of the conversation.
        copy: the row of the conversation that gets the copies.
        held: the part.
    """
    part = Part(source.key, held.seq, held.version)
    copy_part(transaction.execute, part, summarized_place=source.summarized_place, copy_key=copy.key)
    copy.summarized_place = min(source.summarized_place, held.seq)
    note_branch(transaction, source.key, copy.key, seq=held.seq, version=held.version)


def _point(transaction: Transaction, row: ConversationRow, at: str | int | None) -> ForkPoint | None:
    """Return the point of a conversation that *at* names; None when there is none."""
    present = row.state.conversation
    if at is None or at == present.version:
        size = (present.message_count, present.view_count, present.view_tokens, present.open_count)
        return ForkPoint(row.state.next_seq - 1, present.version, *size)
    if isinstance(at, int):
        if not 1 <= at < present.version:
            return None
        part = part_at(transaction.execute, row.key, at)
    else:
        asked = {"message_id": at, "conversation_key": row.key}
        found = transaction.execute(SELECT_MESSAGE_POINT, asked).fetchone()
        if found is None:
            return None
        part = Part(row.key, *found)
    return ForkPoint(part.seq, part.version, *size_of(transaction.execute, part))
