"""The tool ``list_memories``: all memories, page by page, without a query."""

from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.context.recalled_block import MEMORIES_NOTICE
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.errors import RecallError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Category, Memory, MemoryPage, MemoryType
from chatmemory.programs.mcp.fenced import (
    BLOCK_TOKENS,
    fenced,
    fitting,
    memory_lines,
    shortest,
)
from chatmemory.programs.mcp.tool import MemoryTool, ToolCall, ToolResult

MOST_LISTED: Final = 100


@final
@frozen(kw_only=True)
class WantedPage:
    """A page of memories.

    Attributes:
        containing: only memories with this text.
        category: only this category.
        tag: only memories with this tag.
        memory_type: only this kind.
        limit: the most memories.
        after: the `next` of the previous page.
    """

    containing: str | None = None
    category: Category | None = None
    tag: str | None = None
    memory_type: MemoryType | None = None
    limit: int = field(default=20, validator=[validators.ge(1), validators.le(MOST_LISTED)])
    after: str | None = None


@final
@frozen(kw_only=True)
class ListedMemories:
    """A page of memories, newest first.

    Attributes:
        text: the page for a model, with the memories inside a fence.
        memories: the same, for programs.
        next: give it as `after` for the page after this one; null at the end.
    """

    text: str
    memories: Sequence[Memory]
    next: str | None


@Effect.gen
async def list_memories(
    do: Do[RecallError, LongTermMemoryService], call: ToolCall[WantedPage]
) -> ToolResult[ListedMemories]:
    """List memories with their ids, newest first.  Use this when the user asks what you know."""
    memory, wanted = do.service(LongTermMemoryService), call.arguments

    def read(limit: int) -> Effect[MemoryPage, RecallError]:
        return memory.list(
            call.namespace,
            limit=limit,
            after=wanted.after,
            memory_type=wanted.memory_type,
            category=wanted.category,
            tag=wanted.tag,
            containing=wanted.containing,
        )

    page = await do(read(wanted.limit))
    count = fitting(memory_lines(page.memories), tokens=BLOCK_TOKENS // 2)  # a value repeats the text
    if count < len(page.memories):
        page = await do(read(count))  # the next page begins with the first that does not fit
    more = "" if page.next is None else f'there are more: call again with after="{page.next}"'
    parts = [fenced(memory_lines(page.memories), MEMORIES_NOTICE, do.service(RandomTag)), more]
    text = "\n\n".join(filter(None, parts)) or "nothing is remembered"
    return ToolResult(
        text, ListedMemories(text=text, memories=tuple(map(shortest, page.memories)), next=page.next)
    )


LISTING: Final[Sequence[MemoryTool]] = (
    MemoryTool(handler=list_memories, title="List memories", reads_only=True, is_idempotent=True),
)
