"""Begins branches, and copies shared messages for a branch before they change.

A branch copies nothing while it is only read and appended to.  A write that changes shared messages - a summary of them, a
removal, a clear - first copies the rows for each branch that must not see the change.  Locks are taken from parents to
branches, and a write to a branch also locks the rows of its parents against change, see ``levels_of``.
"""

from collections.abc import Sequence
from typing import Final

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint, decide_fork
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Forked
from chatmemory.conversation.undoing import Held
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ForkRefusal
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.row_locks import hold
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.engine.spread_keys import branch_key
from chatmemory_layers.postgres.messages.branches import (
    COPY_COVERAGE,
    COPY_MESSAGES,
    COPY_SUMMARIZATIONS,
    COUNT_LEVEL,
    COUNT_LEVEL_VIEW,
    SELECT_PARENT_TO_WRITE,
    Level,
    levels_of,
)
from chatmemory_layers.postgres.messages.conversation_row import load_conversation, store_messages
from chatmemory_layers.postgres.messages.held_messages import note_branch

SELECT_MESSAGE_POINT: Final = """
SELECT seq, coalesce(version, 1) AS version, message_count, view_count, view_tokens, open_count FROM chat_message
WHERE conversation_id = $1 AND seq > $2 AND seq <= $3 AND (version IS NULL OR version <= $4)
    AND hashtextextended(id, 0) = hashtextextended($5, 0) AND id = $5
"""
# Numbers and versions grow together, so the last message of a version is found by halving.
SELECT_VERSION_POINT: Final = """
WITH RECURSIVE halving (low, high) AS (
    SELECT $2::bigint, (
        SELECT max(seq) + 1 FROM chat_message WHERE conversation_id = $1 AND seq > $2 AND seq <= $3::bigint
    )
    UNION ALL
    SELECT CASE WHEN was_stored THEN middle ELSE low END, CASE WHEN was_stored THEN high ELSE middle END
    FROM halving CROSS JOIN LATERAL (SELECT (low + high) / 2 AS middle) AS half CROSS JOIN LATERAL (
        SELECT coalesce((
            SELECT version FROM chat_message WHERE conversation_id = $1 AND seq > $2 AND seq <= middle
            ORDER BY seq DESC LIMIT 1
        ), 0) <= $4::bigint AS was_stored
    ) AS tried
    WHERE high - low > 1
)
SELECT seq, message_count, view_count, view_tokens, open_count FROM chat_message
WHERE conversation_id = $1 AND seq > $2 AND seq <= (SELECT low FROM halving WHERE high - low <= 1)
ORDER BY seq DESC LIMIT 1
"""
SELECT_KEPT_VERSION: Final = """
SELECT kept_since_version FROM conversation WHERE conversation_id = $1
"""
SET_PARENT: Final = """
UPDATE conversation SET parent_id = $2, shared_seq = $3, shared_version = $4, forked_from = $5, forked_at_version = $4,
    forked_at_seq = $3
WHERE conversation_id = $1
"""
INSERT_BRANCH: Final = """
INSERT INTO conversation_branch (conversation_id, branch_key, branch_id, shared_seq) VALUES ($1, $2, $3, $4)
"""
SELECT_BRANCHES: Final = """
SELECT branch_id FROM conversation_branch WHERE conversation_id = $1 AND shared_seq >= $2 ORDER BY branch_key
"""
DELETE_BRANCH: Final = """
DELETE FROM conversation_branch WHERE conversation_id = $1 AND branch_key = $2
"""
LEAVE_PARENT: Final = """
UPDATE conversation SET parent_id = NULL, shared_seq = NULL, shared_version = NULL WHERE conversation_id = $1
"""


async def fork(connection: Connection, fork: Fork, /) -> Outcome[Forked, ForkRefusal]:
    """See ``MessageRepository.fork``.  The caller holds the lock of the branch; this takes that of the parent."""
    await hold(connection, fork.conversation_id)
    parent = await load_conversation(connection, fork.conversation_id)
    existing = await load_conversation(connection, fork.new_id)
    key, point = "", None
    if parent.conversation.message_count:
        async with for_the_service(connection):  # who may see the parent may see what the parent shares
            key, point = await _point(connection, parent, fork.at)
    decision = decide_fork(parent, existing, point, fork, principal())
    if isinstance(decision, Forked):
        return Success(decision)
    if not isinstance(decision, ConversationState):
        return Failure(decision)
    await store_messages(connection, existing, decision, decision.made_by_fork(fork))
    seq, version = decision.next_seq - 1, decision.conversation.version
    async with for_the_service(connection):
        await connection.execute(SET_PARENT, fork.new_id, key, seq, version, fork.conversation_id)
        await connection.execute(INSERT_BRANCH, key, branch_key(fork.new_id), fork.new_id, seq)
        await note_branch(connection, fork.conversation_id, Held(fork.new_id, seq, version))
    return Success(Forked(decision.conversation, is_new=True))


