"""The writes that change a conversation: append, summarize, clear.  Each runs in a transaction that holds its lock.

``chatmemory.conversation.changes`` decides the result of a change; this module executes it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import (
    AppendDecision,
    ClearDecision,
    ConversationState,
    SummaryDecision,
    Words,
    decide_append,
    decide_clear,
    decide_summary,
)
from chatmemory.conversation.message_repository import Append, Appended, Summary
from chatmemory.conversation.messages import ClearReport, Conversation
from chatmemory.conversation.undoing import branches_of
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, RepositoryError, VersionConflictError
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.row_locks import hold
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.messages.conversation_row import (
    in_view,
    load_conversation,
    message_row,
    state_in,
    store_messages,
)
from chatmemory_layers.postgres.messages.message_forks import branches_holding
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.rows import STATE

# Reads the conversation, whether work is queued for it, and what is stored under the ids $2, in one round trip.  The ids of
# messages that a summary has deleted are in summary_coverage, which is not read if there are none.  LIMIT makes the planner
# look up the ids one by one: where most conversations are short, it would read all of a long one.
SELECT_KNOWN: Final = f"""
SELECT {STATE},
    EXISTS (SELECT FROM history_work WHERE history_work.conversation_id = $1) AS has_work,
    known.id, known.role, known.content, known.metadata
FROM conversation LEFT JOIN LATERAL (
    SELECT message.*
    FROM unnest($2::text[]) AS wanted CROSS JOIN LATERAL (
        SELECT id, role, content, metadata FROM chat_message
        WHERE conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
        LIMIT 1
    ) AS message
    UNION ALL
    SELECT covered.message_id, NULL, NULL, NULL
    FROM unnest($2::text[]) AS wanted CROSS JOIN LATERAL (
        SELECT message_id FROM summary_coverage
        WHERE conversation_id = $1 AND hashtextextended(message_id, 0) = hashtextextended(wanted, 0)
            AND message_id = wanted
        LIMIT 1
    ) AS covered
    WHERE conversation.deleted_count > 0
) AS known ON TRUE
WHERE conversation.conversation_id = $1
"""  # noqa: S608  made of a constant

SELECT_BY_IDS: Final = """
SELECT found.* FROM unnest($2::text[]) AS wanted CROSS JOIN LATERAL (
    SELECT id, seq, place, role, tokens, covered_by FROM chat_message
    WHERE conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
    LIMIT 1
) AS found
"""
COVER_MESSAGES: Final = """
UPDATE chat_message SET covered_by = $3, covered_at_version = $4 WHERE conversation_id = $1 AND seq = ANY ($2::bigint[])
"""
DELETE_MESSAGES: Final = """
DELETE FROM chat_message WHERE conversation_id = $1 AND seq = ANY ($2::bigint[])
"""
INSERT_SUMMARIZATION: Final = """
INSERT INTO summarization_metadata (conversation_id, id, summary_message_id, starts_at_us, ends_at_us, skill_id,
    messages_deleted, created_at_us, made_at_version, is_stale)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
INSERT_COVERAGE: Final = """
INSERT INTO summary_coverage (conversation_id, metadata_id, message_id, ordinal)
SELECT $1, $2, message_id, ordinal FROM unnest($3::text[]) WITH ORDINALITY AS covered (message_id, ordinal)
"""

