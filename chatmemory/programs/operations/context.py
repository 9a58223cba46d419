"""``built_context``: builds the context that a model receives for a user's message, from a ``ContextRequest``."""

from attrs import frozen

from chatmemory.context.chat_context import NO_INSTRUCTIONS, ChatContext, Instructions
from chatmemory.context.context_preview import ContextPreview
from chatmemory.context.contract import ChatContextService
from chatmemory.effect import Do, Effect
from chatmemory.errors import RecallError
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal


@frozen(kw_only=True)
class ContextRequest:
    """The message that needs context.

    Attributes:
        conversation_id: the conversation; it counts as the session that uses the memories.
        user_message: the new message of the user.
        message_id: the id of the message, if it is already stored.
        peek: if true, the use of memories is not counted.
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
    preview: ContextPreview | None = None,
) -> ChatContext:
    """Build the context of a message; for a client that may only read, the use of memories is not counted.

    *app* None: the memories of the app of *grant* are used.  The *instructions* of the application come
    first.  *preview* has other settings or an earlier time to try; None: the configured settings, now.
    """
    namespace = await do(grant.namespace(app))
    return await do(
        do.service(ChatContextService).build(
            namespace,
            request.conversation_id,
            request.user_message,
            instructions=instructions,
            message_id=request.message_id,
            peek=request.peek or grant.read_only,
            preview=preview,
        )
    )
