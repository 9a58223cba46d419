"""What changes a conversation at its end, or all of it: append and clear; and its row, ``ConversationRow``.

Each runs inside a transaction that others may share.  The store executes what a change is; what it comes to is decided in
``chatmemory.conversation.changes``.  Summaries stand in ``message_summaries.py``.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, final

from attrs import define

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import principal
from chatmemory.conversation.changes import (
    AppendDecision,
    ConversationState,
    Words,
    decide_append,
    decide_clear,
    new_conversation,
)
from chatmemory.conversation.message_repository import Append, Appended, MessageDraft
from chatmemory.conversation.messages import ClearReport, Conversation
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory.input.json_value import to_json
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, from_us, to_us
from chatmemory_layers.sqlite.engine.jobs import Transaction
from chatmemory_layers.sqlite.events.event_log import note

SELECT_CONVERSATION = """
SELECT conversation_key, summarized_seq, version, message_count, view_count, view_tokens, open_count, created_at_us,
    updated_at_us, next_seq, rewritten_at_version, deleted_count, kept_since_version, kept_since_us, owner_user, owner_app,
    EXISTS (SELECT 1 FROM history_work WHERE history_work.conversation_key = chat_conversation.conversation_key)
FROM chat_conversation
WHERE conversation_id = :conversation_id
"""
INSERT_CONVERSATION = """
INSERT INTO chat_conversation (conversation_id, version, next_seq, rewritten_at_version, summarized_seq,
    message_count, view_count, view_tokens, open_count, deleted_count, created_at_us, updated_at_us, owner_user, owner_app)
VALUES (?, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, ?)
RETURNING conversation_key
"""
UPDATE_CONVERSATION = """
UPDATE chat_conversation
SET summarized_seq = ?, version = ?, message_count = ?, view_count = ?, view_tokens = ?, open_count = ?, created_at_us = ?,
    updated_at_us = ?, next_seq = ?, rewritten_at_version = ?, deleted_count = ?, kept_since_version = ?, kept_since_us = ?
WHERE conversation_key = ?
"""
# Work that waits after a failure goes on waiting: an add must not bring a failing model back before its time.
INSERT_WORK = """
INSERT INTO history_work (conversation_key, due_at_us, attempts) VALUES (:conversation_key, :due_at_us, 0)
ON CONFLICT (conversation_key) DO NOTHING
"""
DELETE_WORK = "DELETE FROM history_work WHERE conversation_key = :conversation_key"

# Positional, because a dictionary per message costs a tenth of the append.
INSERT_MESSAGE = """
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, metadata, content, version,
    stored_at_us)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id, conversation_key) DO NOTHING
"""
SELECT_STORED = """
SELECT id, role, content, metadata FROM chat_message
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids))
"""
SELECT_COVERED = """
SELECT message_id FROM summary_coverage
WHERE conversation_key = :conversation_key AND message_id IN (SELECT value FROM json_each(:ids))
"""
DELETE_FROM_SEQ = "DELETE FROM chat_message WHERE conversation_key = :conversation_key AND seq >= :seq"

COUNT_SUMMARIES = """
SELECT count(*) FROM chat_message WHERE conversation_key = :conversation_key AND role = 'summary'
"""
CLEAR_STATEMENTS: Final = (
    "DELETE FROM chat_message WHERE conversation_key = :conversation_key",
    "DELETE FROM summarization_metadata WHERE conversation_key = :conversation_key",
    "DELETE FROM summary_coverage WHERE conversation_key = :conversation_key",
)


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

    def inserted_key(self, transaction: Transaction, owner: Namespace) -> int:
        """Return the key, inserting the row when the conversation is new; then it is *owner*'s."""
        if self.key == 0:
            row = (self.state.conversation.conversation_id, owner.user, owner.app)
            (self.key,) = transaction.execute(INSERT_CONVERSATION, row).fetchone()
        return self.key

    def become(self, transaction: Transaction, state: ConversationState) -> None:
        """Take on what was decided, and queue history work or take it out of the queue, whoever holds it."""
        if state.has_work and not self.state.has_work:
            due_at_us = (state.conversation.updated_at - EPOCH) // MICROSECOND
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
                (conversation.created_at - EPOCH) // MICROSECOND,
                (conversation.updated_at - EPOCH) // MICROSECOND,
                state.next_seq,
                state.rewritten_at_version,
                state.deleted_count,
                state.kept_since_version,
                None if state.kept_since is None else to_us(state.kept_since),
                self.key,
            )
            transaction.execute(UPDATE_CONVERSATION, row)


def conversation_row(transaction: Transaction, conversation_id: str) -> ConversationRow:
    """Return the row, the same for every write of *transaction*."""
    held = transaction.held.get((ConversationRow, conversation_id))
    if not isinstance(held, ConversationRow):
        held = _load_conversation(transaction, conversation_id)
        transaction.held[ConversationRow, conversation_id] = held
    return held