async def _point(
    connection: Connection, parent: ConversationState, at: str | int | None
) -> tuple[str, ForkPoint | None]:
    """Return the id of the conversation that has the last shared message, and the point that *at* names."""
    present = parent.conversation
    if at is None or at == present.version:
        size = (present.message_count, present.view_count, present.view_tokens, present.open_count)
        return present.conversation_id, ForkPoint(parent.next_seq - 1, present.version, *size)
    if isinstance(at, int) and not 1 <= at < present.version:
        return "", None
    for level in await levels_of(connection, present.conversation_id, to_write=True):
        if isinstance(at, str):
            found = await connection.fetch(SELECT_MESSAGE_POINT, *level, at)
        else:
            found = await connection.fetch(
                SELECT_VERSION_POINT, *level._replace(version=min(at, level.version))
            )
        if found:
            version = at if isinstance(at, int) else found[0]["version"]
            size = await _size(connection, level, found[0], version)
            return level.key, ForkPoint(found[0]["seq"], version, *size)
    return "", None


async def _size(connection: Connection, level: Level, row: Row, version: int) -> tuple[int, int, int, int]:
    """Return the size of the conversation up to a message: from its *row*, or counted if messages were deleted since."""
    (kept,) = await connection.fetch(SELECT_KEPT_VERSION, level.key)
    if row["message_count"] is not None and kept["kept_since_version"] <= version:
        return row["message_count"], row["view_count"], row["view_tokens"], row["open_count"]
    messages = in_view = tokens = open_count = 0
    for each in await levels_of(connection, level.key, version):
        bounds = each._replace(reach=min(each.reach, row["seq"]))
        (counted,) = await connection.fetch(COUNT_LEVEL, *bounds)
        (view,) = await connection.fetch(COUNT_LEVEL_VIEW, *bounds)
        messages += counted["messages"]
        in_view, tokens, open_count = (
            in_view + view["messages"],
            tokens + view["tokens"],
            open_count + view["open"],
        )
    return messages, in_view, tokens, open_count


async def detach_branches(connection: Connection, key: str, *, from_seq: int) -> None:
    """Copy the rows for the branches that share messages of *key*, when they share one from number *from_seq* on."""
    branches: Sequence[Row] = await connection.fetch(SELECT_BRANCHES, key, from_seq)
    if not branches:
        return
    async with for_the_service(connection):
        # Repeated, because another branch may begin while the transaction waits for a lock.
        while branches:
            for row in branches:
                await hold(connection, row["branch_id"])
                await detach(connection, row["branch_id"])
            branches = await connection.fetch(SELECT_BRANCHES, key, from_seq)


async def detach(connection: Connection, key: str) -> None:
    """Copy for the branch *key* all rows that it shares with its parents; the caller holds the lock of the branch."""
    if not await is_branch(connection, key):
        return
    async with for_the_service(connection):
        levels = await levels_of(connection, key, to_write=True)
        for level in levels[1:]:
            await connection.execute(COPY_MESSAGES, *level, key)
            await connection.execute(COPY_SUMMARIZATIONS, level.key, level.version, key)
            await connection.execute(COPY_COVERAGE, level.key, level.version, key)
        await leave_parent(connection, levels, key)


async def is_branch(connection: Connection, key: str) -> bool:
    """Return whether *key* is a branch that the principal may change; then they may see its shared messages, too."""
    rows = await connection.fetch(SELECT_PARENT_TO_WRITE, key)  # which shows only what may be changed
    return bool(rows) and rows[0]["parent_id"] is not None


async def leave_parent(connection: Connection, levels: Sequence[Level], key: str) -> None:
    """Remove the parent of the branch *key*, so that it shows its own messages only; *levels* are the levels of the branch."""
    if len(levels) > 1:
        await connection.execute(LEAVE_PARENT, key)
        await connection.execute(DELETE_BRANCH, levels[1].key, branch_key(key))
