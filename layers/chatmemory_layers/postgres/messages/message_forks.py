"""Forks a conversation: copies its messages up to a point into a new one, which is an ordinary conversation from then on.

The copied conversation is not locked, so no two transactions wait for each other.  Its messages do not change except where
content is deleted; then the copy is made again.
"""

from typing import Final

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint, decide_fork
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Forked
from chatmemory.conversation.undoing import Held
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ForkRefusal
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.messages.conversation_row import load_conversation, store_messages
from chatmemory_layers.postgres.messages.held_messages import note_branch, point_of
from chatmemory_layers.postgres.messages.message_past import (
    COPY_COVERAGE,
    COPY_MESSAGES,
    COPY_SUMMARIZATIONS,
)

SELECT_MESSAGE_POINT: Final = """
SELECT seq, coalesce(version, 1) AS version FROM chat_message
WHERE conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended($2, 0) AND id = $2
"""
SELECT_VERSION_POINT: Final = """
SELECT coalesce(max(seq), 0) AS seq FROM chat_message
WHERE conversation_id = $1 AND (version IS NULL OR version <= $2)
"""
SET_ORIGIN: Final = """
UPDATE conversation SET forked_from = $2, forked_at_version = $3, forked_at_seq = $4 WHERE conversation_id = $1
"""
BEGIN_COPY: Final = "SAVEPOINT copy"
UNDO_COPY: Final = "ROLLBACK TO SAVEPOINT copy"


async def fork(connection: Connection, fork: Fork, /) -> Outcome[Forked, ForkRefusal]:
    """Store a copy of the messages up to a point; the caller holds the lock of the new conversation."""
    while True:
        parent = await load_conversation(connection, fork.conversation_id)
        existing = await load_conversation(connection, fork.new_id)
        point = await _point(connection, parent, fork.at) or await _point(connection, existing, fork.at)
        decision = decide_fork(parent, existing, point, fork, principal())
        if isinstance(decision, Forked):
            return Success(decision)
        if not isinstance(decision, ConversationState):
            return Failure(decision)
        held = Held(fork.new_id, decision.next_seq - 1, decision.conversation.version)
        await connection.execute(BEGIN_COPY)
        # First, because here row-level security refuses an id that another principal has taken.
        await store_messages(connection, existing, decision, decision.made_by_fork(fork))
        if await is_copied(connection, parent, held):
            break
        await connection.execute(UNDO_COPY)
    async with for_the_service(connection):
        await connection.execute(SET_ORIGIN, fork.new_id, fork.conversation_id, held.version, held.seq)
        await note_branch(connection, fork.conversation_id, held)
    return Success(Forked(decision.conversation, is_new=True))


async def is_copied(connection: Connection, source: ConversationState, held: Held) -> bool:
    """Copy a part of a conversation into an empty one, and return whether the copy is right.

    Args:
        connection: the connection of the write.
        source: the state of the conversation, as the copy relies on it.
        held: the part, and the id of the conversation that gets the copies.

    Returns:
        False when content of the source was deleted meanwhile; then the caller undoes the copy, and tries again.
    """
    key = source.conversation.conversation_id
    async with for_the_service(connection):
        await connection.execute(COPY_MESSAGES, key, held.seq, held.version, held.branch_id)
        await connection.execute(COPY_SUMMARIZATIONS, key, held.version, held.branch_id)
        await connection.execute(COPY_COVERAGE, key, held.version, held.branch_id)
        now = await load_conversation(connection, key)
    return now.kept_since_version == source.kept_since_version


async def _point(connection: Connection, state: ConversationState, at: str | int | None) -> ForkPoint | None:
    """Return the point of a conversation that *at* names; None when there is none."""
    present, key = state.conversation, state.conversation.conversation_id
    if at is None or at == present.version:
        size = (present.message_count, present.view_count, present.view_tokens, present.open_count)
        return ForkPoint(state.next_seq - 1, present.version, *size)
    if isinstance(at, int):
        if not 1 <= at < present.version:
            return None
        found = await connection.fetch(SELECT_VERSION_POINT, key, at)
        return await point_of(connection, Held(key, found[0]["seq"], at))
    found = await connection.fetch(SELECT_MESSAGE_POINT, key, at)
    return await point_of(connection, Held(key, found[0]["seq"], found[0]["version"])) if found else None
