"""Finds the branches of a conversation that still hold messages which they were given by a fork."""

from typing import Final

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint
from chatmemory.conversation.undoing import Held
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.row_security import for_the_service
from chatmemory_layers.postgres.engine.spread_keys import branch_key
from chatmemory_layers.postgres.messages.conversation_row import load_conversation
from chatmemory_layers.postgres.messages.message_past import COUNT_PART
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


async def note_branch(connection: Connection, conversation_id: str, held: Held) -> None:
    """Record the number and the version up to which a branch begins with the messages of a conversation; as the service."""
    branch = (branch_key(held.branch_id), held.branch_id, held.seq, held.version)
    await connection.execute(NOTE_BRANCH, conversation_id, *branch)


async def branches_holding(connection: Connection, conversation_id: str) -> list[Held]:
    """Return the branches, and branches of branches, that hold messages of the conversation and that the principal may see.

    It also ends if a conversation was restored from its own branch, because the points only become earlier.
    """
    who, holding = principal(), list[Held]()
    async with for_the_service(connection):
        found, waiting = set[Held](), [Held(conversation_id, END_US, END_US)]
        while waiting:
            parent = waiting.pop()
            for row in await connection.fetch(SELECT_BRANCHES_OF, parent.branch_id):
                seq, version = min(row["seq"], parent.seq), min(row["version"], parent.version)
                held = Held(row["branch_id"], seq, version)
                if held in found:
                    continue
                found.add(held)
                waiting.append(held)
                state = await load_conversation(connection, held.branch_id)
                is_other = held.branch_id != conversation_id and state.is_seen_by(who)
                if is_other and await connection.fetch(SELECT_ANY_HELD, *held):
                    holding.append(held)
    return holding


async def point_of(connection: Connection, held: Held) -> ForkPoint:
    """Return how many messages of the conversation a branch holds."""
    (counted,) = await connection.fetch(COUNT_PART, held.branch_id, held.seq, held.version)
    size = (counted["messages"], counted["in_view"], counted["tokens"], counted["open"])
    return ForkPoint(held.seq, held.version, *size)


async def state_of_branch(connection: Connection, branch_id: str) -> ConversationState:
    """Return the state of a branch, for every principal."""
    async with for_the_service(connection):
        return await load_conversation(connection, branch_id)
