"""The decision on a fork: ``decide_fork``, which every store executes; ``fork_tree``: the forks of a conversation.

As in ``changes.py``, the functions of the decision read nothing, write nothing and do not wait.
"""

from typing import Final, NamedTuple, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Principal
from chatmemory.conversation.changes import ConversationState, is_due
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.message_repository import Fork
from chatmemory.conversation.messages import Conversation, Forked, ForkOrigin
from chatmemory.effect import Do, Effect
from chatmemory.errors import (
    ConversationNotFoundError,
    DataValidationError,
    ForkRefusal,
    Problem,
    ReadError,
    VersionConflictError,
)

READ_CONVERSATIONS: Final = 2_000
"""How many conversations are searched for branches; those that changed last come first."""

CONVERSATIONS_AT_ONCE: Final = 500


class ForkPoint(NamedTuple):
    """The point at which a branch begins: the messages of a conversation up to number *seq* at *version*, in numbers."""

    seq: int
    version: int
    message_count: int
    view_count: int
    view_tokens: int
    open_count: int


def decide_fork(
    parent: ConversationState,
    existing: ConversationState,
    point: ForkPoint | None,
    fork: Fork,
    principal: Principal,
) -> ConversationState | Forked | ForkRefusal:
    """Return the state of the branch, the answer when the same fork has created it before, or the error that refuses the fork.

    *existing* is the state of the conversation with the id of the branch; it may never have been written to.  *point* is
    the point of the fork in the parent, or in the branch if the parent no longer has it; None: neither has such a
    message or version.
    """
    is_there = existing.conversation.version > 0
    # A repeated fork is answered even if the parent was cleared since.
    is_parent_there = is_there or parent.conversation.message_count > 0
    if not is_parent_there or not parent.is_seen_by(principal):
        return ConversationNotFoundError(fork.conversation_id)
    owner = existing.owner if is_there else principal.namespace
    if (refusal := principal.refusal("write", owner, fork.new_id)) is not None:
        return refusal
    if is_there:
        origin = existing.conversation.forked_from
        if origin is not None and existing.conversation.message_count and _is_made_by(fork, origin, point):
            return Forked(existing.conversation, is_new=False)
        return VersionConflictError(fork.new_id, expected=0, actual=existing.conversation.version)
    if point is None or point.message_count == 0:
        last = parent.conversation.version
        cure = f"name a stored message of the conversation, or a version from 1 to {last} of which messages are kept"
        return DataValidationError((Problem("$.at", f"no message is kept of {fork.at!r}: {cure}"),))
    return _branch(parent, point, fork, owner)


def _is_made_by(fork: Fork, origin: ForkOrigin, point: ForkPoint | None) -> bool:
    if isinstance(fork.at, str):
        is_same_point = point is not None and point[:2] == (origin.seq, origin.version)
    elif isinstance(fork.at, int):  # the parent may have fewer messages of the version than it had
        is_same_point = fork.at == origin.version and (point is None or point.seq <= origin.seq)
    else:
        is_same_point = True
    return origin.conversation_id == fork.conversation_id and is_same_point


def _branch(parent: ConversationState, point: ForkPoint, fork: Fork, owner: Namespace) -> ConversationState:
    conversation = Conversation(
        fork.new_id,
        version=point.version,
        message_count=point.message_count,
        view_count=point.view_count,
        view_tokens=point.view_tokens,
        open_count=point.open_count,
        created_at=fork.now,
        updated_at=fork.now,
        forked_from=ForkOrigin(fork.conversation_id, point.version, point.seq),
    )
    is_whole = parent.kept_since_version <= point.version
    return ConversationState(
        conversation,
        next_seq=point.seq + 1,
        rewritten_at_version=point.version,
        deleted_count=parent.deleted_count,
        has_work=is_due(conversation, fork.threshold),
        owner=owner,
        kept_since_version=parent.kept_since_version if is_whole else point.version,
        kept_since=parent.kept_since if is_whole else fork.now,
    )


@final
@frozen
class ForkTree:
    """A tree of conversations, each forked from the one above it.

    Attributes:
        root: the id of the conversation from which all others were forked, directly or indirectly.
        conversations: the root first, then its branches and their branches: each after its parent (``forked_from``), and
            the branches of one parent in order of creation.
        is_whole: false when there are more conversations than were searched, so that a branch may be missing.
    """

    root: str
    conversations: tuple[Conversation, ...]
    is_whole: bool


@Effect.gen
async def fork_tree(do: Do[ReadError], memory: ChatMemory, conversation_id: str, /) -> ForkTree:
    """Return the tree that a conversation belongs to; a conversation without parent and branches is a tree by itself.

    The 2,000 conversations that changed last are searched.  A parent that was cleared, or that the principal may not
    read, is missing from the tree; each of its branches is then the root of a separate tree.

    Fails with:
        ConversationNotFoundError: the conversation is empty or does not exist.
        GenericMemoryError: the store failed.
    """
    root = await do(memory.get_conversation(conversation_id))
    line = {root.conversation_id: root}
    while root.forked_from is not None:
        read = await memory.get_conversation(root.forked_from.conversation_id)
        parent = read.value_or(None)
        if parent is None:
            error = read.failure()
            if not isinstance(error, ConversationNotFoundError):
                do.fail(error)
            break
        line[parent.conversation_id] = root = parent
    known = dict(line)
    seen, after = 0, None
    while seen < READ_CONVERSATIONS:
        page = await do(memory.list_conversations(limit=CONVERSATIONS_AT_ONCE, after=after, order="recent"))
        known |= {one.conversation_id: one for one in page.conversations if one.forked_from is not None}
        seen += len(page.conversations)
        after = page.next
        if after is None:
            break
    return ForkTree(root.conversation_id, _below(root, known), after is None)


def _below(root: Conversation, known: dict[str, Conversation]) -> tuple[Conversation, ...]:
    """Return *root* and its descendants, each after its parent."""
    children: dict[str, list[Conversation]] = {}
    for one in sorted(known.values(), key=lambda one: (one.created_at, one.conversation_id), reverse=True):
        if one.forked_from is not None and one.conversation_id != root.conversation_id:
            children.setdefault(one.forked_from.conversation_id, []).append(one)
    found: list[Conversation] = []
    waiting = [root]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children.pop(one.conversation_id, [])
    return tuple(found)
