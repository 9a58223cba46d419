"""Undoes the newest change of a conversation, in a transaction that holds the conversation's lock."""

from typing import Final

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.message_repository import Undo
from chatmemory.conversation.messages import Undone
from chatmemory.conversation.undoing import (
    GONE,
    NOT_HELD,
    Held,
    Newest,
    change_of_undo,
    gone,
    latest_of,
    refusal_of_undo,
    restored_from,
    undone_of,
    without_newest,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ConversationUndoRefusal
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.messages.conversation_row import in_view, load_conversation, store_messages
from chatmemory_layers.postgres.messages.message_forks import (
    BEGIN_COPY,
    UNDO_COPY,
    branches_holding,
    is_copied,
    note_branch,
    point_of,
)
from chatmemory_layers.postgres.messages.message_removal import uncover
from chatmemory_layers.postgres.messages.message_writes import clear_state

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


async def undo(connection: Connection, undo: Undo, /) -> Outcome[Undone, ConversationUndoRefusal]:
    """Undo the newest change.  The undo is a change itself, but cannot be undone."""
    key = undo.conversation_id
    before = await load_conversation(connection, key)
    newest = await _newest(connection, before)
    refusal = refusal_of_undo(before, newest, undo, principal())
    if refusal is not None or newest is None:
        return Failure(refusal or gone(before))
    after: ConversationState | None
    held: Held | None = None
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
    return without_newest(state, in_view(removed), in_view(restored), undo)


async def _restored(
    connection: Connection, state: ConversationState, undo: Undo
) -> tuple[ConversationState, Held] | None:
    """Copy the messages back from the branch that holds most of a cleared conversation; None if no branch holds any."""
    key = undo.conversation_id
    while held := next(iter(latest_of(await branches_holding(connection, key))), None):
        async with for_the_service(connection):
            branch = await load_conversation(connection, held.branch_id)
            point = await point_of(connection, held)
            await connection.execute(BEGIN_COPY)
            if await is_copied(connection, branch, held._replace(branch_id=key)):
                await note_branch(connection, held.branch_id, held._replace(branch_id=key))
                return restored_from(state, point, undo, branch.deleted_count), held
            await connection.execute(UNDO_COPY)
    return None
