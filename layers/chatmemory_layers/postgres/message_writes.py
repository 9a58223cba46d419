"""What changes a conversation: append, summarize, clear.  Each runs in a transaction, under the conversation's lock."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.contracts import Append, Appended, MessageDraft, Summary
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.messages import ClearReport, Conversation
from chatmemory_layers.columns import same_json, to_us
from chatmemory_layers.postgres.connection import Connection, Row
from chatmemory_layers.postgres.conversation_row import (
    ConversationRow,
    MessageRow,
    load_conversation,
    store_messages,
)
from chatmemory_layers.postgres.history_work import drop_work, queue_work

# The conversation, whether work is queued for it, and what is known of the ids $2: one round trip.  Messages that were
# deleted with a summary live on in summary_coverage, which is not looked into when there are none.
SELECT_KNOWN: Final = """
SELECT conversation_id, version, next_seq, rewritten_at_version, message_count, view_count, view_tokens, open_count,
    deleted_count, created_at_us, updated_at_us, known.id, known.role, known.content, known.metadata,
    EXISTS (SELECT FROM history_work WHERE history_work.conversation_id = $1) AS has_work
FROM conversation LEFT JOIN LATERAL (
    SELECT id, role, content, metadata
    FROM unnest($2::text[]) AS wanted JOIN chat_message
        ON chat_message.conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
    UNION ALL
    SELECT message_id, NULL, NULL, NULL
    FROM unnest($2::text[]) AS wanted JOIN summary_coverage
        ON summary_coverage.conversation_id = $1 AND hashtextextended(message_id, 0) = hashtextextended(wanted, 0)
        AND message_id = wanted
    WHERE conversation.deleted_count > 0
) AS known ON TRUE
WHERE conversation.conversation_id = $1
"""

SELECT_MESSAGES: Final = """
SELECT seq, place, id, role, tokens, covered_by
FROM unnest($2::text[]) AS wanted JOIN chat_message
    ON conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
