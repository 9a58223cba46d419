"""Conversations as resources: those of the store, and, read-only as they are, those of past chats.

    chatmemory://conversations/{conversationId}
    chatmemory://past-chats/{conversationId}

A conversation is text for a model: its newest messages, oldest first, inside a fence.
"""

from typing import Final, NamedTuple, TypeAlias, final
from urllib.parse import quote, unquote

from attrs import frozen

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import Conversation, ConversationPage
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.random import RandomTag
from chatmemory.errors import PastChatsError, ReadError
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.programs.mcp.fenced import CONVERSATION_NOTICE, messages_block, turns_block
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.past_chats import past_chats_for
from chatmemory.programs.operations.refusal import Refusal

CONVERSATIONS: Final = "chatmemory://conversations/"
PAST_CHATS: Final = "chatmemory://past-chats/"
MOST_LISTED: Final = 50
MOST_READ: Final = 100
MEDIA_TYPE: Final = "text/plain"

Reads: TypeAlias = ChatMemoryService | PastChatsService
ResourceError: TypeAlias = ReadError | PastChatsError | Refusal


class Template(NamedTuple):
    """A kind of resource."""

    name: str
    title: str
    uri_template: str
    description: str


TEMPLATES: Final = (
    Template(
        "conversation",
        "A conversation",
        f"{CONVERSATIONS}{{conversationId}}",
        f"The newest {MOST_READ} messages of a conversation, as a model sees them; percent-encode the id.",
    ),
    Template(
        "past_conversation",
        "A past conversation of another tool",
        f"{PAST_CHATS}{{conversationId}}",
        f"The first {MOST_READ} turns of a past conversation; percent-encode the id.",
    ),
)


@final
@frozen
class Listed:
    """A conversation in a list."""

    uri: str
    name: str
    description: str


@final
@frozen
class ListedPage:
    """Conversations, last changed first; *next* is the cursor of the page after this one, None at the end."""

    resources: tuple[Listed, ...]
    next: str | None


def list_conversations(after: str | None) -> Effect[ListedPage, ReadError, ChatMemoryService]:
    """List what may be seen."""
    return ChatMemoryService.use(
        lambda chat: chat.list_conversations(limit=MOST_LISTED, after=after, order="recent")
    ).map(_page)


@Effect.gen
async def read_conversation(do: Do[ResourceError, Reads], grant: Grant, uri: str) -> str:
    """Return the text of the resource *uri*."""
    chance = do.service(RandomTag)
    if kept := _named(uri, CONVERSATIONS):
        page = await do(do.service(ChatMemoryService).get_page(kept, limit=MOST_READ))
        return messages_block(page.messages, chance)
    if conversation_id := _named(uri, PAST_CHATS):
        turns = await do(past_chats_for(grant, lambda chats: chats.turns(conversation_id, limit=MOST_READ)))
        return turns_block(turns.turns, chance, notice=CONVERSATION_NOTICE)
    return do.fail(
        Refusal("NotFoundError", f"resources are {' and '.join(one.uri_template for one in TEMPLATES)}")
    )


def _page(page: ConversationPage) -> ListedPage:
    return ListedPage(tuple(map(_listed, page.conversations)), page.next)


def _listed(conversation: Conversation) -> Listed:
    changed = f"{conversation.updated_at:%Y-%m-%d %H:%M} UTC"
    return Listed(
        CONVERSATIONS + quote(conversation.conversation_id, safe=""),
        conversation.conversation_id,
        f"{conversation.message_count} messages, the last change at {changed}",
    )


def _named(uri: str, prefix: str) -> str | None:
    """Return the id that *uri* names behind *prefix*, None when it does not."""
    if not uri.startswith(prefix):
        return None
    try:
        return unquote(uri.removeprefix(prefix), errors="strict")
    except UnicodeDecodeError:  # with replacement characters it would name another id
        return None
