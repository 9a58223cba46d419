"""``built_context``: what a model receives for a user's message; ``ContextRequest`` asks for it."""

from attrs import frozen

from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.context.contract import ChatContextService
from chatmemory.effect import Do, Effect
from chatmemory.errors import RecallError
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal


@frozen(kw_only=True)
class ContextRequest:
    """The message that needs context.

    Attributes:
        conversation_id: the id of the conversation; it also counts as the session that uses the memories.
        user_message: the new message of the user, the last one in the context.
        message_id: the id of the user's message if it is already stored, so that it does not appear twice.
        peek: true to read without counting the use of memories.
    """

    conversation_id: str
    user_message: str
    message_id: str | None = None
    peek: bool = False


@Effect.gen
async def built_context(
    do: Do[RecallError | Refusal, ChatContextService],
    grant: Grant,
    request: ContextRequest,
    *,
    app: str | None = None,
    instructions: Instructions = NO_INSTRUCTIONS,
) -> ChatContext:
    """Build the context of a message; a client that may only look counts no use of memories.

    Args:
        do: runs a step.
        grant: what the client may do.
        request: the message.
        app: whose memories belong to it; None: those of the grant.
        instructions: of the application; they come first.
    """
    namespace = await do(grant.namespace(app))
    return await do(
        ChatContextService.use(
            lambda contexts: contexts.build(
                namespace,
                request.conversation_id,
                request.user_message,
                instructions=instructions,
                message_id=request.message_id,
                peek=request.peek or grant.read_only,
            )
        )
    )
