"""Conversations over HTTP: list, read, add, fork, clear and follow them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, Final, TypeVar, final

from attrs import field, frozen, validators

from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    Forked,
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Do, Effect, Failure, Success
from chatmemory.errors import (
    AddError,
    ConversationNotFoundError,
    DataValidationError,
    ForkError,
    Problem,
    ReadError,
    RemoveError,
)
from chatmemory.input.json_value import JsonObject
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.programs.http.large_answers import bounded
from chatmemory.programs.http.operation import Call, EventStream, NoParameters, Operation, Stream
from chatmemory.programs.http.operations.events import followed
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.text.shown_text import one_line

A = TypeVar("A")
E = TypeVar("E")

MOST_CONVERSATIONS: Final = 200
MOST_MESSAGES: Final = 1000
OPENING_CHARACTERS: Final = 120
OPENING_MESSAGES: Final = 3
"""The first user message is searched among this many, since system messages may come before it."""
OPENINGS_AT_ONCE: Final = 8

NO_SUMMARY: Final = Refusal(
    "SummaryNotFoundError", "no summary has this id: summaries are the messages whose role is 'summary'"
)

_A_NUMBER: Final = validators.optional([validators.ge(0), validators.le(MAX_LIMIT)])


@final
@frozen(kw_only=True)
class ConversationList:
    """A list of conversations.

    Attributes:
        after: the `next` of the previous page.
    """

    limit: int = field(default=50, validator=[validators.ge(0), validators.le(MOST_CONVERSATIONS)])
    after: str | None = None


@final
@frozen
class OpenedConversation:
    """A conversation and how it begins.

    Attributes:
        opening: the beginning of the first user message, on one line.
    """

    conversation: Conversation
    opening: str


@final
@frozen
class OpenedConversations:
    """Conversations, last changed first; *next* is the cursor of the page after this one, null at the end."""

    conversations: tuple[OpenedConversation, ...]
    next: str | None


@final
@frozen(kw_only=True)
class MessageList:
    """Which messages of a conversation are read; without a cursor, the newest ones.

    Attributes:
        view: `model` shows summaries instead of the messages that they cover, `full` shows every stored message.
        older_than: the `older` of another page of the same view.
        newer_than: the `newer` of another page of the same view; 0 for the start.
        as_of: the state at this version or at this time; now if not given.
    """

    view: View = "model"
    limit: int = field(default=100, validator=[validators.ge(0), validators.le(MOST_MESSAGES)])
    older_than: int | None = field(default=None, validator=_A_NUMBER)
    newer_than: int | None = field(default=None, validator=_A_NUMBER)
    as_of: int | datetime | None = None


@final
@frozen(kw_only=True)
class Clearing:
    """What to clear.

    Attributes:
        with_branches: also clear all branches that hold a message of the conversation.
    """

    with_branches: bool = False


@final
@frozen(kw_only=True)
class Following:
    """Where following a conversation begins.

    Attributes:
        newer_than: the number of the last message that you know; without it, only new messages are sent.
    """

    newer_than: int | None = field(default=None, validator=_A_NUMBER)


@final
@frozen(kw_only=True)
class AddMessages:
    """Messages for the end of a conversation, all or none."""

    messages: tuple[NewMessage, ...]


@final
@frozen(kw_only=True)
class ForkConversation:
    """A branch of a conversation.

    Attributes:
        new_id: the id of the branch; no conversation may have or ever have had it.
        at: where to branch: the id of the last copied message; null for the end, or to use `version`.
        version: where to branch: a version of the conversation, 1 or more; null for the end, or to use `at`.
    """

    new_id: str
    at: str | None = None
    version: int | None = field(
        default=None, validator=validators.optional([validators.ge(1), validators.le(MAX_LIMIT)])
    )


def of_conversation(
    handler: Callable[[Call[Any, Any], ChatMemory, str], Effect[A, E]],
) -> Callable[[Call[Any, Any]], Effect[A, E, ChatMemoryService]]:
    """Give *handler* the service, and the id of the conversation in the path."""

    @wraps(handler)
    def handle(call: Call[Any, Any]) -> Effect[A, E, ChatMemoryService]:
        return ChatMemoryService.use(lambda memory: handler(call, memory, call.path["conversationId"]))

    return handle


@Effect.gen
async def list_conversations(
    do: Do[ReadError | Refusal, ChatMemoryService], call: Call[ConversationList, None]
) -> OpenedConversations:
    """List conversations, the last changed first, each with the beginning of its first user message."""
    memory, asked = do.service(ChatMemoryService), call.query
    page = await do(memory.list_conversations(limit=asked.limit, after=asked.after, order="recent"))
    opened = [_opened(memory, conversation) for conversation in page.conversations]
    return OpenedConversations(tuple(await do(Effect.all(opened, concurrency=OPENINGS_AT_ONCE))), page.next)


@of_conversation
def get_conversation(
    _: Call[NoParameters, None], memory: ChatMemory, conversation_id: str
) -> Effect[Conversation, ReadError | Refusal]:
    """Return the counts, the version and the times of a conversation, without its messages."""
    return memory.get_conversation(conversation_id)


@of_conversation
def get_messages(
    call: Call[MessageList, None], memory: ChatMemory, conversation_id: str
) -> Effect[MessagePage, ReadError | Refusal]:
    """Return a page of the messages of a conversation, oldest first.

    A page with large messages ends earlier; `older` and `newer` are its cursors.  With `asOf`, it is the page of that version or
    time; `isWhole` is false when some of its messages may have been deleted since.
    """
    asked = call.query

    def page(limit: int) -> Effect[MessagePage, ReadError]:
        return memory.get_page(
            conversation_id,
            limit=limit,
            older_than=asked.older_than,
            newer_than=asked.newer_than,
            view=asked.view,
            as_of=asked.as_of,
        )

    return page(asked.limit).bind(
        lambda whole: bounded(whole, again=page, newest_first=asked.newer_than is None)
    )


@of_conversation
def add_messages(
    call: Call[NoParameters, AddMessages], memory: ChatMemory, conversation_id: str
) -> Effect[AddReport, AddError | Refusal]:
    """Add messages to the end of a conversation; the first message creates it."""
    return memory.add_messages(conversation_id, call.body.messages, expected_version=call.expected_version)


@of_conversation
def fork_conversation(
    call: Call[NoParameters, ForkConversation], memory: ChatMemory, conversation_id: str
) -> Effect[Forked, ForkError | Refusal]:
    """Create a branch: a conversation that begins with a copy of the messages of this one up to a point."""
    asked = call.body
    if asked.at is not None and asked.version is not None:
        return Effect.fail(DataValidationError((Problem("$.version", "give at or version, not both"),)))
    at = asked.version if asked.at is None else asked.at
    return memory.fork(conversation_id, asked.new_id, at=at)


@of_conversation
def clear_messages(
    call: Call[Clearing, None], memory: ChatMemory, conversation_id: str
) -> Effect[ClearReport, RemoveError | Refusal]:
    """Delete all messages and summaries of a conversation, and return which branches still hold some of them."""
    return memory.clear_messages(conversation_id, with_branches=call.query.with_branches)


@of_conversation
def get_summary(
    call: Call[NoParameters, None], memory: ChatMemory, conversation_id: str
) -> Effect[SummarizationMetadata, ReadError | Refusal]:
    """Return which messages a summary covers."""
    return memory.get_summarization(conversation_id, call.path["messageId"]).bind(
        lambda found: Effect.fail(NO_SUMMARY) if found is None else Effect.succeed(found)
    )


@of_conversation
def follow_conversation(
    call: Call[Following, None], memory: ChatMemory, conversation_id: str
) -> Effect[EventStream, ReadError | Refusal]:
    """Send each new message of a conversation when it is added, as server-sent events.

    `id` is the number of the message, and `event` is `message`, or `cleared` when the conversation was cleared.  A client
    that reconnects with `Last-Event-ID` misses no message.  The stream ends when the token expires.
    """
    known = call.query.newer_than if call.last_event is None else int(call.last_event)
    return followed(
        memory,
        conversation_id,
        newer_than=known,
        closing=call.closing,
        ends_at=call.grant.ends_at,
    ).map(EventStream)


@Effect.gen
async def _opened(do: Do[ReadError], memory: ChatMemory, conversation: Conversation) -> OpenedConversation:
    id_ = conversation.conversation_id
    match await memory.get_page(id_, limit=OPENING_MESSAGES, newer_than=0, view="full"):
        case Success(page):
            opening = _opening(page.messages)
        case Failure(ConversationNotFoundError()):  # cleared since the list was read
            opening = ""
        case Failure(error):
            do.fail(error)
    return OpenedConversation(conversation, opening)


def _opening(messages: Sequence[ChatMessage]) -> str:
    first = next((message for message in messages if message.role == "user"), None)
    first = first or next(iter(messages), None)
    return "" if first is None else one_line(first.content, OPENING_CHARACTERS)


_ONE: Final = "/conversations/{conversationId}"
_EXAMPLE: Final[JsonObject] = {"conversationId": "trip-to-kyoto"}
_SAID: Final[JsonObject] = {
    "messages": [
        {"role": "user", "content": "I am going to Kyoto in April, and I only drink green tea."},
        {"role": "assistant", "content": "Then visit Uji: it is half an hour away by train."},
    ]
}

CONVERSATIONS: Final[Sequence[Operation]] = (
    Operation("GET", "/conversations", list_conversations, example={"limit": 20}),
    Operation("GET", _ONE, get_conversation, example=_EXAMPLE),
    Operation("GET", f"{_ONE}/messages", get_messages, example={**_EXAMPLE, "limit": 20, "view": "full"}),
    Operation(
        "POST",
        f"{_ONE}/messages",
        add_messages,
        status=201,
        takes_version=True,
        asks_models=True,
        example={**_EXAMPLE, "body": _SAID},
    ),
    Operation(
        "POST",
        f"{_ONE}/fork",
        fork_conversation,
        status=201,
        example={**_EXAMPLE, "body": {"newId": "kyoto-by-bicycle"}},
    ),
    Operation("DELETE", f"{_ONE}/messages", clear_messages, example=_EXAMPLE),
    Operation(
        "GET",
        f"{_ONE}/summaries/{{messageId}}",
        get_summary,
        refusals=("SummaryNotFoundError",),
        example={**_EXAMPLE, "messageId": "0195ce1f-83a0-7d3c-9a54-4d6f2c1b7a90"},
    ),
    Operation(
        "GET",
        f"{_ONE}/events",
        follow_conversation,
        stream=Stream(r"[0-9]{1,9}", ("message", "cleared"), ChatMessage),
        example={**_EXAMPLE, "newerThan": 0},
    ),
)
