"""``ConversationRow``: a conversation's state while a transaction changes it, read once and written once.

What a change makes of the state is decided in ``chatmemory.conversation.changes``.
"""

from typing import final

from attrs import define

from chatmemory.conversation.changes import ConversationState, new_conversation
from chatmemory.messages import Conversation
from chatmemory_layers.columns import EPOCH, from_us, to_us
from chatmemory_layers.sqlite.group_commit import Transaction

SELECT_CONVERSATION = """
SELECT conversation_key, summarized_seq, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, next_seq, rewritten_at_version, deleted_count,
    EXISTS (SELECT 1 FROM history_work WHERE history_work.conversation_key = chat_conversation.conversation_key)
FROM chat_conversation
WHERE conversation_id = :conversation_id
"""
INSERT_CONVERSATION = """
INSERT INTO chat_conversation (conversation_id, version, next_seq, rewritten_at_version, summarized_seq,
    message_count, view_count, view_tokens, open_count, deleted_count, created_at_us, updated_at_us)
VALUES (?, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
RETURNING conversation_key
"""
UPDATE_CONVERSATION = """
UPDATE chat_conversation
SET summarized_seq = ?, version = ?, message_count = ?, view_count = ?, view_tokens = ?, open_count = ?, created_at_us = ?,
    updated_at_us = ?, next_seq = ?, rewritten_at_version = ?, deleted_count = ?
WHERE conversation_key = ?
"""
# Work that waits after a failure goes on waiting: an add must not bring a failing model back before its time.
INSERT_WORK = """
INSERT INTO history_work (conversation_key, due_at_us, attempts) VALUES (:conversation_key, :due_at_us, 0)
ON CONFLICT (conversation_key) DO NOTHING
"""
DELETE_WORK = "DELETE FROM history_work WHERE conversation_key = :conversation_key"


@final
@define(eq=False)
class ConversationRow:
    """The row of one conversation, or what it will be.

    Attributes:
        state: what the next change begins with.
        key: 0 until the row is inserted.
        summarized_seq: the last place that a summary has taken; behind it each message stands at its seq.
        is_changed: whether the row has to be written.
    """

    state: ConversationState
    key: int = 0
    summarized_seq: int = 0
    is_changed: bool = False

    def inserted_key(self, transaction: Transaction) -> int:
        """Return the key, inserting the row when the conversation is new."""
        if self.key == 0:
            conversation_id = self.state.conversation.conversation_id
            (self.key,) = transaction.execute(INSERT_CONVERSATION, (conversation_id,)).fetchone()
        return self.key

    def become(self, transaction: Transaction, state: ConversationState) -> None:
        """Take on what was decided, and queue history work or take it out of the queue, whoever holds it."""
        if state.has_work and not self.state.has_work:
            due_at_us = to_us(state.conversation.updated_at)
            transaction.execute(INSERT_WORK, {"conversation_key": self.key, "due_at_us": due_at_us})
        elif self.state.has_work and not state.has_work:
            transaction.execute(DELETE_WORK, {"conversation_key": self.key})
        self.state = state
        self.is_changed = True

    def save(self, transaction: Transaction) -> None:
        """Write the row back if it changed."""
        if self.is_changed:
            state, conversation = self.state, self.state.conversation
            row = (
                self.summarized_seq,
                conversation.version,
                conversation.message_count,
                conversation.view_count,
                conversation.view_tokens,
                conversation.open_count,
                to_us(conversation.created_at),
                to_us(conversation.updated_at),
                state.next_seq,
                state.rewritten_at_version,
                state.deleted_count,
                self.key,
            )
            transaction.execute(UPDATE_CONVERSATION, row)


def load_conversation(transaction: Transaction, conversation_id: str) -> ConversationRow:
    """Read the row; a conversation that nobody has written to has one that is not stored yet."""
    row = transaction.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    if row is None:
        return ConversationRow(new_conversation(conversation_id, EPOCH))
    (
        key,
        summarized_seq,
        version,
        message_count,
        view_count,
        view_tokens,
        open_count,
        created_at_us,
        updated_at_us,
        next_seq,
        rewritten_at_version,
        deleted_count,
        has_work,
    ) = row
    conversation = Conversation(
        conversation_id,
        version,
        message_count,
        view_count,
        view_tokens,
        open_count,
        from_us(created_at_us),
        from_us(updated_at_us),
    )
    state = ConversationState(conversation, next_seq, rewritten_at_version, deleted_count, bool(has_work))
    return ConversationRow(state, key, summarized_seq)
