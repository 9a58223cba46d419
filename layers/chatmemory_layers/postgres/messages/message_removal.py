"""``remove_newest``, ``replace`` and ``undo``: delete the newest messages, replace them, and undo the newest change.

Each runs in a transaction that holds the conversation's lock.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState, decide_removal
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
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.messages.conversation_row import in_view, load_conversation, store_messages
from chatmemory_layers.postgres.messages.message_forks import (
    BEGIN_COPY,
    UNDO_COPY,
    branches_holding,
    copy_held,
    note_branch,
    point_of,
)
from chatmemory_layers.postgres.messages.message_reads import message_of
from chatmemory_layers.postgres.messages.message_writes import append, clear, clear_state, state_and_known

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
SELECT_NEWEST_CHANGE: Final = """
SELECT action, reason FROM conversation_event WHERE conversation_id = $1 AND number = $2
"""
SELECT_NEWEST_MESSAGE: Final = """
SELECT id, role, version FROM chat_message WHERE conversation_id = $1 ORDER BY seq DESC LIMIT 1
"""
SELECT_LAST_BEFORE: Final = """
SELECT seq FROM chat_message WHERE conversation_id = $1 AND (version IS NULL OR version < $2)
ORDER BY seq DESC LIMIT 1
"""
SELECT_DELETED: Final = """
SELECT FROM summarization_metadata
WHERE conversation_id = $1 AND hashtextextended(summary_message_id, 0) = hashtextextended($2, 0)
    AND summary_message_id = $2 AND messages_deleted
"""
DELETE_BEHIND: Final = """
DELETE FROM chat_message WHERE conversation_id = $1 AND seq > $2 RETURNING place, role, tokens
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
    """Undo a deleted summary, and the summaries that it has deleted.

    Return the rows that are in view again, and how many ids are free again.
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


async def undo(connection: Connection, undo: Undo, /) -> Outcome[Undone, ConversationUndoRefusal]:
    """Undo the newest change.  The undo is a change itself, but cannot be undone."""
    key = undo.conversation_id
    before = await load_conversation(connection, key)
    newest = await _newest(connection, before)
    refusal = refusal_of_undo(before, newest, undo, principal())
    if refusal is not None or newest is None:
        return Failure(refusal or gone(before))
    after: ConversationState | None
    held: HoldingBranch | None = None
    match newest.action:
        case "forked":
            after = (await clear_state(connection, before, now=undo.now)).state
        case "cleared":
            restored = await _restored(connection, before, undo)
            after, held = restored or (None, None)
        case _:
            after = await _without_newest(connection, before, undo)
    if after is None:
        return Failure(gone(before, NOT_HELD if newest.action == "cleared" else GONE))
    by = None if held is None else held.branch_id
    await store_messages(connection, before, after, change_of_undo(after, newest.action, by=by))
    return Success(undone_of(before, after, newest.action, by))


async def _newest(connection: Connection, state: ConversationState) -> Newest | None:
    conversation = state.conversation
    rows = await connection.fetch(SELECT_NEWEST_CHANGE, conversation.conversation_id, conversation.version)
    if not rows:
        return None
    newest = Newest(rows[0]["action"], rows[0]["reason"])
    if newest.action == "added":
        (message,) = await connection.fetch(SELECT_NEWEST_MESSAGE, conversation.conversation_id)
        return newest if message["version"] == conversation.version else None
    return newest


async def _without_newest(
    connection: Connection, state: ConversationState, undo: Undo
) -> ConversationState | None:
    """Delete the messages of an append, or a summary; return None if the summary has deleted the messages that it covers."""
    key = undo.conversation_id
    (newest,) = await connection.fetch(SELECT_NEWEST_MESSAGE, key)
    is_summary = newest["role"] == "summary"
    if is_summary and await connection.fetch(SELECT_DELETED, key, newest["id"]):
        return None
    before = await connection.fetch(SELECT_LAST_BEFORE, key, state.conversation.version)
    last = before[0]["seq"] if before else 0
    removed = await connection.fetch(DELETE_BEHIND, key, last)
    restored = (await uncover(connection, key, newest["id"]))[0] if is_summary else ()
    return decide_removal(
        state, in_view(removed), in_view(restored), freed=0, now=undo.now, threshold=undo.threshold
    )


async def _restored(
    connection: Connection, state: ConversationState, undo: Undo
) -> tuple[ConversationState, HoldingBranch] | None:
    """Copy the messages back from the branch that holds most of a cleared conversation; None if no branch holds any."""
    key = undo.conversation_id
    while held := next(iter(latest_of(await branches_holding(connection, key))), None):
        async with for_the_service(connection):
            branch = await load_conversation(connection, held.branch_id)
            point = await point_of(connection, held)
            await connection.execute(BEGIN_COPY)
            if await copy_held(connection, branch, held._replace(branch_id=key)):
                await note_branch(connection, held.branch_id, held._replace(branch_id=key))
                return restored_from(state, point, undo, branch.deleted_count), held
            await connection.execute(UNDO_COPY)
    return None
