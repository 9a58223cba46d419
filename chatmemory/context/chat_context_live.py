"""``ChatContextService``: the service that makes what a model receives for a user's message.

It reads the conversation, recalls memories for the message, and counts the use of those that the model is shown and of
the short-term ones that the message hits.  What fits the budget is decided in ``context_assembly.py``.
"""

from collections.abc import Sequence
from random import Random
from typing import Never, final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, ContextMessage, Instructions
from chatmemory.context.context_assembly import ContextAssembly, Materials
from chatmemory.context.contract import ChatContextBuilder, ChatContextService
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.token_counter import TokenCounter, TokenCounterTag
from chatmemory.effect import Do, Effect, Failure, Layer, catch
from chatmemory.effect.services.ids import Ids, IdsTag
from chatmemory.effect.services.random import RandomTag
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
class ChatContextLive:
    """The service; its promises stand in ``ChatContextBuilder``."""

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
    ) -> ChatContext:
        """See ``ChatContextBuilder``."""
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.conversation_id", conversation_id),
            text_problems("$.user_message", user_message),
            id_problems("$.message_id", message_id, or_none=True),
            _instructions_problems(instructions),
        )
        said = await do(self._said(conversation_id, message_id))
        recalled = await self._recalled(namespace, user_message)
        recall = recalled.value_or(None)
        memories = () if recall is None else tuple(hit.memory for hit in recall.hits)
        last = ContextMessage("user", user_message, id=message_id)
        materials = Materials(instructions, memories, said, last)
        assembled = ContextAssembly(self.settings, self.tokens, self.chance).assemble(materials)
        context = do.fail(assembled.failure()) if isinstance(assembled, Failure) else assembled.unwrap()
        # What goes wrong with memories is told, and never costs the user his turn.
        if isinstance(recalled, Failure):
            return evolve(context, memory_failure=recalled.failure())
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
        self, conversation_id: str, message_id: str | None
    ) -> Effect[Sequence[ChatMessage], DataValidationError | GenericMemoryError]:
        """Read the newest messages without the one that is answered; an unknown conversation has none yet."""
        most = self.settings.window_messages
        spare = 0 if message_id is None else 1

        def window(newest: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
            others = [message for message in newest if message.id != message_id]
            return others[max(0, len(others) - most) :]

        read = self.conversations.get_messages(conversation_id, limit=most + spare).map(window)
        return catch(ConversationNotFoundError, _nothing_said)(read)

    @Effect.gen
    async def _recalled(self, do: Do[RecallError], namespace: Namespace, query: str) -> Recall | None:
        return await do(self.memories.recall(namespace, query)) if self.settings.recall else None


def _instructions_problems(instructions: object) -> list[Problem]:
    if not isinstance(instructions, Instructions):
        return [Problem("$.instructions", f"expected Instructions, not {type(instructions).__name__}")]
    return [
        *text_problems("$.instructions.system", instructions.system),
        *text_problems("$.instructions.scenario", instructions.scenario),
        *sequence_problems("$.instructions.skills", instructions.skills, text_problems),
        *text_problems("$.instructions.profile", instructions.profile),
    ]


def _nothing_said(_: ConversationNotFoundError) -> Effect[Sequence[ChatMessage]]:
    return Effect.succeed(())


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
"""The service over the chat memory, the long-term memory and the token counter at hand."""
