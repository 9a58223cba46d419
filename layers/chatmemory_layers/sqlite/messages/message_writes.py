"""The writes that change a conversation: append, summarize, clear.

Each function runs inside a transaction that other writes may share.  ``chatmemory.conversation.changes`` decides what a
change does; this module executes it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, final

from attrs import define, evolve, field

from chatmemory.access.principal import Principal, principal
from chatmemory.conversation.changes import (
    AppendDecision,
    ClearDecision,
    ConversationState,
    InView,
    SummaryDecision,
    Words,
    decide_append,
    decide_clear,
    decide_summary,
)
from chatmemory.conversation.message_repository import Append, Appended, MessageDraft, Summary
from chatmemory.conversation.messages import ClearReport, Conversation
from chatmemory.conversation.undoing import branches_of
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.events.event import current_reason
from chatmemory.input.json_value import to_json
from chatmemory_layers.sql.columns import EPOCH, MICROSECOND, to_us
from chatmemory_layers.sqlite.engine.transaction import RowTakenError, Transaction
from chatmemory_layers.sqlite.events.event_log import INSERT_ADDED, NS_PER_US, note
from chatmemory_layers.sqlite.messages.conversation_row import (
    ConversationRow,
    conversation_row,
    load_conversation,
)
from chatmemory_layers.sqlite.messages.message_forks import branches_holding

# Positional, because a dictionary per message costs a tenth of the append.
INSERT_MESSAGE = """
INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, metadata, content, version,
    stored_at_us)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id, conversation_key) DO NOTHING
"""
SELECT_COVERED = """
SELECT message_id FROM summary_coverage
WHERE conversation_key = :conversation_key AND message_id IN (SELECT value FROM json_each(:ids))
"""
SELECT_BY_IDS = """
SELECT id, role, content, metadata FROM chat_message
WHERE conversation_key = :conversation_key AND id IN (SELECT value FROM json_each(:ids))
"""
# The columns that an append to a conversation with messages changes; all other columns stay the same.
UPDATE_COUNTS = """
UPDATE chat_conversation
SET version = ?, message_count = ?, view_count = ?, view_tokens = ?, open_count = ?, updated_at_us = ?, next_seq = ?
WHERE conversation_key = ?
"""

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
FORGET_ORIGIN = """
UPDATE chat_conversation SET forked_from = NULL, forked_at_version = NULL, forked_at_seq = NULL
WHERE conversation_key = :conversation_key AND forked_from IS NOT NULL
"""
COUNT_SUMMARIES = """
SELECT count(*) FROM chat_message WHERE conversation_key = :conversation_key AND role = 'summary'
"""
CLEAR_STATEMENTS: Final = (
    "DELETE FROM chat_message WHERE conversation_key = :conversation_key",
    "DELETE FROM summarization_metadata WHERE conversation_key = :conversation_key",
    "DELETE FROM summary_coverage WHERE conversation_key = :conversation_key",
)


NOTHING: Final[Mapping[str, Words | None]] = {}


@final
@define(eq=False)
class AppendedRows:
    """The rows that the appends of a transaction store, with one statement per table."""

    messages: list[tuple[object, ...]] = field(factory=list[tuple[object, ...]])
    events: list[tuple[object, ...]] = field(factory=list[tuple[object, ...]])
    conversations: dict[int, ConversationRow] = field(factory=dict[int, ConversationRow])

    def save(self, transaction: Transaction) -> None:
        """Write the rows.

        Raises:
            RowTakenError: the id of a message exists already.
        """
        write = transaction.cursor.executemany
        if write(INSERT_MESSAGE, self.messages).rowcount < len(self.messages):
            raise RowTakenError
        if self.events:  # a benchmark leaves them out
            write(INSERT_ADDED, self.events)
        counts = [
            (row.state.next_seq, row.state.conversation, key) for key, row in self.conversations.items()
        ]
        write(
            UPDATE_COUNTS,
            [
                (
                    now.version,
                    now.message_count,
                    now.view_count,
                    now.view_tokens,
                    now.open_count,
                    (now.updated_at - EPOCH) // MICROSECOND,
                    next_seq,
                    key,
                )
                for next_seq, now, key in counts
            ],
        )


def append(
    transaction: Transaction, batch: Append
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """Store the new drafts of *batch*, and queue history work in the same transaction when its threshold is reached."""
    id_, who = batch.conversation_id, principal()
    row = transaction.held.get((ConversationRow, id_))
    if not isinstance(row, ConversationRow):
        row = load_conversation(transaction, id_)
    before = row.state
    # Most batches are entirely new, and the unique index refuses the others: no need to look first.
    is_known = transaction.looks_first or before.deleted_count > 0
    decision = decide_append(before, known_of(transaction, row, batch) if is_known else NOTHING, batch, who)
    if not isinstance(decision, AppendDecision):
        # The caller may be repeating what is stored.
        if not is_known:
            decision = decide_append(before, known_of(transaction, row, batch), batch, who)
        if not isinstance(decision, AppendDecision):
            return Failure(decision)
    if decision.new:
        _store(transaction, row, decision, who)
    return Success(decision.answer)


def _store(transaction: Transaction, row: ConversationRow, decision: AppendDecision, who: Principal) -> None:
    """Store the new messages at the end of the conversation."""
    rows = transaction.waiting
    if not isinstance(rows, AppendedRows):
        if rows is not None:
            transaction.write_waiting()
        rows = transaction.waiting = AppendedRows()
    before, state = row.state, decision.state
    now = state.conversation
    key = row.key or row.inserted_key(transaction, state.owner)
    stored_at_us = (now.updated_at - EPOCH) // MICROSECOND
    for seq, draft in enumerate(decision.new, before.next_seq):
        rows.messages.append(message_row(key, seq, draft, now.version, stored_at_us))
    _note(rows, state, who, (decision.new[-1].timestamp - EPOCH) // MICROSECOND)
    if state.has_work is before.has_work and before.conversation.message_count:
        row.state = state
        rows.conversations[key] = row
    else:  # an append to an empty conversation starts it again
        row.become(transaction, state)


def _note(rows: AppendedRows, state: ConversationState, who: Principal, said_at_us: int) -> None:
    """Record for the log that an append has made *state*, as ``event_log.note`` does for other changes."""
    rows.events.append(
        (
            time.time_ns() // NS_PER_US,
            who.name,
            who.namespace.user,
            state.conversation.conversation_id,
            state.owner.user,
            state.owner.app,
            state.conversation.version,
            state.next_seq - 1,
            said_at_us,
            current_reason(),
        )
    )


def message_row(
    key: int, seq: int, draft: MessageDraft, version: int, stored_at_us: int, place: int | None = None
) -> tuple[object, ...]:
    """Return the parameters of ``INSERT_MESSAGE``; *place* is the position of a summary in the model's view, None: at *seq*."""
    return (
        key,
        seq,
        place,
        draft.id,
        draft.role,
        (draft.timestamp - EPOCH) // MICROSECOND,
        draft.tokens,
        None if draft.metadata is None else to_json(draft.metadata),
        draft.content,
        version,
        stored_at_us,
    )