FORGET_ORIGIN: Final = """
UPDATE conversation SET forked_from = NULL, forked_at_version = NULL, forked_at_seq = NULL WHERE conversation_id = $1 AND forked_from IS NOT NULL
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


async def append(
    connection: Connection, batch: Append
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """Store the new drafts of *batch* and queue history work; it takes two round trips, and one more for history work."""
    state, known = await state_and_known(connection, batch)
    decision = decide_append(state, known, batch, principal())
    if not isinstance(decision, AppendDecision):
        return Failure(decision)
    if decision.new:
        rows = [message_row(draft, seq=seq) for seq, draft in enumerate(decision.new, state.next_seq)]
        change = decision.state.made_by_append(decision.new)
        await store_messages(connection, state, decision.state, change, rows)
    return Success(decision.answer)


async def state_and_known(
    connection: Connection, batch: Append
) -> tuple[ConversationState, Mapping[str, Words | None]]:
    """Return the conversation of *batch*, and what is stored there under its ids."""
    key = batch.conversation_id
    found = await connection.fetch(SELECT_KNOWN, key, [draft.id for draft in batch.drafts])
    return state_in(key, found), _known(found)


def _known(found: Sequence[Row]) -> Mapping[str, Words | None]:
    """Return the stored message of each id; messages are compared whether a summary covers them or not."""
    known: dict[str, Words | None] = {}
    for row in found:
        if row["role"] is not None:
            known[row["id"]] = (row["role"], row["content"], row["metadata"])
        elif row["id"] is not None:
            known.setdefault(row["id"], None)
    return known


async def summarize(
    connection: Connection, summary: Summary
) -> Outcome[Conversation, VersionConflictError | RepositoryError]:
    """Replace the messages that *summary* covers with *summary*, in one transaction."""
    key = summary.conversation_id
    state = await load_conversation(connection, key)
    ids = [*summary.covers, summary.draft.id]
    stored = {row["id"]: row for row in await connection.fetch(SELECT_BY_IDS, key, ids)}
    covered = [
        message for id_, message in stored.items() if id_ in summary.covers and message["covered_by"] is None
    ]
    is_id_taken = summary.draft.id in stored
    decision = decide_summary(state, in_view(covered), summary, is_id_taken=is_id_taken)
    if not isinstance(decision, SummaryDecision):
        return Failure(decision)
    numbers, version = [message["seq"] for message in covered], decision.state.conversation.version
    await _cover(connection, summary, numbers, version)
    row = message_row(summary.draft, seq=decision.seq, place=decision.place)
    change = decision.state.made_by_summary(summary)
    await store_messages(connection, state, decision.state, change, [row])
    return Success(decision.state.conversation)


async def _cover(connection: Connection, summary: Summary, numbers: Sequence[str], version: int) -> None:
    """Record the messages that *summary* covers, and remove them from the view, so that the summary can take their place."""
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
        version,
        summary.is_stale,
    )
    await connection.execute(INSERT_COVERAGE, key, metadata_id, summary.covers)
    if summary.delete_covered:
        await connection.execute(DELETE_MESSAGES, key, numbers)
    else:
        await connection.execute(COVER_MESSAGES, key, numbers, summary.draft.id, version)


async def clear(
    connection: Connection, conversation_id: str, *, now: datetime, with_branches: bool = False
) -> Outcome[ClearReport | None, AccessDeniedError]:
    """Delete the messages, summaries, coverage and queued work of a conversation; the branches keep what they hold.

    *with_branches*: also clear the branches that the principal may clear.  Only this write locks several conversations.  The
    caller holds the lock that one such write at a time has, so no two of them wait for each other.
    """
    if with_branches:
        await hold(connection, conversation_id)
    state = await load_conversation(connection, conversation_id)
    if state.conversation.message_count == 0 or not state.is_seen_by(principal()):
        return Success(None)
    if (refusal := state.refuses_deletion_by(principal())) is not None:
        return Failure(refusal)
    holding = branches_of(await branches_holding(connection, conversation_id))
    cleared_too: list[str] = []
    for branch_id in holding if with_branches else ():
        await hold(connection, branch_id)
        async with for_the_service(connection):
            branch = await load_conversation(connection, branch_id)
            if branch.refuses_deletion_by(principal()) is not None:
                continue
            cleared_too.append(branch_id)
            if branch.conversation.message_count:  # empty: it was cleared while the lock was waited for
                cleared = await clear_state(connection, branch, now=now)
                await store_messages(connection, branch, cleared.state, cleared.state.made_by("cleared"))
    decision = await clear_state(connection, state, now=now)
    await store_messages(connection, state, decision.state, decision.state.made_by("cleared"))
    kept = tuple(branch_id for branch_id in holding if branch_id not in cleared_too)
    return Success(evolve(decision.answer, cleared_too=tuple(cleared_too), still_shared_by=kept))


async def clear_state(connection: Connection, state: ConversationState, *, now: datetime) -> ClearDecision:
    """Delete all rows of a conversation with messages; the caller writes its own row and the log."""
    key = state.conversation.conversation_id
    await connection.execute(FORGET_ORIGIN, key)
    (gone,) = await connection.fetch(CLEAR_MESSAGES, key)
    await connection.execute(CLEAR_SUMMARIZATIONS, key)
    await connection.execute(CLEAR_COVERAGE, key)
    return decide_clear(state, summaries=gone["summaries"], now=now)
