"""What changes a conversation: append, summarize, clear.  Each runs inside a transaction that others may share.

What a change is, the store executes; what it comes to, ``chatmemory.conversation.changes`` decides.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Never, final

from attrs import frozen

from chatmemory.contracts import Append, Appended, MessageDraft, Summary
from chatmemory.conversation.changes import (
    AppendDecision,
    InView,
    SummaryDecision,
    Words,
    decide_append,
    decide_clear,
    decide_summary,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.json_value import to_json
from chatmemory.messages import ClearReport, Conversation
from chatmemory_layers.columns import to_us
from chatmemory_layers.sqlite.conversation_row import ConversationRow, load_conversation
from chatmemory_layers.sqlite.group_commit import Transaction

# Positional, because a dictionary per message costs a tenth of the append.
INSERT_MESSAGE = """
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, metadata, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
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

SELECT_UNCOVERED = """
SELECT coalesce(place, seq), role, tokens FROM chat_message
WHERE conversation_key = :conversation_key AND covered_by IS NULL AND id IN (SELECT value FROM json_each(:ids))
"""
COVER_MESSAGES = """
UPDATE chat_message SET covered_by = :summary_id
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids))
"""
DELETE_MESSAGES = """
DELETE FROM chat_message
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids))
"""
# What is not covered, yet stands before a summary, has to say its place from now on.
KEEP_PLACES = """
UPDATE chat_message SET place = seq
WHERE conversation_key = :conversation_key AND seq > :old_seq AND seq <= :summarized_seq
    AND place IS NULL AND covered_by IS NULL
"""
INSERT_SUMMARIZATION = """
INSERT INTO summarization_metadata (conversation_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us)
VALUES (:conversation_key, :id, :summary_message_id, :starts_at_us, :ends_at_us, :skill_id, :messages_deleted,
    :created_at_us)
"""
INSERT_COVERAGE = """
INSERT INTO summary_coverage (conversation_key, message_id, metadata_id, ordinal)
SELECT :conversation_key, value, :metadata_id, key FROM json_each(:ids)
"""

COUNT_SUMMARIES = """
SELECT count(*) FROM chat_message WHERE conversation_key = :conversation_key AND role = 'summary'
"""
CLEAR_STATEMENTS: Final = (
    "DELETE FROM chat_message WHERE conversation_key = :conversation_key",
    "DELETE FROM summarization_metadata WHERE conversation_key = :conversation_key",
    "DELETE FROM summary_coverage WHERE conversation_key = :conversation_key",
)


def append(
    transaction: Transaction, batch: Append
) -> Outcome[Appended, MessageConflictError | VersionConflictError]:
    """See ``MessageRepository.append``."""
    row = transaction.hold(load_conversation, batch.conversation_id)
    # As a rule all of a batch is new, and the index tells when it is not: nobody has to look first.
    decision = decide_append(row.state, {}, batch)
    if (
        row.state.deleted_count
        or not isinstance(decision, AppendDecision)
        or not _store(transaction, row, decision.new)
    ):
        decision = decide_append(row.state, _known(transaction, row.key, batch), batch)
        if not isinstance(decision, AppendDecision):
            return Failure(decision)
        _store(transaction, row, decision.new)
    if decision.new:
        row.become(transaction, decision.state)
    return Success(decision.answer)


def _store(transaction: Transaction, row: ConversationRow, drafts: Sequence[MessageDraft]) -> bool:
    """Store *drafts* at the end; or none of them, when the id of one is taken."""
    key, first = row.inserted_key(transaction), row.state.next_seq
    for seq, draft in enumerate(drafts, first):
        if not _insert(transaction, key, seq, draft):
            transaction.execute(DELETE_FROM_SEQ, {"conversation_key": key, "seq": first})
            return False
    return True


def _insert(
    transaction: Transaction, key: int, seq: int, draft: MessageDraft, place: int | None = None
) -> bool:
    """Store *draft* unless its id is taken."""
    metadata = draft.metadata
    columns = (
        key,
        seq,
        place,
        draft.id,
        draft.role,
        to_us(draft.timestamp),
        draft.tokens,
        None if metadata is None else to_json(metadata),
        draft.content,
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


def summarize(
    transaction: Transaction, summary: Summary
) -> Outcome[Conversation, VersionConflictError | RepositoryError]:
    """See ``MessageRepository.summarize``."""
    row = transaction.hold(load_conversation, summary.conversation_id)
    covers: dict[str, object] = {"conversation_key": row.key, "ids": json.dumps(summary.covers)}
    covered = [InView(*message) for message in transaction.execute(SELECT_UNCOVERED, covers).fetchall()]
    taken = {"conversation_key": row.key, "ids": json.dumps([summary.draft.id])}
    is_id_taken = transaction.execute(SELECT_STORED, taken).fetchone() is not None
    decision = decide_summary(row.state, covered, summary, is_id_taken=is_id_taken)
    if not isinstance(decision, SummaryDecision):
        return Failure(decision)
    _cover(transaction, row, summary, covers)
    _keep_places(transaction, row, decision.place)
    _insert(transaction, row.key, decision.seq, summary.draft, decision.place)
    row.become(transaction, decision.state)
    return Success(decision.state.conversation)


def _cover(
    transaction: Transaction, row: ConversationRow, summary: Summary, covers: dict[str, object]
) -> None:
    """Record what *summary* stands for and take it out of the view."""
    origin = {
        "conversation_key": row.key,
        "id": summary.metadata_id,
        "summary_message_id": summary.draft.id,
        "starts_at_us": to_us(summary.starts_at),
        "ends_at_us": to_us(summary.ends_at),
        "skill_id": summary.skill_id,
        "messages_deleted": summary.delete_covered,
        "created_at_us": to_us(summary.now),
    }
    transaction.execute(INSERT_SUMMARIZATION, origin)
    transaction.execute(INSERT_COVERAGE, {**covers, "metadata_id": summary.metadata_id})
    if summary.delete_covered:
        transaction.execute(DELETE_MESSAGES, covers)
    else:
        transaction.execute(COVER_MESSAGES, {**covers, "summary_id": summary.draft.id})


def _keep_places(transaction: Transaction, row: ConversationRow, place: int) -> None:
    """Move the end of the summarized part to *place*, if that lies behind it."""
    if place > row.summarized_seq:
        span = {"conversation_key": row.key, "old_seq": row.summarized_seq, "summarized_seq": place}
        transaction.execute(KEEP_PLACES, span)
        row.summarized_seq = place


@final
@frozen
class Clear:
    """A conversation to be emptied."""

    conversation_id: str
    now: datetime


def clear(transaction: Transaction, request: Clear) -> Outcome[ClearReport | None, Never]:
    """See ``MessageRepository.clear``."""
    row = transaction.hold(load_conversation, request.conversation_id)
    if row.state.conversation.message_count == 0:
        return Success(None)
    key = {"conversation_key": row.key}
    (summaries,) = transaction.execute(COUNT_SUMMARIES, key).fetchone()
    for statement in CLEAR_STATEMENTS:
        transaction.execute(statement, key)
    decision = decide_clear(row.state, summaries=summaries, now=request.now)
    row.become(transaction, decision.state)
    return Success(decision.answer)
