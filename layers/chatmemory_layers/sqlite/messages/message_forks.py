"""Creates branches, and copies the messages that a branch shares before they change.

A branch copies nothing while it is only read and appended to.  A change that rewrites shared messages - a summary over
them, a removal, a clear - first gives rows of its own to each conversation that must not be affected.
"""

from typing import Any

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import ForkPoint, decide_fork
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Forked
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import ForkRefusal
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.messages.branches import (
    COPY_COVERAGE,
    COPY_MESSAGES,
    COPY_SUMMARIZATIONS,
    COUNT_LEVEL,
    COUNT_LEVEL_VIEW,
    Level,
    levels_of,
    reach_of,
)
from chatmemory_layers.sqlite.messages.conversation_row import ConversationRow, conversation_row
from chatmemory_layers.sqlite.messages.held_messages import note_branch

SELECT_MESSAGE_POINT = """
SELECT seq, coalesce(version, 1), message_count, view_count, view_tokens, open_count FROM chat_message
WHERE id = :message_id AND conversation_key = :conversation_key AND seq > :floor AND seq <= :reach
    AND (version IS NULL OR version <= :version)
"""
SELECT_VERSION_POINT = """
SELECT seq, :version, message_count, view_count, view_tokens, open_count FROM chat_message
WHERE conversation_key = :conversation_key AND seq > :floor AND seq <= :reach
    AND (version IS NULL OR version <= :version)
ORDER BY seq DESC LIMIT 1
"""
SELECT_KEPT_VERSION = """
SELECT kept_since_version FROM chat_conversation WHERE conversation_key = :conversation_key
"""
SET_PARENT = """
UPDATE chat_conversation
SET parent_key = :parent_key, shared_seq = :seq, shared_version = :version, forked_from = :forked_from,
    forked_at_version = :version, forked_at_seq = :seq
WHERE conversation_key = :conversation_key
"""
SELECT_BRANCHES = """
SELECT conversation_id FROM chat_conversation WHERE parent_key = :conversation_key AND shared_seq >= :from_seq
"""


def fork(transaction: Transaction, fork: Fork, /) -> Outcome[Forked, ForkRefusal]:
    """See ``MessageRepository.fork``."""
    parent = conversation_row(transaction, fork.conversation_id)
    existing = conversation_row(transaction, fork.new_id)
    key, point = _point(transaction, parent, fork.at) if parent.key else (0, None)
    decision = decide_fork(parent.state, existing.state, point, fork, principal())
    if isinstance(decision, Forked):
        return Success(decision)
    if not isinstance(decision, ConversationState):
        return Failure(decision)
    existing.inserted_key(transaction, decision.owner)
    branch: dict[str, Any] = {
        "conversation_key": existing.key,
        "parent_key": key,
        "seq": decision.next_seq - 1,
        "version": decision.conversation.version,
        "forked_from": fork.conversation_id,
    }
    transaction.execute(SET_PARENT, branch)
    note_branch(transaction, parent.key, existing.key, seq=branch["seq"], version=branch["version"])
    existing.is_branch = True
    existing.become(transaction, decision)
    note(transaction, [decision.made_by_fork(fork)])
    return Success(Forked(decision.conversation, is_new=True))


def _point(
    transaction: Transaction, parent: ConversationRow, at: str | int | None
) -> tuple[int, ForkPoint | None]:
    """Return the key under which the last shared message is stored, and the point that *at* names."""
    present = parent.state.conversation
    if at is None or at == present.version:
        size = (present.message_count, present.view_count, present.view_tokens, present.open_count)
        return parent.key, ForkPoint(parent.state.next_seq - 1, present.version, *size)
    if isinstance(at, int) and not 1 <= at < present.version:
        return 0, None
    statement = SELECT_MESSAGE_POINT if isinstance(at, str) else SELECT_VERSION_POINT
    for level in levels_of(transaction.execute, parent.key):
        asked: dict[str, Any] = {**level.bounds(), "message_id": at}
        if isinstance(at, int):
            reach = reach_of(transaction.execute, level, at)
            asked |= {"version": min(at, level.version), "reach": min(level.reach, reach)}
        found = transaction.execute(statement, asked).fetchone()
        if found is not None:
            seq, version, *size = found
            version = at if isinstance(at, int) else version
            return level.key, ForkPoint(seq, version, *_size(transaction, level, seq, version, size))
    return 0, None


def _size(
    transaction: Transaction, level: Level, seq: int, version: int, size: list[Any]
) -> tuple[int, int, int, int]:
    """Return the size up to a message: the size stored with it, unless something was deleted since."""
    if None not in size and _kept_since(transaction, level.key) <= version:
        return size[0], size[1], size[2], size[3]
    levels = levels_of(transaction.execute, level.key, version)
    messages = in_view = tokens = open_count = 0
    for each in levels:
        bounds = each._replace(reach=min(each.reach, seq)).bounds()
        messages += transaction.execute(COUNT_LEVEL, bounds).fetchone()[0]
        counted = transaction.execute(COUNT_LEVEL_VIEW, bounds).fetchone()
        in_view, tokens, open_count = in_view + counted[0], tokens + counted[1], open_count + counted[2]
    return messages, in_view, tokens, open_count


def _kept_since(transaction: Transaction, key: int) -> int:
    # An earlier write of the transaction may have changed the row, which is not saved yet.
    for held in transaction.held.values():
        if isinstance(held, ConversationRow) and held.key == key:
            return held.state.kept_since_version
    (kept_since,) = transaction.execute(SELECT_KEPT_VERSION, {"conversation_key": key}).fetchone()
    return int(kept_since)


def detach_branches(transaction: Transaction, key: int, *, from_seq: int) -> None:
    """Copy the shared messages into the branches that share messages of *key* from number *from_seq* on.

    Args:
        transaction: the transaction of the write.
        key: the key of the conversation whose messages will change.
        from_seq: the number of the first message that will change.
    """
    asked = {"conversation_key": key, "from_seq": from_seq}
    for (branch_id,) in transaction.execute(SELECT_BRANCHES, asked).fetchall():
        detach(transaction, conversation_row(transaction, branch_id))


def detach(transaction: Transaction, row: ConversationRow) -> None:
    """Copy all messages that the branch of *row* shares with its parents into rows of its own.

    Args:
        transaction: the transaction of the write.
        row: the row of the branch.
    """
    if not row.is_branch:
        return
    levels = levels_of(transaction.execute, row.key)
    for level in levels[1:]:
        copying = {**level.bounds(), "branch_key": row.key}
        for statement in (COPY_MESSAGES, COPY_SUMMARIZATIONS, COPY_COVERAGE):
            transaction.execute(statement, copying)
    row.summarized_seq = max(row.summarized_seq, levels[0].floor)
    transaction.changed[row] = None
    row.leave_parent(transaction)
