"""The tool ``get_context``: the memories and messages that a model should see when it answers a user's message."""

from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.context.chat_context import LeftOut
from chatmemory.context.contract import ChatContextService
from chatmemory.context.recalled_block import MEMORIES_NOTICE
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.errors import RecallError
from chatmemory.programs.mcp.fenced import (
    CONVERSATION_NOTICE,
    fenced,
    memory_lines,
    said_lines,
)
from chatmemory.programs.mcp.tool import MemoryTool, ToolCall, ToolResult
from chatmemory.programs.operations.context import ContextRequest, built_context
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class ContextResult:
    """The context of a user message.

    Attributes:
        text: the context for a model: related memories, then the latest messages of the conversation.
        memory_ids: the ids of the memories in the text, best first.
        tokens: the number of tokens of the whole context.
        left_out: what was left out.
        notes: what could not be read.
    """

    text: str
    memory_ids: tuple[str, ...]
    tokens: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


@Effect.gen
async def get_context(
    do: Do[RecallError | Refusal, ChatContextService], call: ToolCall[ContextRequest]
) -> ToolResult[ContextResult]:
    """Get the context of a user message, as data: related memories, which count as used, and the latest messages."""
    context = await do(built_context(call.grant, call.arguments))
    hits = () if context.recall is None else context.recall.hits
    remembered = [hit.memory for hit in hits if hit.memory.id in context.memory_ids]
    # The caller already has the user's new message, and system messages are only for the application and its model.
    said = [message for message in context.messages[:-1] if message.id is not None]
    notes = () if context.memory_failure is None else (f"memories: {context.memory_failure}",)
    chance = do.service(RandomTag)
    parts = [
        fenced(memory_lines(remembered), MEMORIES_NOTICE, chance),
        fenced(said_lines(said), CONVERSATION_NOTICE, chance),
        *notes,
    ]
    text = "\n\n".join(filter(None, parts)) or "no earlier messages, and no related memories"
    result = ContextResult(
        text=text,
        memory_ids=context.memory_ids,
        tokens=context.tokens,
        left_out=context.left_out,
        notes=notes,
    )
    return ToolResult(text, result)


CONTEXT: Final[Sequence[MemoryTool]] = (
    MemoryTool(handler=get_context, title="Get the context of a message", obeys_read_only=True),
)
