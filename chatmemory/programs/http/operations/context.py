"""``POST /context``: what a model receives for a user's message."""

from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.context.contract import ChatContextService
from chatmemory.effect import Effect
from chatmemory.errors import RecallError
from chatmemory.programs.http.operation import Call, InApp, Operation
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class ContextRequest:
    """The message that needs context.

    Attributes:
        conversation_id: the id of the conversation; it also counts as the session that uses the memories.
        user_message: the new message of the user, the last one in the context.
        instructions: the instructions of the application.
        message_id: the id of the user's message if it is already stored, so that it does not appear twice.
        peek: true to read without counting the use of memories.
    """

    conversation_id: str
    user_message: str
    instructions: Instructions = NO_INSTRUCTIONS
    message_id: str | None = None
    peek: bool = False


def build_context(
    call: Call[InApp, ContextRequest],
) -> Effect[ChatContext, RecallError | Refusal, ChatContextService]:
    """Build the context for a model: instructions, related memories, the conversation and the user's message."""
    asked = call.body

    def build(conversation_id: str) -> Effect[ChatContext, RecallError | Refusal, ChatContextService]:
        return call.namespace().bind(
            lambda namespace: ChatContextService.use(
                lambda contexts: contexts.build(
                    namespace,
                    conversation_id,
                    asked.user_message,
                    instructions=asked.instructions,
                    message_id=asked.message_id,
                    peek=asked.peek or call.grant.read_only,
                )
            )
        )

    return call.grant.conversation(asked.conversation_id).bind(build)


CONTEXT: Final[Sequence[Operation]] = (
    Operation("POST", "/context", build_context, reads_only=True, asks_models=True),
)
