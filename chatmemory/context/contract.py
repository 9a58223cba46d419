"""``ChatContextBuilder``: what a model receives for a user's message."""

from typing import Protocol

from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.effect import Effect, Tag
from chatmemory.errors import RecallError
from chatmemory.longterm.memories import Namespace


class ChatContextBuilder(Protocol):
    """Puts instructions, memories, the conversation and the user's message together (spec 000 and 001)."""

    def build(
        self,
        namespace: Namespace,
        conversation_id: str,
        user_message: str,
        *,
        instructions: Instructions = NO_INSTRUCTIONS,
        message_id: str | None = None,
        peek: bool = False,
    ) -> Effect[ChatContext, RecallError]:
        """Return the messages for a model, within the budget, and count the use of each memory among them once.

        Layers: [0] to [2] the *instructions*, and what the conversation holds of system messages; [3][4] long-term
        memories that belong to *user_message*, fenced as data; [5] the newest messages of the conversation, assistant
        replies and summaries included; [6] *user_message*.  An unknown conversation has no messages yet.  When memories
        cannot be recalled the context is built without them, and says so.  Fails with ``DataValidationError`` when what
        may not be left out, [0] to [2] and [6], exceeds the budget.

        Args:
            namespace: whose memories.
            conversation_id: whose messages; also the session that uses the memories.
            user_message: what the user says now; last in the context.
            instructions: what the application says.
            message_id: the id of *user_message* if it is stored already, so that it does not stand there twice.
            peek: look at the context that would be built; no use is counted.
        """
        ...


class ChatContextService(Tag[ChatContextBuilder], given_by="stacks.embedded(path)"):
    """Where layers provide ``ChatContextBuilder``."""
