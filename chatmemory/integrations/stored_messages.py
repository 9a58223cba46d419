"""``stored_messages`` and ``cleared_messages``: for frameworks in which an unknown conversation is empty instead of an error."""

from collections.abc import Sequence

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import ChatMessage, View
from chatmemory.effect import Effect
from chatmemory.errors import ConversationNotFoundError, ReadError, RemoveError


def stored_messages(
    conversation_id: str, *, limit: int | None = None, view: View = "model"
) -> Effect[Sequence[ChatMessage], ReadError, ChatMemoryService]:
    """Return the messages as ``ChatMemory.get_messages`` does; none for a conversation that does not exist."""
    reading = ChatMemoryService.use(
        lambda memory: memory.get_messages(conversation_id, limit=limit, view=view)
    )
    return reading.lash(_nothing_if_new)


def cleared_messages(conversation_id: str) -> Effect[int, RemoveError, ChatMemoryService]:
    """Delete the messages with their summaries, and return how many there were; 0 for a conversation that does not exist."""
    clearing = ChatMemoryService.use(lambda memory: memory.clear_messages(conversation_id))
    return clearing.map(lambda report: report.messages).lash(_none_if_new)


def _none_if_new(error: RemoveError) -> Effect[int, RemoveError]:
    return Effect.succeed(0) if isinstance(error, ConversationNotFoundError) else Effect.fail(error)


def _nothing_if_new(error: ReadError) -> Effect[Sequence[ChatMessage], ReadError]:
    return Effect.succeed(()) if isinstance(error, ConversationNotFoundError) else Effect.fail(error)
