"""``ConversationRow``: a conversation's counts while a transaction changes them, read once and written once."""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from attrs import define

from chatmemory.contracts import MessageDraft
from chatmemory.messages import OPEN_ROLES, Conversation
from chatmemory_layers.columns import EPOCH, from_us, to_us
from chatmemory_layers.sqlite.group_commit import Transaction

SELECT_CONVERSATION = """
SELECT conversation_key, version, next_seq, rewritten_at_version, summarized_seq, message_count, view_count,
    view_tokens, open_count, deleted_count, created_at_us, updated_at_us,
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
SET version = ?, next_seq = ?, rewritten_at_version = ?, summarized_seq = ?, message_count = ?, view_count = ?, view_tokens = ?,
    open_count = ?, deleted_count = ?, created_at_us = ?, updated_at_us = ?
WHERE conversation_key = ?
"""


@final
@define(eq=False)
class ConversationRow:
    """The row of one conversation, or what it will be; ``key`` is 0 until it is inserted.

    Attributes:
        rewritten_at_version: the version that the latest summary or clear made.
        summarized_seq: the last place that a summary has taken; behind it each message stands at its seq.
        deleted_count: messages that a summary deleted, whose ids stay known.
        has_work: whether history work is queued.
        is_changed: whether the row has to be written.
    """

    conversation_id: str
    key: int = 0
    version: int = 0
    next_seq: int = 1
    rewritten_at_version: int = 0
    summarized_seq: int = 0
    message_count: int = 0
    view_count: int = 0
    view_tokens: int = 0
    open_count: int = 0
    deleted_count: int = 0
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    has_work: bool = False
    is_changed: bool = False

    def inserted_key(self, transaction: Transaction) -> int:
        """Return the key, inserting the row when the conversation is new."""
        if self.key == 0:
            (self.key,) = transaction.execute(INSERT_CONVERSATION, (self.conversation_id,)).fetchone()
        return self.key

    def append(self, stored: Sequence[MessageDraft], now: datetime) -> None:
        """Count messages that were stored at its end."""
        if self.message_count == 0:
            self.created_at = now
        count = len(stored)
        self.next_seq += count
        self.message_count += count
        self.view_count += count
        for draft in stored:
            self.view_tokens += draft.tokens
            self.open_count += draft.role in OPEN_ROLES
        self.changed(now)

    def changed(self, now: datetime) -> None:
        """Count a version."""
        self.version += 1
        self.updated_at = now
        self.is_changed = True

    def value(self) -> Conversation:
        """Describe the conversation as it is now."""
        return Conversation(
            self.conversation_id,
            self.version,
            self.message_count,
            self.view_count,
            self.view_tokens,
            self.open_count,
            self.created_at,
            self.updated_at,
        )

    def save(self, transaction: Transaction) -> None:
        """Write the row back if it changed."""
        if self.is_changed:
            row = (
                self.version,
                self.next_seq,
                self.rewritten_at_version,
                self.summarized_seq,
                self.message_count,
                self.view_count,
                self.view_tokens,
                self.open_count,
                self.deleted_count,
                to_us(self.created_at),
                to_us(self.updated_at),
                self.key,
            )
            transaction.execute(UPDATE_CONVERSATION, row)


def load_conversation(transaction: Transaction, conversation_id: str) -> ConversationRow:
    """Read the row; a conversation that nobody has written to has one that is not stored yet."""
    row = transaction.execute(SELECT_CONVERSATION, {"conversation_id": conversation_id}).fetchone()
    if row is None:
        return ConversationRow(conversation_id)
    *counts, created_at_us, updated_at_us, has_work = row
    found = ConversationRow(conversation_id, *counts)
    found.created_at, found.updated_at = from_us(created_at_us), from_us(updated_at_us)
    found.has_work = bool(has_work)
    return found