def _load_conversation(transaction: Transaction, conversation_id: str) -> ConversationRow:
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
        kept_since_version,
        kept_since_us,
        owner_user,
        owner_app,
        has_work,
    ) = row
    conversation = Conversation(
        conversation_id,
        version,
        message_count,
        view_count,
        view_tokens,
        open_count,
        EPOCH + created_at_us * MICROSECOND,
        EPOCH + updated_at_us * MICROSECOND,
    )
    owner = Namespace(owner_user, owner_app)
    state = ConversationState(
        conversation,
        next_seq,
        rewritten_at_version,
        deleted_count,
        bool(has_work),
        owner,
        kept_since_version,
        None if kept_since_us is None else from_us(kept_since_us),
    )
    return ConversationRow(state, key, summarized_seq)


def append(
    transaction: Transaction, batch: Append
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """See ``MessageRepository.append``."""
    row = conversation_row(transaction, batch.conversation_id)
    # As a rule all of a batch is new, and the index tells when it is not: nobody has to look first.
    who = principal()
    decision = decide_append(row.state, {}, batch, who)
    if (
        row.state.deleted_count
        or not isinstance(decision, AppendDecision)
        or not _store(transaction, row, decision)
    ):
        decision = decide_append(row.state, _known(transaction, row.key, batch), batch, who)
        if not isinstance(decision, AppendDecision):
            return Failure(decision)
        _store(transaction, row, decision)
    if decision.new:
        row.become(transaction, decision.state)
        note(transaction, (decision.state.made_by_append(decision.new),))
    return Success(decision.answer)


def _store(transaction: Transaction, row: ConversationRow, decision: AppendDecision) -> bool:
    """Store what is new at the end; or nothing, when the id of one message is taken."""
    key, first = row.inserted_key(transaction, decision.state.owner), row.state.next_seq
    conversation = decision.state.conversation
    version, stored_at_us = conversation.version, (conversation.updated_at - EPOCH) // MICROSECOND
    for seq, draft in enumerate(decision.new, first):
        if not insert_message(transaction, key, seq, draft, version, stored_at_us):
            transaction.execute(DELETE_FROM_SEQ, {"conversation_key": key, "seq": first})
            return False
    return True


def insert_message(
    transaction: Transaction,
    key: int,
    seq: int,
    draft: MessageDraft,
    version: int,
    stored_at_us: int,
    place: int | None = None,
) -> bool:
    """Store *draft* unless its id is taken.

    Args:
        transaction: the transaction of the change.
        key: the key of the conversation.
        seq: the number of the message.
        draft: the message.
        version: the version that the change makes.
        stored_at_us: the instant of the change.
        place: where a summary stands in the model's view; None: at *seq*.

    Returns:
        whether it was stored.
    """
    metadata = draft.metadata
    columns = (
        key,
        seq,
        place,
        draft.id,
        draft.role,
        (draft.timestamp - EPOCH) // MICROSECOND,
        draft.tokens,
        None if metadata is None else to_json(metadata),
        draft.content,
        version,
        stored_at_us,
    )
    return transaction.execute(INSERT_MESSAGE, columns).rowcount == 1


def _known(transaction: Transaction, key: int, batch: Append) -> Mapping[str, Words | None]:
    """Return what is stored under the ids of *batch*; a message that is stored is compared, covered or not."""
    wanted = {"conversation_key": key, "ids": json.dumps([draft.id for draft in batch.drafts])}
    known: dict[str, Words | None] = dict.fromkeys(
        id_ for (id_,) in transaction.execute(SELECT_COVERED, wanted).fetchall()
    )
    for id_, *words in transaction.execute(SELECT_STORED, wanted).fetchall():
        known[id_] = (words[0], words[1], words[2])
    return known


def clear(
    transaction: Transaction, conversation_id: str, *, now: datetime
) -> Outcome[ClearReport | None, AccessDeniedError]:
    """See ``MessageRepository.clear``."""
    row = conversation_row(transaction, conversation_id)
    if row.state.conversation.message_count == 0 or not row.state.is_seen_by(principal()):
        return Success(None)
    if (refusal := row.state.refuses_deletion_by(principal())) is not None:
        return Failure(refusal)
    key = {"conversation_key": row.key}
    (summaries,) = transaction.execute(COUNT_SUMMARIES, key).fetchone()
    for statement in CLEAR_STATEMENTS:
        transaction.execute(statement, key)
    decision = decide_clear(row.state, summaries=summaries, now=now)
    row.become(transaction, decision.state)
    note(transaction, [decision.state.made_by("cleared")])
    return Success(decision.answer)
