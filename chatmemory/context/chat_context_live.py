"""``ChatContextLive``: builds the messages that a model receives for a user's message.

It reads the conversation, recalls memories for the message, and counts the use of the memories that the model is shown and
of the short-term ones that the message hits.  ``context_assembly.py`` decides what fits into the budget.
"""

from collections.abc import Sequence
from random import Random
from typing import Never, final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.context.chat_context import (
    NO_INSTRUCTIONS,
    ChatContext,
    ContextMessage,
    Instructions,
    LeftOut,
)
from chatmemory.context.context_assembly import ContextAssembly, Materials
from chatmemory.context.context_preview import (
    PREVIEWED_MESSAGES,
    ContextPreview,
    PreviewedMessages,
    preview_problems,
    previewed_messages,
)
from chatmemory.context.contract import ChatContextBuilder, ChatContextService
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.token_counter import TokenCounter, TokenCounterTag
from chatmemory.effect import Do, Effect, Failure, Layer, catch
from chatmemory.effect.services.ids import Ids, IdsTag
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.errors import (
    ConversationNotFoundError,
    DataValidationError,
    GenericMemoryError,
    Problem,
    RecallError,
)
from chatmemory.input.rules import id_problems, refuse, sequence_problems, text_problems
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.memory_rules import namespace_problems
from chatmemory.longterm.recall.recall import Recall
from chatmemory.settings.memory_settings import ContextSettings, ContextSettingsTag


@final
@frozen
class ChatContextLive(ChatContextBuilder):
    """The service; ``ChatContextBuilder`` specifies its methods."""

    conversations: ChatMemory
    memories: LongTermMemory
    tokens: TokenCounter
    settings: ContextSettings
    ids: Ids
    chance: Random

    @Effect.gen
    async def build(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        conversation_id: str,
        user_message: str,
        *,
        instructions: Instructions = NO_INSTRUCTIONS,
        message_id: str | None = None,
        peek: bool = False,
        preview: ContextPreview | None = None,
    ) -> ChatContext:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.conversation_id", conversation_id),
            text_problems("$.user_message", user_message),
            id_problems("$.message_id", message_id, or_none=True),
            _instructions_problems(instructions),
            preview_problems(preview),
        )
        settings = self.settings if preview is None else preview.over(self.settings)
        said = await do(self._said(conversation_id, message_id, settings, preview))
        recalled = await self._recalled(namespace, user_message, settings, preview)
        recall = recalled.value_or(None)
        memories = () if recall is None else tuple(hit.memory for hit in recall.telling)
        last = ContextMessage("user", user_message, id=message_id)
        materials = Materials(instructions, memories, said.offered, last)
        assembled = ContextAssembly(settings, self.tokens, self.chance).assemble(materials)
        context = do.fail(assembled.failure()) if isinstance(assembled, Failure) else assembled.unwrap()
        # An error of memories is reported in the context, and never makes the user's turn fail.
        if isinstance(recalled, Failure):
            return evolve(context, memory_failure=recalled.failure())
        if preview is not None:
            return evolve(context, recall=recall, left_out=_all_left_out(context, recall, said))
        if peek or recall is None:
            return evolve(context, recall=recall)
        used = await self.memories.record_use(
            namespace,
            context.memory_ids,
            use_id=self.ids.next_id(),
            session_id=conversation_id,
            query=user_message,
        )
        failure = used.failure() if isinstance(used, Failure) else None
        return evolve(context, recall=recall, memory_failure=failure)

    def _said(
        self,
        conversation_id: str,
        message_id: str | None,
        settings: ContextSettings,
        preview: ContextPreview | None,
    ) -> Effect[PreviewedMessages, DataValidationError | GenericMemoryError]:
        """Read the newest messages except *user_message* itself; an unknown conversation is still empty."""
        most = settings.window_messages
        spare = 0 if message_id is None else 1

        def window(newest: Sequence[ChatMessage]) -> PreviewedMessages:
            others = [message for message in newest if message.id != message_id]
            if preview is None:
                return PreviewedMessages(others[max(0, len(others) - most) :], ())
            return previewed_messages(others, preview, settings, self.tokens)

        if preview is None:
            read = self.conversations.get_messages(conversation_id, limit=most + spare)
        else:
            read = self.conversations.get_messages(
                conversation_id,
                limit=max(most, PREVIEWED_MESSAGES) + spare,
                view="full" if preview.strategy == "none" else "model",
                as_of=preview.as_of,
            )
        return catch(ConversationNotFoundError, lambda _: Effect.succeed(()))(read).map(window)

    @Effect.gen
    async def _recalled(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        query: str,
        settings: ContextSettings,
        preview: ContextPreview | None,
    ) -> Recall | None:
        if not settings.recall:
            return None
        if preview is None:
            return await do(self.memories.recall(namespace, query))
        return await do(self.memories.recall(namespace, query, as_of=preview.as_of, explain=True))


def _all_left_out(
    context: ChatContext, recall: Recall | None, said: PreviewedMessages
) -> tuple[LeftOut, ...]:
    """Return everything that a preview lists as left out: memories, best first, then messages, oldest first."""
    passed_over = () if recall is None else recall.passed_over
    weak = () if recall is None else tuple([hit.memory for hit in recall.hits if hit.is_weak])
    return (
        *(one for one in context.left_out if one.kind == "memory"),
        *(LeftOut("memory", memory.id, "unlike") for memory in weak),
        *(LeftOut("memory", one.memory.id, one.reason) for one in passed_over),
        *said.left_out,
        *(one for one in context.left_out if one.kind == "message"),
    )


def _instructions_problems(instructions: object) -> list[Problem]:
    if not isinstance(instructions, Instructions):
        return [Problem("$.instructions", f"expected Instructions, not {type(instructions).__name__}")]
    return [
        *text_problems("$.instructions.system", instructions.system),
        *text_problems("$.instructions.scenario", instructions.scenario),
        *sequence_problems("$.instructions.skills", instructions.skills, text_problems),
        *text_problems("$.instructions.profile", instructions.profile),
    ]


@Effect.gen
async def _open(
    do: Do[Never, ChatMemoryService | LongTermMemoryService | TokenCounterTag | ContextSettingsTag],
) -> ChatContextBuilder:
    return ChatContextLive(
        do.service(ChatMemoryService),
        do.service(LongTermMemoryService),
        do.service(TokenCounterTag),
        do.service(ContextSettingsTag),
        do.service(IdsTag),
        do.service(RandomTag),
    )


chat_context = Layer.effect(
    ChatContextService,
    _open(),
    needs=[ChatMemoryService, LongTermMemoryService, TokenCounterTag, ContextSettingsTag],
)
"""The layer of the service; it needs the chat memory, the long-term memory, a token counter and settings."""
