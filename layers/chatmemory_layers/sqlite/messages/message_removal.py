"""Removes the newest message with the summaries that cover it, and replaces the newest messages by others.

Runs inside a transaction that other writes may share.
"""

from collections.abc import Sequence
from datetime import datetime

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import InView, decide_removal
from chatmemory.conversation.message_repository import Appended, Replacement, WorkThreshold
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.replacing import answer_without_messages, refusal_of_replacement, remaining
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.conversation_row import conversation_row
from chatmemory_layers.sqlite.messages.message_reads import newest_in_view
from chatmemory_layers.sqlite.messages.message_writes import append, clear, known_of

DELETE_MESSAGE = """
DELETE FROM chat_message WHERE conversation_key = :conversation_key AND seq = :seq
RETURNING coalesce(place, seq), role, tokens
"""
DELETE_SUMMARIZATION = """
DELETE FROM summarization_metadata WHERE conversation_key = :conversation_key AND summary_message_id = :summary_id
RETURNING id, messages_deleted
"""
# A message that was in the summarized part gets a place, as every message there has.
UNCOVER_MESSAGES = """
UPDATE chat_message SET covered_by = NULL, covered_at_version = NULL, place = coalesce(place, seq)
WHERE conversation_key = :conversation_key AND covered_by = :summary_id AND id IN (
    SELECT message_id FROM summary_coverage
    WHERE conversation_key = :conversation_key AND metadata_id = :metadata_id
)
RETURNING place, role, tokens
"""
DELETE_COVERAGE = """
DELETE FROM summary_coverage WHERE conversation_key = :conversation_key AND metadata_id = :metadata_id
"""
SELECT_COVERED_SUMMARIES = """
SELECT covered.message_id FROM summary_coverage AS covered JOIN summarization_metadata AS made
    ON made.conversation_key = covered.conversation_key AND made.summary_message_id = covered.message_id
WHERE covered.conversation_key = :conversation_key AND covered.metadata_id = :metadata_id
"""


def remove_newest(
    transaction: Transaction, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
) -> Outcome[ChatMessage | None, AccessDeniedError]:
    """Delete the newest message of the model's view."""
    row = conversation_row(transaction, conversation_id)
    if row.state.conversation.view_count == 0 or not row.state.is_seen_by(principal()):
        return Success(None)
    if (refusal := row.state.refuses_deletion_by(principal())) is not None:
        return Failure(refusal)
    newest = last = newest_in_view(transaction.execute, row.key, row.summarized_place)
    removed: list[InView] = []
    restored: list[InView] = []
    freed = 0
    while newest is not None:
        last = newest
        deleted = {"conversation_key": row.key, "seq": last.seq}
        removed += [InView(*each) for each in transaction.execute(DELETE_MESSAGE, deleted).fetchall()]
        back, ids = uncover(transaction, row.key, last.id)
        restored += back
        freed += ids
        newest = newest_in_view(transaction.execute, row.key, row.summarized_place) if back else None
    state = decide_removal(row.state, removed, restored, freed=freed, now=now, threshold=threshold)
    row.become(transaction, state)
    note(transaction, [state.made_by("removed")])
    return Success(last)


def uncover(transaction: Transaction, key: int, summary_id: str) -> tuple[Sequence[InView], int]:
    """Undo a deleted summary, and the summaries that it has deleted.

    Args:
        transaction: the transaction of the change.
        key: the key of the conversation.
        summary_id: the id of the summary.

    Returns:
        the messages that are in view again, and how many ids are free again.
    """
    summary: dict[str, object] = {"conversation_key": key, "summary_id": summary_id}
    undone = transaction.execute(DELETE_SUMMARIZATION, summary).fetchall()
    if not undone:
        return (), 0
    ((metadata_id, messages_deleted),) = undone
    covers = {**summary, "metadata_id": metadata_id}
    back = [InView(*message) for message in transaction.execute(UNCOVER_MESSAGES, covers).fetchall()]
    deleted = transaction.execute(SELECT_COVERED_SUMMARIES, covers).fetchall() if messages_deleted else ()
    known = transaction.execute(DELETE_COVERAGE, covers).rowcount
    freed = known if messages_deleted else 0
    for (deleted_id,) in deleted:
        more, ids = uncover(transaction, key, deleted_id)
        back += more
        freed += ids
    return back, freed


def replace(
    transaction: Transaction, replacement: Replacement
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """Delete the newest messages of the model's view and store others in their place, in one transaction."""
    batch, id_ = replacement.batch, replacement.conversation_id
    row = conversation_row(transaction, id_)
    rest = remaining(row.state, replacement)
    known = known_of(transaction, row, batch) if rest else ()
    refusal = refusal_of_replacement(row.state, known, replacement, principal())
    if refusal is not None:
        return Failure(refusal)
    if rest == 0:
        clear(transaction, id_, now=batch.now)
    while row.state.conversation.view_count > rest:
        remove_newest(transaction, id_, now=batch.now, threshold=batch.threshold)
    if not batch.drafts:
        return Success(answer_without_messages(row.state))
    return append(transaction, evolve(batch, expected_version=None))
