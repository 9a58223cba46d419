"""Finds the branches of a conversation that still hold messages which they were given by a fork."""

from chatmemory.access.principal import principal
from chatmemory.conversation.forks import ForkPoint
from chatmemory.conversation.undoing import Held
from chatmemory_layers.sql.columns import END_US
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.messages.conversation_row import conversation_row
from chatmemory_layers.sqlite.messages.message_past import Part, size_of

NOTE_BRANCH = """
INSERT INTO chat_branch (conversation_key, branch_key, seq, version)
VALUES (:conversation_key, :branch_key, :seq, :version)
ON CONFLICT (conversation_key, branch_key) DO UPDATE SET seq = excluded.seq, version = excluded.version
"""
# The recursion ends, even if a conversation has been restored from its own branch: points only become earlier.
SELECT_BRANCHES_BELOW = """
WITH RECURSIVE below (branch_key, seq, version) AS (
    SELECT branch_key, seq, version FROM chat_branch WHERE conversation_key = :conversation_key
    UNION
    SELECT branch.branch_key, min(branch.seq, below.seq), min(branch.version, below.version)
    FROM below JOIN chat_branch AS branch ON branch.conversation_key = below.branch_key
)
SELECT conversation_id, seq, below.version
FROM below JOIN chat_conversation ON chat_conversation.conversation_key = branch_key
WHERE branch_key <> :conversation_key
"""

SELECT_ANY_HELD = """
SELECT 1 FROM chat_message
WHERE conversation_key = :conversation_key AND seq <= :last_seq AND (version IS NULL OR version <= :version) LIMIT 1
"""
SELECT_KIN = """
SELECT parent.conversation_key, branch.forked_at_seq
FROM chat_conversation AS branch JOIN chat_conversation AS parent ON parent.conversation_id = branch.forked_from
WHERE branch.conversation_key = :conversation_key
UNION ALL
SELECT branch_key, seq FROM chat_branch WHERE conversation_key = :conversation_key
"""


def family_of(transaction: Transaction, key: int) -> dict[int, int]:
    """Return the parents and branches of a conversation, each with the number up to which it has the same messages.

    Args:
        transaction: the transaction of the write.
        key: the key of the conversation.
    """
    family, waiting = dict[int, int](), [(key, END_US)]
    while waiting:
        kin, reach = waiting.pop()
        if family.get(kin, -1) < reach:
            family[kin] = reach
            found = transaction.execute(SELECT_KIN, {"conversation_key": kin}).fetchall()
            waiting += [(other, min(reach, seq)) for other, seq in found]
    return family


def note_branch(transaction: Transaction, key: int, branch_key: int, *, seq: int, version: int) -> None:
    """Record that a branch begins with the messages of the conversation *key* up to number *seq* at *version*.

    Args:
        transaction: the transaction of the write.
        key: the key of the conversation.
        branch_key: the key of the branch.
        seq: the number of the last copied message.
        version: the version of the conversation that was copied.
    """
    noted = {"conversation_key": key, "branch_key": branch_key, "seq": seq, "version": version}
    transaction.execute(NOTE_BRANCH, noted)


def branches_holding(transaction: Transaction, key: int) -> list[Held]:
    """Return the branches, at any depth, that hold messages of the conversation and that the current principal may see.

    Args:
        transaction: the transaction of the write.
        key: the key of the conversation.
    """
    who = principal()
    below = transaction.execute(SELECT_BRANCHES_BELOW, {"conversation_key": key}).fetchall()
    holding: list[Held] = []
    for held in map(Held._make, below):
        row = conversation_row(transaction, held.branch_id)
        asked = Part(row.key, held.seq, held.version).parameters()
        if row.state.is_seen_by(who) and transaction.execute(SELECT_ANY_HELD, asked).fetchone() is not None:
            holding.append(held)
    return holding


def point_of(transaction: Transaction, held: Held) -> ForkPoint:
    """Return the point up to which a branch holds the messages.

    Args:
        transaction: the transaction of the write.
        held: the branch, and what it holds.
    """
    row = conversation_row(transaction, held.branch_id)
    part = Part(row.key, held.seq, held.version)
    return ForkPoint(held.seq, held.version, *size_of(transaction.execute, part))
