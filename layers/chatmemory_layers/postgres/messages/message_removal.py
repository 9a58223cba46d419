"""Removes the newest message with the summaries that cover it, and replaces the newest messages by others.

Runs in a transaction that holds the conversation's lock.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import decide_removal
from chatmemory.conversation.message_repository import Appended, Replacement, WorkThreshold
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.replacing import answer_without_messages, refusal_of_replacement, remaining
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.messages.conversation_row import in_view, load_conversation, store_messages
from chatmemory_layers.postgres.messages.message_reads import message_of
from chatmemory_layers.postgres.messages.message_writes import append, clear, state_and_known

DELETE_NEWEST: Final = """
DELETE FROM chat_message WHERE conversation_id = $1 AND seq = (
    SELECT seq FROM chat_message WHERE conversation_id = $1 AND covered_by IS NULL ORDER BY place DESC LIMIT 1
)
RETURNING seq, place, id, role, content, sent_at_us, metadata, covered_by, tokens
"""
DELETE_SUMMARIZATION: Final = """
DELETE FROM summarization_metadata
WHERE conversation_id = $1 AND hashtextextended(summary_message_id, 0) = hashtextextended($2, 0)
    AND summary_message_id = $2
RETURNING id, messages_deleted
"""
DELETE_COVERAGE: Final = """
DELETE FROM summary_coverage WHERE conversation_id = $1 AND metadata_id = $2 RETURNING message_id
"""
SELECT_SUMMARIES: Final = """
SELECT made.summary_message_id FROM unnest($2::text[]) AS wanted JOIN summarization_metadata AS made
    ON hashtextextended(made.summary_message_id, 0) = hashtextextended(wanted, 0) AND made.summary_message_id = wanted
WHERE made.conversation_id = $1
"""
UNCOVER_MESSAGES: Final = """
UPDATE chat_message SET covered_by = NULL, covered_at_version = NULL FROM unnest($2::text[]) AS wanted
WHERE conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
    AND covered_by = $3
RETURNING place, role, tokens
"""


async def remove_newest(
    connection: Connection, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
) -> Outcome[ChatMessage | None, AccessDeniedError]:
    """Delete the newest message of the model's view."""
    key = conversation_id
    state = await load_conversation(connection, key)
    if state.conversation.view_count == 0 or not state.is_seen_by(principal()):
        return Success(None)
    if (refusal := state.refuses_deletion_by(principal())) is not None:
        return Failure(refusal)
    removed: list[Row] = []
    restored: list[Row] = []
    freed, is_newest = 0, False
    while not is_newest:
        removed += await connection.fetch(DELETE_NEWEST, key)
        back, ids = await uncover(connection, key, removed[-1]["id"])
        restored += back
        freed += ids
        is_newest = not back
    after = decide_removal(
        state,
        in_view(removed),
        in_view(restored),
        freed=freed,
        now=now,
        threshold=threshold,
    )
    await store_messages(connection, state, after, after.made_by("removed"))
    return Success(message_of(removed[-1]))


async def uncover(connection: Connection, key: str, summary_id: str) -> tuple[Sequence[Row], int]:
    """Undo a summary whose message was removed, and the summaries that it has deleted.

    Returns:
        The rows that are in view again, and the number of ids that are free again.
    """
    undone = await connection.fetch(DELETE_SUMMARIZATION, key, summary_id)
    if not undone:
        return (), 0
    covered = [row["message_id"] for row in await connection.fetch(DELETE_COVERAGE, key, undone[0]["id"])]
    back = [*await connection.fetch(UNCOVER_MESSAGES, key, covered, summary_id)]
    if not undone[0]["messages_deleted"]:
        return back, 0
    freed = len(covered)
    for deleted in await connection.fetch(SELECT_SUMMARIES, key, covered):
        more, ids = await uncover(connection, key, deleted["summary_message_id"])
        back += more
        freed += ids
    return back, freed


async def replace(
    connection: Connection, replacement: Replacement
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """Delete the newest messages of the model's view and store others in their place, in one transaction."""
    batch, id_ = replacement.batch, replacement.conversation_id
    state, known = await state_and_known(connection, batch)
    rest = remaining(state, replacement)
    refusal = refusal_of_replacement(state, known if rest else (), replacement, principal())
    if refusal is not None:
        return Failure(refusal)
    if rest == 0:
        await clear(connection, id_, now=batch.now)
        state = await load_conversation(connection, id_)
    while state.conversation.view_count > rest:
        await remove_newest(connection, id_, now=batch.now, threshold=batch.threshold)
        state = await load_conversation(connection, id_)
    if not batch.drafts:
        return Success(answer_without_messages(state))
    return await append(connection, evolve(batch, expected_version=None))
