"""What changes a conversation at its end, or all of it: append and clear.

Each runs inside a transaction that others may share.  The store executes what a change is; what it comes to is decided in
``chatmemory.conversation.changes``.  Summaries stand in ``message_summaries.py``.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import (
    AppendDecision,
    Words,
    decide_append,
    decide_clear,
)
from chatmemory.conversation.message_repository import Append, Appended, MessageDraft
from chatmemory.conversation.messages import OPEN_ROLES, ClearReport
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory.input.json_value import to_json
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND
from chatmemory_layers.sqlite.engine.jobs import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.branches import COUNT_LEVEL, SELECT_LEVEL_BY_IDS, levels_of
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.message_forks import detach_branches

# Positional, because a dictionary per message costs a tenth of the append.
INSERT_MESSAGE = """
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, metadata, content, version,
    stored_at_us, message_count, view_count, view_tokens, open_count)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id, conversation_key) DO NOTHING
"""
SELECT_COVERED = """
SELECT message_id FROM summary_coverage JOIN summarization_metadata
    ON summarization_metadata.conversation_key = summary_coverage.conversation_key AND id = metadata_id
WHERE summary_coverage.conversation_key = :conversation_key AND message_id IN (SELECT value FROM json_each(:ids))
    AND (made_at_version IS NULL OR made_at_version <= :version)
"""
DELETE_FROM_SEQ = "DELETE FROM chat_message WHERE conversation_key = :conversation_key AND seq >= :seq"

FORGET_ORIGIN = """
UPDATE chat_conversation SET forked_from = NULL, forked_at_version = NULL, forked_at_seq = NULL
WHERE conversation_key = :conversation_key AND forked_from IS NOT NULL
"""
CLEAR_STATEMENTS: Final = (
    "DELETE FROM chat_message WHERE conversation_key = :conversation_key",
    "DELETE FROM summarization_metadata WHERE conversation_key = :conversation_key",
    "DELETE FROM summary_coverage WHERE conversation_key = :conversation_key",
)


Size: TypeAlias = tuple[int, int, int, int]
"""What ``Conversation`` counts: messages, those in view, their tokens, the open ones."""


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
        or row.is_branch
        or not isinstance(decision, AppendDecision)
        or not _store(transaction, row, decision)
    ):
        decision = decide_append(row.state, _known(transaction, row, batch), batch, who)
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
    before, after = row.state.conversation, decision.state.conversation
    version, stored_at_us = after.version, (after.updated_at - EPOCH) // MICROSECOND
    messages, in_view = before.message_count, before.view_count
    view_tokens, open_count = before.view_tokens, before.open_count
    for seq, draft in enumerate(decision.new, first):
        messages += 1
        in_view += 1
        view_tokens += draft.tokens
        open_count += draft.role in OPEN_ROLES
        size = (messages, in_view, view_tokens, open_count)
        if not insert_message(transaction, key, seq, draft, version, stored_at_us, size):
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
    size: Size,
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
        size: of the conversation with the message.
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
        *size,
    )
    return transaction.execute(INSERT_MESSAGE, columns).rowcount == 1


def _known(transaction: Transaction, row: ConversationRow, batch: Append) -> Mapping[str, Words | None]:
    """Return what is stored under the ids of *batch*; a message that is stored is compared, covered or not."""
    known: dict[str, Words | None] = {}
    if row.key == 0:
        return known
    levels = levels_of(transaction.execute, row.key)
    ids = json.dumps([draft.id for draft in batch.drafts])
    for level in levels:
        wanted = {**level.bounds(), "ids": ids}
        known |= dict.fromkeys(id_ for (id_,) in transaction.execute(SELECT_COVERED, wanted).fetchall())
    for level in levels:
        wanted = {**level.bounds(), "ids": ids}
        for id_, *words in transaction.execute(SELECT_LEVEL_BY_IDS, wanted).fetchall():
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
    detach_branches(transaction, row.key, from_seq=0)
    key = {"conversation_key": row.key}
    summaries = sum(
        transaction.execute(COUNT_LEVEL, level.bounds()).fetchone()[1]
        for level in levels_of(transaction.execute, row.key)
    )
    row.leave_parent(transaction)
    transaction.execute(FORGET_ORIGIN, key)
    for statement in CLEAR_STATEMENTS:
        transaction.execute(statement, key)
    decision = decide_clear(row.state, summaries=summaries, now=now)
    row.become(transaction, decision.state)
    note(transaction, [decision.state.made_by("cleared")])
    return Success(decision.answer)
