"""MCP resources: the conversations and memories of the store, and the conversations of past chats.

    chatmemory://conversations/{conversationId}
    chatmemory://memories/{memoryId}
    chatmemory://past-chats/{conversationId}

The content of a resource is text for a model, inside a fence; a conversation shows its newest messages, oldest first.
What does not fit into an answer has an address of its own, with ``?before=`` or ``?after=``, that the text names.
The list of resources has the conversations first, the last changed one at the top, and then the memories, newest first.
Past chats are not listed.
"""

from typing import Final, TypeAlias
from urllib.parse import quote, unquote

import mcp_types as types

from chatmemory.context.recalled_block import MEMORIES_NOTICE
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import Conversation
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.errors import MemoryReadError, PastChatsError, ReadError, RecallError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Memory
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.programs.mcp.fenced import (
    CONVERSATION_NOTICE,
    fenced,
    fitting,
    memory_lines,
    message_lines,
    turn_lines,
)
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.past_chats import past_chats_for
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.text.shown_text import shortened

CONVERSATIONS: Final = "chatmemory://conversations/"
MEMORIES: Final = "chatmemory://memories/"
PAST_CHATS: Final = "chatmemory://past-chats/"
MOST_LISTED: Final = 50
MOST_READ: Final = 100
MEDIA_TYPE: Final = "text/plain"

IN_MEMORIES: Final = "memories:"
"""The prefix of a cursor that continues the list within the memories."""

LONGEST_NAME: Final = 80

Lists: TypeAlias = ChatMemoryService | LongTermMemoryService
Reads: TypeAlias = Lists | PastChatsService
ResourceError: TypeAlias = ReadError | MemoryReadError | PastChatsError | Refusal


TEMPLATES: Final = [
    types.ResourceTemplate(
        name="conversation",
        title="A conversation",
        uri_template=f"{CONVERSATIONS}{{conversationId}}",
        description=f"The newest {MOST_READ} messages of a conversation, as a model sees them; percent-encode the id.",
        mime_type=MEDIA_TYPE,
    ),
    types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=f"{MEMORIES}{{memoryId}}",
        description="One memory, by the id that recall, search and list_memories return; percent-encode the id.",
        mime_type=MEDIA_TYPE,
    ),
    types.ResourceTemplate(
        name="past_conversation",
        title="A past conversation of another tool",
        uri_template=f"{PAST_CHATS}{{conversationId}}",
        description=f"The first {MOST_READ} turns of a past conversation; percent-encode the id.",
        mime_type=MEDIA_TYPE,
    ),
]


@Effect.gen
async def list_resources(
    do: Do[ReadError | RecallError, Lists], grant: Grant, after: str | None
) -> types.ListResourcesResult:
    """Return a page of the conversations and memories that *grant* may see.

    *after* is the ``next_cursor`` of the page before it; None: the first page.
    """
    listed: list[types.Resource] = []
    if after is None or not after.startswith(IN_MEMORIES):
        chat = do.service(ChatMemoryService)
        page = await do(chat.list_conversations(limit=MOST_LISTED, after=after, order="recent"))
        listed += map(_conversation, page.conversations)
        if page.next is not None:
            return types.ListResourcesResult(resources=listed, next_cursor=page.next)
        after = None
    else:
        after = after.removeprefix(IN_MEMORIES)
    memory = do.service(LongTermMemoryService)
    kept = await do(memory.list(grant.principal.namespace, limit=MOST_LISTED, after=after))
    listed += map(_memory, kept.memories)
    following = None if kept.next is None else IN_MEMORIES + kept.next
    return types.ListResourcesResult(resources=listed, next_cursor=following)


@Effect.gen
async def read_resource(do: Do[ResourceError, Reads], grant: Grant, uri: str) -> str:
    """Return the text of the resource *uri*; fail with a ``NotFoundError`` refusal if no template fits *uri*."""
    chance = do.service(RandomTag)
    address, _, asked = uri.partition("?")
    _, _, place = asked.partition("=")
    start = int(place) if place.isascii() and place.isdigit() else None
    if kept := _named(address, CONVERSATIONS):
        chat, limit = do.service(ChatMemoryService), MOST_READ
        page = await do(chat.get_page(kept, limit=limit, older_than=start))
        if (limit := fitting(message_lines(page.messages)[::-1])) < len(page.messages):
            page = await do(chat.get_page(kept, limit=limit, older_than=start))
        more = "" if page.older is None else f"\nolder messages: {address}?before={page.older}"
        return fenced(message_lines(page.messages), CONVERSATION_NOTICE, chance) + more
    if memory_id := _named(address, MEMORIES):
        memory = await do(do.service(LongTermMemoryService).get(grant.principal.namespace, memory_id))
        return fenced(memory_lines([memory]), MEMORIES_NOTICE, chance)
    if conversation_id := _named(address, PAST_CHATS):
        newer_than = -1 if start is None else start
        turns = await do(
            past_chats_for(
                grant, lambda chats: chats.turns(conversation_id, newer_than=newer_than, limit=MOST_READ)
            )
        )
        lines = turn_lines(turns.turns)
        count = fitting(lines)
        last = turns.next if count == len(lines) else turns.turns[count - 1].turn_index
        more = "" if last is None else f"\nmore turns: {address}?after={last}"
        return fenced(lines[:count], CONVERSATION_NOTICE, chance) + more
    return do.fail(
        Refusal("NotFoundError", f"resources are {' and '.join(one.uri_template for one in TEMPLATES)}")
    )


def _conversation(conversation: Conversation) -> types.Resource:
    changed = f"{conversation.updated_at:%Y-%m-%d %H:%M} UTC"
    return types.Resource(
        uri=CONVERSATIONS + quote(conversation.conversation_id, safe=""),
        name=conversation.conversation_id,
        description=f"{conversation.message_count} messages, the last change at {changed}",
        mime_type=MEDIA_TYPE,
    )


def _memory(memory: Memory) -> types.Resource:
    said = f"{memory.created_at:%Y-%m-%d %H:%M} UTC"
    kind = memory.memory_type.replace("_", "-")
    return types.Resource(
        uri=MEMORIES + quote(memory.id, safe=""),
        name=memory.key or shortened(" ".join(memory.content.split()), LONGEST_NAME),
        description=f"a {kind} memory of {said}",
        mime_type=MEDIA_TYPE,
    )


def _named(uri: str, prefix: str) -> str | None:
    """Return the id that follows *prefix* in *uri*, or None if *uri* has another prefix or is not valid UTF-8."""
    if not uri.startswith(prefix):
        return None
    try:
        return unquote(uri.removeprefix(prefix), errors="strict")
    except UnicodeDecodeError:  # with replacement characters it would name another id
        return None
