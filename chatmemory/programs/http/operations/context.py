"""``POST /context``: what a model receives for a user's message."""

from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.context.contract import ChatContextService
from chatmemory.effect import Effect
from chatmemory.errors import RecallError
from chatmemory.programs.http.operation import Call, InApp, Operation
from chatmemory.programs.operations.context import ContextRequest, built_context
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class InstructedRequest(ContextRequest):
    """The message that needs context, and what the application tells the model.

    Attributes:
        instructions: the instructions of the application.
    """

    instructions: Instructions = NO_INSTRUCTIONS


def build_context(
    call: Call[InApp, InstructedRequest],
) -> Effect[ChatContext, RecallError | Refusal, ChatContextService]:
    """Build the context for a model: instructions, related memories, the conversation and the user's message."""
    asked = call.body
    return built_context(call.grant, asked, app=call.query.app, instructions=asked.instructions)


CONTEXT: Final[Sequence[Operation]] = (
    Operation(
        "POST",
        "/context",
        build_context,
        reads_only=True,
        asks_models=True,
        example={
            "body": {
                "conversationId": "trip-to-kyoto",
                "userMessage": "Where can I buy tea?",
                "instructions": {"system": "You are a travel guide."},
            }
        },
    ),
)
