"""``remove_newest``, ``replace`` and ``undo``: delete the newest messages, replace them, and undo the newest change.

Each runs inside a transaction that other writes may share.
"""

from collections.abc import Sequence
from datetime import datetime

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState, InView, decide_removal
from chatmemory.conversation.message_repository import Appended, Replacement, Undo, WorkThreshold
from chatmemory.conversation.messages import ChatMessage, Undone
from chatmemory.conversation.replacing import answer_without_messages, refusal_of_replacement, remaining
from chatmemory.conversation.undoing import (
    GONE,
    NOT_HELD,
    HoldingBranch,
    Newest,
    change_of_undo,
    gone,
    latest_of,
    refusal_of_undo,
    restored_from,
    undone_of,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import (
    AccessDeniedError,
    ConversationUndoRefusal,
    MessageConflictError,
    VersionConflictError,
)
from chatmemory_layers.sql.columns import END_US
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.message_forks import branches_holding, copy_held, point_of
from chatmemory_layers.sqlite.messages.message_reads import SELECT_MODEL_OLDER, messages_of
from chatmemory_layers.sqlite.messages.message_writes import append, clear, clear_row, known_of

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
# The log does not index added messages: the messages themselves say which version stored them.
SELECT_NEWEST_CHANGE = """
SELECT action, reason FROM event
WHERE target_id = :conversation_id AND action <> 'added' AND kind = 'conversation' AND version = :version
ORDER BY number DESC LIMIT 1
"""
SELECT_NEWEST_MESSAGE = """
SELECT seq, id, role, version FROM chat_message WHERE conversation_key = :conversation_key ORDER BY seq DESC LIMIT 1
"""
SELECT_LAST_BEFORE = """
SELECT seq FROM chat_message WHERE conversation_key = :conversation_key AND (version IS NULL OR version < :version)
ORDER BY seq DESC LIMIT 1
"""
SELECT_DELETED = """
SELECT 1 FROM summarization_metadata
WHERE conversation_key = :conversation_key AND summary_message_id = :summary_id AND messages_deleted
"""
DELETE_BEHIND = """
DELETE FROM chat_message WHERE conversation_key = :conversation_key AND seq > :seq
RETURNING coalesce(place, seq), role, tokens
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
    newest = last = _newest_in_view(transaction, row)
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
        newest = _newest_in_view(transaction, row) if back else None
    state = decide_removal(row.state, removed, restored, freed=freed, now=now, threshold=threshold)
    row.become(transaction, state)
    note(transaction, [state.made_by("removed")])
    return Success(last)


def _newest_in_view(transaction: Transaction, row: ConversationRow) -> ChatMessage | None:
    asked = {
        "conversation_key": row.key,
        "summarized_place": row.summarized_place,
        "before_us": END_US,
        "end": END_US,
        "limit": 1,
    }
    newest = messages_of(transaction.execute(SELECT_MODEL_OLDER, asked).fetchall())
    return newest[0] if newest else None


def uncover(transaction: Transaction, key: int, summary_id: str) -> tuple[Sequence[InView], int]:
    """Undo a deleted summary, and the summaries that it has deleted.

    Return the messages that are in view again, and how many ids are free again.
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


def undo(transaction: Transaction, undo: Undo, /) -> Outcome[Undone, ConversationUndoRefusal]:
    """Undo the newest change.  The undo is a change itself, but cannot be undone."""
    row = conversation_row(transaction, undo.conversation_id)
    before, newest = row.state, _newest(transaction, row)
    refusal = refusal_of_undo(before, newest, undo, principal())
    if refusal is not None or newest is None:
        return Failure(refusal or gone(before))
    held: HoldingBranch | None = None
    match newest.action:
        case "forked":
            after: ConversationState | None = clear_row(transaction, row, now=undo.now).state
        case "cleared":
            held = next(iter(latest_of(branches_holding(transaction, row.key))), None)
            after = None if held is None else _restore(transaction, row, held, undo)
        case _:
            after = _without_newest(transaction, row, undo)
    if after is None:
        return Failure(gone(before, NOT_HELD if newest.action == "cleared" else GONE))
    row.become(transaction, after)
    by = None if held is None else held.branch_id
    note(transaction, [change_of_undo(after, newest.action, by=by)])
    return Success(undone_of(before, after, newest.action, by))


def _newest(transaction: Transaction, row: ConversationRow) -> Newest | None:
    conversation = row.state.conversation
    asked = {
        "conversation_id": conversation.conversation_id,
        "conversation_key": row.key,
        "version": conversation.version,
    }
    change = transaction.execute(SELECT_NEWEST_CHANGE, asked).fetchone()
    if change is not None:
        return Newest(*change)
    message = transaction.execute(SELECT_NEWEST_MESSAGE, asked).fetchone()
    if message is None or message[2] == "summary" or message[3] != conversation.version:
        return None
    return Newest("added", None)


def _without_newest(transaction: Transaction, row: ConversationRow, undo: Undo) -> ConversationState | None:
    """Delete the messages of an append, or a summary; None when the messages that the summary covers are deleted."""
    asked = {"conversation_key": row.key, "version": row.state.conversation.version}
    _, summary_id, role, _ = transaction.execute(SELECT_NEWEST_MESSAGE, asked).fetchone()
    summary = {"conversation_key": row.key, "summary_id": summary_id}
    if role == "summary" and transaction.execute(SELECT_DELETED, summary).fetchone() is not None:
        return None
    (last,) = transaction.execute(SELECT_LAST_BEFORE, asked).fetchone() or (0,)
    deleting = {"conversation_key": row.key, "seq": last}
    removed = [InView(*each) for each in transaction.execute(DELETE_BEHIND, deleting).fetchall()]
    restored = uncover(transaction, row.key, summary_id)[0] if role == "summary" else ()
    return decide_removal(row.state, removed, restored, freed=0, now=undo.now, threshold=undo.threshold)


def _restore(
    transaction: Transaction, row: ConversationRow, held: HoldingBranch, undo: Undo
) -> ConversationState:
    """Copy the messages that a branch holds back into a cleared conversation."""
    branch = conversation_row(transaction, held.branch_id)
    copy_held(transaction, branch, row, held)
    return restored_from(row.state, point_of(transaction, held), undo, branch.state.deleted_count)
