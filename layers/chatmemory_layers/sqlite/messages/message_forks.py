"""``fork``: copies the messages of a conversation up to a point into a new one, from then on an ordinary conversation.

The table ``chat_branch`` says which branches still hold messages that they were given by a fork: where content is deleted,
``branches_holding`` finds the copies by it.
"""

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint, decide_fork
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Forked
from chatmemory.conversation.undoing import HoldingBranch
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ForkRefusal
from chatmemory_layers.sql.columns import END_US
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.message_past import Part, copy_part, end_of, part_at

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
SELECT_MESSAGE_POINT = """
SELECT seq, coalesce(version, 1) FROM chat_message WHERE id = :message_id AND conversation_key = :conversation_key
"""
SET_ORIGIN = """
UPDATE chat_conversation SET forked_from = ?, forked_at_version = ?, forked_at_seq = ? WHERE conversation_key = ?
"""


def fork(transaction: Transaction, fork: Fork, /) -> Outcome[Forked, ForkRefusal]:
    """Store a branch: an ordinary conversation that begins with a copy of the messages of its parent up to a point."""
    parent = conversation_row(transaction, fork.conversation_id)
    branch = conversation_row(transaction, fork.new_id)
    point = _point(transaction, parent, fork.at) or _point(transaction, branch, fork.at)
    decision = decide_fork(parent.state, branch.state, point, fork, principal())
    if isinstance(decision, Forked):
        return Success(decision)
    if not isinstance(decision, ConversationState):
        return Failure(decision)
    branch.inserted_key(transaction, decision.owner)
    held = HoldingBranch(fork.new_id, decision.next_seq - 1, decision.conversation.version)
    origin = (fork.conversation_id, held.version, held.seq, branch.key)
    transaction.execute(SET_ORIGIN, origin)
    copy_held(transaction, parent, branch, held)
    branch.become(transaction, decision)
    note(transaction, [decision.made_by_fork(fork)])
    return Success(Forked(decision.conversation, is_new=True))


def copy_held(
    transaction: Transaction, source: ConversationRow, copy: ConversationRow, held: HoldingBranch
) -> None:
    """Copy the part of a conversation that *held* describes into one without messages, and record that it holds them."""
    part = Part(source.key, held.seq, held.version)
    copy_part(transaction.execute, part, summarized_place=source.summarized_place, copy_key=copy.key)
    copy.summarized_place = min(source.summarized_place, held.seq)
    note_branch(transaction, source.key, copy.key, seq=held.seq, version=held.version)


def _point(transaction: Transaction, row: ConversationRow, at: str | int | None) -> ForkPoint | None:
    """Return the point of a conversation that *at* names; None when there is none."""
    present = row.state.conversation
    if at is None or at == present.version:
        size = (present.message_count, present.view_count, present.view_tokens, present.open_count)
        return ForkPoint(row.state.next_seq - 1, present.version, *size)
    if isinstance(at, int):
        if not 1 <= at < present.version:
            return None
        part = part_at(transaction.execute, row.key, at)
    else:
        asked = {"message_id": at, "conversation_key": row.key}
        found = transaction.execute(SELECT_MESSAGE_POINT, asked).fetchone()
        if found is None:
            return None
        part = Part(row.key, *found)
    return end_of(transaction.execute, part)


def family_of(transaction: Transaction, key: int) -> dict[int, int]:
    """Return the parents and branches of a conversation, each with the number up to which it has the same messages."""
    family, waiting = dict[int, int](), [(key, END_US)]
    while waiting:
        kin, reach = waiting.pop()
        if family.get(kin, -1) < reach:
            family[kin] = reach
            found = transaction.execute(SELECT_KIN, {"conversation_key": kin}).fetchall()
            waiting += [(other, min(reach, seq)) for other, seq in found]
    return family


def note_branch(transaction: Transaction, key: int, branch_key: int, *, seq: int, version: int) -> None:
    """Record that a branch begins with the messages of the conversation *key* up to number *seq*, as they were at *version*."""
    noted = {"conversation_key": key, "branch_key": branch_key, "seq": seq, "version": version}
    transaction.execute(NOTE_BRANCH, noted)


def branches_holding(transaction: Transaction, key: int) -> list[HoldingBranch]:
    """Return the branches, at any depth, that hold messages of the conversation and that the current principal may see."""
    who = principal()
    below = transaction.execute(SELECT_BRANCHES_BELOW, {"conversation_key": key}).fetchall()
    holding: list[HoldingBranch] = []
    for held in map(HoldingBranch._make, below):
        row = conversation_row(transaction, held.branch_id)
        asked = Part(row.key, held.seq, held.version).parameters()
        if row.state.is_seen_by(who) and transaction.execute(SELECT_ANY_HELD, asked).fetchone() is not None:
            holding.append(held)
    return holding


def point_of(transaction: Transaction, held: HoldingBranch) -> ForkPoint:
    """Return the point up to which a branch holds the messages."""
    row = conversation_row(transaction, held.branch_id)
    return end_of(transaction.execute, Part(row.key, held.seq, held.version))
