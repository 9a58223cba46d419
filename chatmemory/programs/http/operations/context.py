"""``POST /context``: what a model receives for a user's message."""

from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.context.context_preview import ContextPreview
from chatmemory.context.contract import ChatContextService
from chatmemory.effect import Effect
from chatmemory.errors import RecallError
from chatmemory.programs.http.operation import Call, InApp, Operation
from chatmemory.programs.operations.context import ContextRequest, built_context
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class InstructedRequest(ContextRequest):
    """The message that needs context, and the instructions of the application.

    Attributes:
        instructions: the instructions of the application.
        preview: other settings, or an earlier time, to try without saving anything; null for the configured settings, now.
            With a preview, `leftOut` lists everything that was considered, and `recall.passedOver` the memories.
    """

    instructions: Instructions = NO_INSTRUCTIONS
    preview: ContextPreview | None = None


def build_context(
    call: Call[InApp, InstructedRequest],
) -> Effect[ChatContext, RecallError | Refusal, ChatContextService]:
    """Build the context for a model: instructions, related memories, the conversation and the user's message."""
    asked = call.body
    return built_context(
        call.grant, asked, app=call.query.app, instructions=asked.instructions, preview=asked.preview
    )


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
                "preview": {"tokens": 2000, "strategy": "none"},
            }
        },
    ),
)