def known_of(transaction: Transaction, row: ConversationRow, batch: Append) -> Mapping[str, Words | None]:
    """Return what is stored under the ids of *batch*; covered messages are included."""
    if row.key == 0:
        return {}
    transaction.write_waiting()
    ids = [draft.id for draft in batch.drafts]
    asked = {"conversation_key": row.key, "ids": json.dumps(ids)}
    covered = transaction.cursor.execute(SELECT_COVERED, asked).fetchall()
    return {**dict.fromkeys(id_ for (id_,) in covered), **known_words(transaction, row.key, ids)}


def known_words(transaction: Transaction, key: int, ids: Sequence[str]) -> dict[str, Words]:
    """Return the stored words of each id in *ids* that the conversation has."""
    asked = {"conversation_key": key, "ids": json.dumps(ids)}
    found = transaction.cursor.execute(SELECT_BY_IDS, asked).fetchall()
    return {id_: (role, content, metadata) for id_, role, content, metadata in found}


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


def clear(
    transaction: Transaction, conversation_id: str, *, now: datetime, with_branches: bool = False
) -> Outcome[ClearReport | None, AccessDeniedError]:
    """Delete the messages, summaries, coverage and queued work of a conversation."""
    row = conversation_row(transaction, conversation_id)
    if row.state.conversation.message_count == 0 or not row.state.is_seen_by(principal()):
        return Success(None)
    if (refusal := row.state.refuses_deletion_by(principal())) is not None:
        return Failure(refusal)
    cleared_too: list[str] = []
    still_shared_by: list[str] = []
    for branch_id in branches_of(branches_holding(transaction, row.key)):
        branch = conversation_row(transaction, branch_id)
        if with_branches and branch.state.refuses_deletion_by(principal()) is None:
            cleared = clear_row(transaction, branch, now=now)
            note(transaction, [cleared.state.made_by("cleared")])
            cleared_too.append(branch_id)
        else:
            still_shared_by.append(branch_id)
    decision = clear_row(transaction, row, now=now)
    note(transaction, [decision.state.made_by("cleared")])
    told = evolve(decision.answer, cleared_too=tuple(cleared_too), still_shared_by=tuple(still_shared_by))
    return Success(told)


def clear_row(transaction: Transaction, row: ConversationRow, *, now: datetime) -> ClearDecision:
    """Delete everything of a conversation that holds messages; the caller writes the log."""
    key = {"conversation_key": row.key}
    (summaries,) = transaction.execute(COUNT_SUMMARIES, key).fetchone()
    transaction.execute(FORGET_ORIGIN, key)
    for statement in CLEAR_STATEMENTS:
        transaction.execute(statement, key)
    decision = decide_clear(row.state, summaries=summaries, now=now)
    row.become(transaction, decision.state)
    return decision
