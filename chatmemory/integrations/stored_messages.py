"""``stored_messages``: what a conversation holds, for a framework to which one that nobody has begun is an empty one."""

from collections.abc import Sequence

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import ChatMessage, View
from chatmemory.effect import Effect
from chatmemory.errors import ConversationNotFoundError, ReadError


def stored_messages(
    conversation_id: str, *, limit: int | None = None, view: View = "model"
) -> Effect[Sequence[ChatMessage], ReadError, ChatMemoryService]:
    """Return the messages as ``ChatMemory.get_messages`` does; none for a conversation that does not exist."""
    reading = ChatMemoryService.use(
        lambda memory: memory.get_messages(conversation_id, limit=limit, view=view)
    )
    return reading.lash(_nothing_if_new)


def _nothing_if_new(error: ReadError) -> Effect[Sequence[ChatMessage], ReadError]:
    return Effect.succeed(()) if isinstance(error, ConversationNotFoundError) else Effect.fail(error)