"""
COVER_MESSAGES: Final = """
UPDATE chat_message SET covered_by = $3 WHERE conversation_id = $1 AND seq = ANY ($2::text[]::bigint[])
"""
DELETE_MESSAGES: Final = """
DELETE FROM chat_message WHERE conversation_id = $1 AND seq = ANY ($2::text[]::bigint[])
"""
INSERT_SUMMARIZATION: Final = """
INSERT INTO summarization_metadata (conversation_id, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
INSERT_COVERAGE: Final = """
INSERT INTO summary_coverage (conversation_id, metadata_id, message_id, ordinal)
SELECT $1, $2, message_id, ordinal FROM unnest($3::text[]) WITH ORDINALITY AS covered (message_id, ordinal)
"""

CLEAR_MESSAGES: Final = """
WITH gone AS (DELETE FROM chat_message WHERE conversation_id = $1 RETURNING role)
SELECT count(*) FILTER (WHERE role = 'summary') AS summaries FROM gone
"""
CLEAR_SUMMARIZATIONS: Final = """
DELETE FROM summarization_metadata WHERE conversation_id = $1
"""
CLEAR_COVERAGE: Final = """
DELETE FROM summary_coverage WHERE conversation_id = $1
"""

Words: TypeAlias = tuple[str, str, str | None]
"""What two messages of one id must have in common: role, content and metadata, but not when it was said."""


async def append(
    connection: Connection, batch: Append
) -> Outcome[Appended, MessageConflictError | VersionConflictError]:
    """See ``MessageRepository.append``: two round trips, and a third when it makes history work due."""
    key, now_us = batch.conversation_id, to_us(batch.now)
    found = await connection.fetch(SELECT_KNOWN, key, [draft.id for draft in batch.drafts])
    row = ConversationRow.read(found[0]) if found else ConversationRow.unknown(key, now_us)
    new, duplicates, conflicts = _sort(batch.drafts, row.next_seq, _known(found))
    expected = batch.expected_version
    if expected is not None and expected != row.version and (new or conflicts):
        return Failure(VersionConflictError(key, expected=expected, actual=row.version))
    if conflicts:
        return Failure(MessageConflictError(key, tuple(conflicts)))
    work_is_due: bool = bool(found) and found[0]["has_work"]
    if new:
        row = row.extended(new, now_us)
        await store_messages(connection, row, new)
        if not work_is_due and batch.is_due(row.value()):
            await queue_work(connection, key, now_us)
            work_is_due = True
    return Success(
        Appended(tuple(message.id for message in new), tuple(duplicates), row.value(), work_is_due)
    )


def _known(found: Sequence[Row]) -> Mapping[str, Words | None]:
    """Read what is stored under which id; None: it was deleted, and any words pass for those that it had."""
    known: dict[str, Words | None] = {}
    for row in found:
        if row["role"] is not None:
            known[row["id"]] = (row["role"], row["content"], row["metadata"])
        elif row["id"] is not None:
            known.setdefault(row["id"], None)
    return known


def _sort(
    drafts: Sequence[MessageDraft], next_seq: int, known: Mapping[str, Words | None]
) -> tuple[Sequence[MessageRow], Sequence[str], Sequence[str]]:
    """Tell *drafts* apart: rows to be stored, ids of what is stored already, and ids of what contradicts it."""
    known = dict(known)
    new: list[MessageRow] = []
    duplicates: list[str] = []
    conflicts: list[str] = []
    for draft in drafts:
        row = MessageRow.of(draft, seq=next_seq + len(new))
        words = (row.role, row.content, row.metadata)
        if draft.id not in known:
            known[draft.id] = words
            new.append(row)
        elif _is_same(known[draft.id], words):
            duplicates.append(draft.id)
        else:
            conflicts.append(draft.id)
    return new, duplicates, conflicts


def _is_same(stored: Words | None, words: Words) -> bool:
    return stored is None or (stored[:2] == words[:2] and same_json(stored[2], words[2]))


async def summarize(
    connection: Connection, summary: Summary
) -> Outcome[Conversation, VersionConflictError | RepositoryError]:
    """See ``MessageRepository.summarize``."""
    key, now_us = summary.conversation_id, to_us(summary.now)
    row = await load_conversation(connection, key)
    found = await connection.fetch(SELECT_MESSAGES, key, [*summary.covers, summary.draft.id])
    stored = {message["id"]: message for message in found}
    covered = [stored[message_id] for message_id in summary.covers if message_id in stored]
    if (
        row is None
        or row.rewritten_at_version > summary.planned_at_version
        or len(covered) < len(summary.covers)
        or any(message["covered_by"] is not None for message in covered)
    ):
        actual = 0 if row is None else row.version
        return Failure(VersionConflictError(key, expected=summary.planned_at_version, actual=actual))
    if summary.draft.id in stored:
        return Failure(RepositoryError("summarize", "unexpected", f"{summary.draft.id!r} is stored already"))
    await _cover(connection, summary, [str(message["seq"]) for message in covered])
    place = max(message["place"] for message in covered)
    message = MessageRow.of(summary.draft, seq=row.next_seq, place=place)
    row = row.extended([message], now_us).without(covered, deleted=summary.delete_covered).rewritten()
    await store_messages(connection, row, [message])
    if not summary.is_due(row.value()):
        await drop_work(connection, key)
    return Success(row.value())


async def _cover(connection: Connection, summary: Summary, numbers: Sequence[str]) -> None:
    """Record what *summary* stands for and take it out of the view, so that the place is free for the summary."""
    key, metadata_id = summary.conversation_id, summary.metadata_id
    await connection.execute(
        INSERT_SUMMARIZATION,
        key,
        metadata_id,
        summary.draft.id,
        to_us(summary.starts_at),
        to_us(summary.ends_at),
        summary.skill_id,
        summary.delete_covered,
        to_us(summary.now),
    )
    await connection.execute(INSERT_COVERAGE, key, metadata_id, summary.covers)
    if summary.delete_covered:
        await connection.execute(DELETE_MESSAGES, key, numbers)
    else:
        await connection.execute(COVER_MESSAGES, key, numbers, summary.draft.id)


@final
@frozen
class Clear:
    """A conversation to be emptied."""

    conversation_id: str
    now: datetime


async def clear(connection: Connection, request: Clear) -> Success[ClearReport | None]:
    """See ``MessageRepository.clear``."""
    key = request.conversation_id
    row = await load_conversation(connection, key)
    if row is None or row.message_count == 0:
        return Success(None)
    (gone,) = await connection.fetch(CLEAR_MESSAGES, key)
    await connection.execute(CLEAR_SUMMARIZATIONS, key)
    await connection.execute(CLEAR_COVERAGE, key)
    await drop_work(connection, key)
    after = row.cleared(to_us(request.now))
    await store_messages(connection, after, ())
    return Success(ClearReport(row.message_count, gone["summaries"], after.version))
