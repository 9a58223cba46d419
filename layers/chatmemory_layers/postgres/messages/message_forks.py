"""``fork``: copies the messages of a conversation up to a point into a new one, from then on an ordinary conversation.

The copied conversation is not locked, so no two transactions wait for each other.  Its messages do not change except where
content is deleted; then the copy is made again.  The table ``conversation_tree`` says which branches still hold messages
that they were given by a fork: where content is deleted, ``branches_holding`` finds the copies by it.
"""

from typing import Final

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint, decide_fork
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Forked
from chatmemory.conversation.undoing import HoldingBranch
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ForkRefusal
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.engine.spread_keys import branch_key
from chatmemory_layers.postgres.messages.conversation_row import load_conversation, store_messages
from chatmemory_layers.postgres.messages.message_past import (
    COPY_COVERAGE,
    COPY_MESSAGES,
    COPY_SUMMARIZATIONS,
    COUNT_PART,
)
from chatmemory_layers.sql.columns import END_US

NOTE_BRANCH: Final = """
INSERT INTO conversation_tree (conversation_id, branch_key, branch_id, seq, version) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (conversation_id, branch_key) DO UPDATE SET seq = excluded.seq, version = excluded.version
"""
SELECT_BRANCHES_OF: Final = """
SELECT branch_id, seq, version FROM conversation_tree WHERE conversation_id = $1
"""
SELECT_ANY_HELD: Final = """
SELECT id FROM chat_message WHERE conversation_id = $1 AND seq <= $2 AND (version IS NULL OR version <= $3) LIMIT 1
"""
SELECT_KIN: Final = """
SELECT forked_from AS kin, forked_at_seq AS seq FROM conversation WHERE conversation_id = $1 AND forked_from IS NOT NULL
UNION ALL
SELECT branch_id, seq FROM conversation_tree WHERE conversation_id = $1
"""
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
        held = HoldingBranch(fork.new_id, decision.next_seq - 1, decision.conversation.version)
        await connection.execute(BEGIN_COPY)
        # First, because here row-level security refuses an id that another principal has taken.
        await store_messages(connection, existing, decision, decision.made_by_fork(fork))
        if await copy_held(connection, parent, held):
            break
        await connection.execute(UNDO_COPY)
    async with for_the_service(connection):
        await connection.execute(SET_ORIGIN, fork.new_id, fork.conversation_id, held.version, held.seq)
        await note_branch(connection, fork.conversation_id, held)
    return Success(Forked(decision.conversation, is_new=True))


async def copy_held(connection: Connection, source: ConversationState, held: HoldingBranch) -> bool:
    """Copy the part of a conversation that *held* describes into one without messages; return whether the copy is right.

    It is not when content of the source was deleted meanwhile; then the caller undoes the copy, and tries again.
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
        return await point_of(connection, HoldingBranch(key, found[0]["seq"], at))
    found = await connection.fetch(SELECT_MESSAGE_POINT, key, at)
    return (
        await point_of(connection, HoldingBranch(key, found[0]["seq"], found[0]["version"]))
        if found
        else None
    )


async def family_of(connection: Connection, conversation_id: str) -> dict[str, int]:
    """Return the parents and the branches of a conversation, each with the number up to which it has the same messages."""
    family, waiting = dict[str, int](), [(conversation_id, END_US)]
    while waiting:
        id_, reach = waiting.pop()
        if family.get(id_, -1) < reach:
            family[id_] = reach
            kin = await connection.fetch(SELECT_KIN, id_)
            waiting += [(row["kin"], min(reach, row["seq"])) for row in kin]
    return family


async def note_branch(connection: Connection, conversation_id: str, held: HoldingBranch) -> None:
    """Record the number and the version up to which a branch begins with the messages of a conversation; as the service."""
    branch = (branch_key(held.branch_id), held.branch_id, held.seq, held.version)
    await connection.execute(NOTE_BRANCH, conversation_id, *branch)


async def branches_holding(connection: Connection, conversation_id: str) -> list[HoldingBranch]:
    """Return the branches, and branches of branches, that hold messages of the conversation and that the principal may see.

    It also ends if a conversation was restored from its own branch, because the points only become earlier.
    """
    who, holding = principal(), list[HoldingBranch]()
    async with for_the_service(connection):
        found, waiting = set[HoldingBranch](), [HoldingBranch(conversation_id, END_US, END_US)]
        while waiting:
            parent = waiting.pop()
            for row in await connection.fetch(SELECT_BRANCHES_OF, parent.branch_id):
                seq, version = min(row["seq"], parent.seq), min(row["version"], parent.version)
                held = HoldingBranch(row["branch_id"], seq, version)
                if held in found:
                    continue
                found.add(held)
                waiting.append(held)
                state = await load_conversation(connection, held.branch_id)
                is_other = held.branch_id != conversation_id and state.is_seen_by(who)
                if is_other and await connection.fetch(SELECT_ANY_HELD, *held):
                    holding.append(held)
    return holding


async def point_of(connection: Connection, held: HoldingBranch) -> ForkPoint:
    """Return how many messages of the conversation a branch holds."""
    (counted,) = await connection.fetch(COUNT_PART, held.branch_id, held.seq, held.version)
    size = (counted["messages"], counted["in_view"], counted["tokens"], counted["open"])
    return ForkPoint(held.seq, held.version, *size)
