"""Replaces messages by a summary: message, metadata, coverage and deletion in one transaction.

``chatmemory.conversation.changes`` decides what a summary does.
"""

import json

from chatmemory.conversation.changes import InView, SummaryDecision, decide_summary
from chatmemory.conversation.message_repository import Summary
from chatmemory.conversation.messages import Conversation
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError, VersionConflictError
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.message_writes import INSERT_MESSAGE, known_words, message_row

SELECT_IN_VIEW = """
SELECT coalesce(place, seq), role, tokens FROM chat_message
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids)) AND covered_by IS NULL
"""
COVER_MESSAGES = """
UPDATE chat_message SET covered_by = :summary_id, covered_at_version = :version
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids))
"""
DELETE_MESSAGES = """
DELETE FROM chat_message
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids))
"""
# Messages before a summary that it does not cover get a place.
KEEP_PLACES = """
UPDATE chat_message SET place = seq
WHERE conversation_key = :conversation_key AND seq > :old_seq AND seq <= :summarized_place
    AND place IS NULL AND covered_by IS NULL
"""
INSERT_SUMMARIZATION = """
INSERT INTO summarization_metadata (conversation_key, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, made_at_version, is_stale)
VALUES (:conversation_key, :id, :summary_message_id, :starts_at_us, :ends_at_us, :skill_id, :messages_deleted,
    :created_at_us, :made_at_version, :is_stale)
"""
INSERT_COVERAGE = """
INSERT INTO summary_coverage (conversation_key, message_id, metadata_id, ordinal)
SELECT :conversation_key, value, :metadata_id, key FROM json_each(:ids)
"""


def summarize(
    transaction: Transaction, summary: Summary
) -> Outcome[Conversation, VersionConflictError | RepositoryError]:
    """Replace the messages that *summary* covers with *summary*, in one transaction."""
    row = conversation_row(transaction, summary.conversation_id)
    ids = json.dumps(summary.covers)
    asked = {"conversation_key": row.key, "ids": ids}
    covered = [InView(*message) for message in transaction.execute(SELECT_IN_VIEW, asked).fetchall()]
    is_id_taken = bool(known_words(transaction, row.key, [summary.draft.id]))
    decision = decide_summary(row.state, covered, summary, is_id_taken=is_id_taken)
    if not isinstance(decision, SummaryDecision):
        return Failure(decision)
    version = decision.state.conversation.version
    _cover(transaction, row, summary, {**asked, "version": version})
    _keep_places(transaction, row, decision.place)
    message = message_row(row.key, decision.seq, summary.draft, version, to_us(summary.now), decision.place)
    transaction.execute(INSERT_MESSAGE, message)
    row.become(transaction, decision.state)
    note(transaction, [decision.state.made_by_summary(summary)])
    return Success(decision.state.conversation)


def _cover(
    transaction: Transaction, row: ConversationRow, summary: Summary, covers: dict[str, object]
) -> None:
    """Record what *summary* covers, and remove it from the view."""
    origin = {
        "conversation_key": row.key,
        "id": summary.metadata_id,
        "summary_message_id": summary.draft.id,
        "starts_at_us": to_us(summary.starts_at),
        "ends_at_us": to_us(summary.ends_at),
        "skill_id": summary.skill_id,
        "messages_deleted": summary.delete_covered,
        "created_at_us": to_us(summary.now),
        "made_at_version": covers["version"],
        "is_stale": summary.is_stale,
    }
    transaction.execute(INSERT_SUMMARIZATION, origin)
    transaction.execute(INSERT_COVERAGE, {**covers, "metadata_id": summary.metadata_id})
    if summary.delete_covered:
        transaction.execute(DELETE_MESSAGES, covers)
    else:
        transaction.execute(COVER_MESSAGES, {**covers, "summary_id": summary.draft.id})


def _keep_places(transaction: Transaction, row: ConversationRow, place: int) -> None:
    """Move the end of the summarized part to *place*, if *place* is after it."""
    if place > row.summarized_place:
        span = {"conversation_key": row.key, "old_seq": row.summarized_place, "summarized_place": place}
        transaction.execute(KEEP_PLACES, span)
        row.summarized_place = place
