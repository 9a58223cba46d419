"""``ConversationRow``: the row of one conversation, which the writes of a transaction share."""

from typing import final

from attrs import define

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.changes import ConversationState, new_conversation
from chatmemory_layers.sql.columns import EPOCH, to_us
from chatmemory_layers.sql.rows import STATE, state_of
from chatmemory_layers.sqlite.engine.transaction import Transaction

SELECT_CONVERSATION = f"""
SELECT {STATE},
    EXISTS (SELECT 1 FROM history_work WHERE history_work.conversation_key = chat_conversation.conversation_key),
    conversation_key, summarized_place
FROM chat_conversation
WHERE conversation_id = :conversation_id
"""  # noqa: S608  made of a constant
INSERT_CONVERSATION = """
INSERT INTO chat_conversation (conversation_id, version, next_seq, rewritten_at_version, summarized_place,
    message_count, view_count, view_tokens, open_count, deleted_count, created_at_us, updated_at_us, owner_user, owner_app)
VALUES (?, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, ?)
RETURNING conversation_key
"""
UPDATE_CONVERSATION = """
UPDATE chat_conversation
SET summarized_place = ?, version = ?, message_count = ?, view_count = ?, view_tokens = ?, open_count = ?, created_at_us = ?,
    updated_at_us = ?, next_seq = ?, rewritten_at_version = ?, deleted_count = ?, kept_since_version = ?, kept_since_us = ?
WHERE conversation_key = ?
"""
# Work that waits after a failure continues to wait: an add must not call a failing model before its time.
INSERT_WORK = """
INSERT INTO history_work (conversation_key, due_at_us, attempts) VALUES (:conversation_key, :due_at_us, 0)
ON CONFLICT (conversation_key) DO NOTHING
"""
DELETE_WORK = "DELETE FROM history_work WHERE conversation_key = :conversation_key"


@final
@define(eq=False)
class ConversationRow:
    """The row of one conversation, stored or not yet.

    Attributes:
        state: the state with which the next change begins.
        key: 0 until the row is inserted.
        summarized_place: the last place that a summary has taken; after it, the position of each message is its seq.
    """

    state: ConversationState
    key: int = 0
    summarized_place: int = 0

    def inserted_key(self, transaction: Transaction, owner: Namespace) -> int:
        """Return the key; a new conversation is inserted first, and belongs to *owner*."""
        if self.key == 0:
            row = (self.state.conversation.conversation_id, owner.user, owner.app)
            (self.key,) = transaction.cursor.execute(INSERT_CONVERSATION, row).fetchone()
        return self.key

    def become(self, transaction: Transaction, state: ConversationState) -> None:
        """Set the decided state, and queue history work or remove it from the queue, even if it is leased."""
        if state.has_work and not self.state.has_work:
            due_at_us = to_us(state.conversation.updated_at)
            transaction.cursor.execute(INSERT_WORK, {"conversation_key": self.key, "due_at_us": due_at_us})
        elif self.state.has_work and not state.has_work:
            transaction.cursor.execute(DELETE_WORK, {"conversation_key": self.key})
        self.state = state
        transaction.changed[self] = None

    def save(self, transaction: Transaction) -> None:
        """Write the row."""
        state, conversation = self.state, self.state.conversation
        row = (
            self.summarized_place,
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
            state.kept_since_version,
            None if state.kept_since is None else to_us(state.kept_since),
            self.key,
        )
        transaction.cursor.execute(UPDATE_CONVERSATION, row)


def conversation_row(transaction: Transaction, conversation_id: str) -> ConversationRow:
    """Return the row, the same for every write of *transaction*; earlier appends are in the tables."""
    transaction.write_waiting()
    held = transaction.held.get((ConversationRow, conversation_id))
    return held if isinstance(held, ConversationRow) else load_conversation(transaction, conversation_id)


def load_conversation(transaction: Transaction, conversation_id: str) -> ConversationRow:
    """Read the row and hold it; a conversation without a row gets one that is not stored yet."""
    row = transaction.cursor.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    if row is None:
        held = ConversationRow(new_conversation(conversation_id, EPOCH))
    else:
        *_, key, summarized_place = row
        held = ConversationRow(state_of(row), key, summarized_place)
    transaction.held[ConversationRow, conversation_id] = held
    return held
