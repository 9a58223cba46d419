"""What changes a conversation: append, summarize, clear.  Each runs inside a transaction that others may share."""

import json
from datetime import datetime
from typing import Final, Never, final

from attrs import frozen

from chatmemory.contracts import Append, Appended, MessageDraft, Summary
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.messages import OPEN_ROLES, ClearReport, Conversation
from chatmemory_layers.columns import same_json, to_json, to_us
from chatmemory_layers.sqlite.conversation_row import ConversationRow, load_conversation
from chatmemory_layers.sqlite.group_commit import Transaction
from chatmemory_layers.sqlite.history_work import drop_work, queue_work

# Positional, because a dictionary per message costs a tenth of the append.
INSERT_MESSAGE = """
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, metadata, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id, conversation_key) DO NOTHING
"""
SELECT_STORED = """
SELECT role, content, metadata FROM chat_message WHERE conversation_key = :conversation_key AND id = :id
"""
# A message that is stored itself is compared, covered or not.
SELECT_DELETED = """
SELECT 1 FROM summary_coverage AS coverage WHERE conversation_key = :conversation_key AND message_id = :id
    AND NOT EXISTS (SELECT 1 FROM chat_message AS message
        WHERE message.conversation_key = coverage.conversation_key AND message.id = coverage.message_id)
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
    expected = batch.expected_version
    if expected is not None and expected != row.version and not _has_all_of(transaction, row.key, batch):
        return Failure(VersionConflictError(row.conversation_id, expected, row.version))
    key = row.inserted_key(transaction)
    seq = row.next_seq
    stored: list[MessageDraft] = []
    duplicates: list[str] = []
    conflicts: list[str] = []
    for draft in batch.drafts:
        if row.deleted_count and _was_deleted(transaction, key, draft):
            duplicates.append(draft.id)
        elif _insert(transaction, key, seq, draft):
            stored.append(draft)
            seq += 1
        elif _is_stored(transaction, key, draft):
            duplicates.append(draft.id)
        else:
            conflicts.append(draft.id)
    if conflicts:
        transaction.execute(DELETE_FROM_SEQ, {"conversation_key": key, "seq": row.next_seq})
        return Failure(MessageConflictError(row.conversation_id, tuple(conflicts)))
    if stored:
        row.append(stored, batch.now)
    conversation = row.value()
    if stored and batch.is_due(conversation):
        queue_work(transaction, row, batch.now)
    ids = tuple([draft.id for draft in stored])
    return Success(Appended(ids, tuple(duplicates), conversation, row.has_work))


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


def _has_all_of(transaction: Transaction, key: int, batch: Append) -> bool:
    """Tell whether all of *batch* is stored already, or was."""
    return all(
        _is_stored(transaction, key, draft) or _was_deleted(transaction, key, draft) for draft in batch.drafts
    )


def _is_stored(transaction: Transaction, key: int, draft: MessageDraft) -> bool:
    """Tell whether what is stored under the draft's id says the same."""
    found = transaction.execute(SELECT_STORED, {"conversation_key": key, "id": draft.id}).fetchone()
    if found is None:
        return False
    role, content, metadata = found
    return role == draft.role and content == draft.content and same_json(metadata, to_json(draft.metadata))


def _was_deleted(transaction: Transaction, key: int, draft: MessageDraft) -> bool:
    """Tell whether a summary has deleted the message of the draft's id."""
    found = transaction.execute(SELECT_DELETED, {"conversation_key": key, "id": draft.id}).fetchone()
    return found is not None


def summarize(
    transaction: Transaction, summary: Summary
) -> Outcome[Conversation, VersionConflictError | RepositoryError]:
    """See ``MessageRepository.summarize``."""
    row = transaction.hold(load_conversation, summary.conversation_id)
    covers: dict[str, object] = {"conversation_key": row.key, "ids": json.dumps(summary.covers)}
    uncovered = transaction.execute(SELECT_UNCOVERED, covers).fetchall()
    if row.rewritten_at_version > summary.planned_at_version or len(uncovered) < len(summary.covers):
        return Failure(VersionConflictError(row.conversation_id, summary.planned_at_version, row.version))
    if _id_is_taken(transaction, row, summary.draft):
        detail = f"{summary.draft.id!r} is stored already"
        return Failure(RepositoryError("summarize", "unexpected", detail))
    place = max(place for place, _, _ in uncovered)
    _cover(transaction, row, summary, covers)
    _keep_places(transaction, row, place)
    _insert(transaction, row.key, row.next_seq, summary.draft, place)
    row.next_seq += 1
    row.message_count += 1
    row.view_count += 1 - len(uncovered)
    row.view_tokens += summary.draft.tokens - sum(tokens for _, _, tokens in uncovered)
    row.open_count -= sum(role in OPEN_ROLES for _, role, _ in uncovered)
    row.changed(summary.now)
    row.rewritten_at_version = row.version
    conversation = row.value()
    if not summary.is_due(conversation):
        drop_work(transaction, row)
    return Success(conversation)


def _id_is_taken(transaction: Transaction, row: ConversationRow, draft: MessageDraft) -> bool:
    found = transaction.execute(SELECT_STORED, {"conversation_key": row.key, "id": draft.id}).fetchone()
    return found is not None


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
        row.message_count -= len(summary.covers)
        row.deleted_count += len(summary.covers)
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
    if row.message_count == 0:
        return Success(None)
    key = {"conversation_key": row.key}
    (summaries,) = transaction.execute(COUNT_SUMMARIES, key).fetchone()
    for statement in CLEAR_STATEMENTS:
        transaction.execute(statement, key)
    drop_work(transaction, row)
    messages = row.message_count
    row.message_count = row.view_count = row.view_tokens = row.open_count = row.deleted_count = 0
    row.changed(request.now)
    row.rewritten_at_version = row.version
    return Success(ClearReport(messages, summaries, row.version))
