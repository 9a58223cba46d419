"""``ChatContextBuilder``: builds the messages that a model receives for a user's message."""

from typing import Protocol

from chatmemory.access.namespace import Namespace
from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.context.context_preview import ContextPreview
from chatmemory.effect import Effect, Tag
from chatmemory.errors import RecallError


class ChatContextBuilder(Protocol):
    """Builds a context of instructions, memories, the conversation and the user's message (spec 000 and 001)."""

    def build(
        self,
        namespace: Namespace,
        conversation_id: str,
        user_message: str,
        *,
        instructions: Instructions = NO_INSTRUCTIONS,
        message_id: str | None = None,
        peek: bool = False,
        preview: ContextPreview | None = None,
    ) -> Effect[ChatContext, RecallError]:
        """Build the messages for a model within the token budget, and count one use of each memory in them.

        The context has these parts, in this order.  [0] to [2] are the *instructions* and the system messages of the
        conversation.  [3] and [4] are the long-term memories that match *user_message*, fenced as data.  [5] holds the
        newest messages of the conversation, with assistant replies and summaries.  [6] is *user_message*.

        Args:
            namespace: whose memories are recalled.
            conversation_id: the conversation whose messages are included; an unknown one is still empty.  The uses of
                memories are counted for the session of this id.
            user_message: what the user says now; the last message of the context.
            instructions: what the application says; nothing by default.
            message_id: the id of *user_message* when it is already stored, so that it appears only once; None: it is
                not stored.
            peek: if true, build the context without counting any use.
            preview: build it under other settings, or as it would have been at an earlier time, without counting any use;
                ``left_out`` then has everything that was considered.  None: as configured, now.

        Returns:
            the context.  When memories cannot be recalled it is built without them, and ``memory_failure`` says why.

        Fails with:
            DataValidationError: an argument or the preview is invalid, or [0] to [2] and [6], which must not be left out, exceed the
                budget.
            GenericMemoryError: the store failed.
        """
        ...


class ChatContextService(Tag[ChatContextBuilder], given_by="stacks.embedded(path)"):
    """The tag under which layers provide ``ChatContextBuilder``."""
