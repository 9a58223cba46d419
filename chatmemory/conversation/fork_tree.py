"""``fork_tree``: finds the conversations that a conversation was forked from, and those that were forked from it."""

from typing import Final, final

from attrs import frozen

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.messages import Conversation
from chatmemory.effect import Do, Effect
from chatmemory.errors import ConversationNotFoundError, ReadError

READ_CONVERSATIONS: Final = 2_000
"""How many conversations are searched for branches; those that changed last come first."""
CONVERSATIONS_AT_ONCE: Final = 500


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

    Args:
        do: runs a step; the caller does not pass it.
        memory: the service for conversations.
        conversation_id: any conversation of the tree.

    Returns:
        the tree.

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
