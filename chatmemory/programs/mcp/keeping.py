"""The tools with which an agent changes memory: ``remember``, ``forget``, ``store_turn`` and ``end_session``."""

from collections.abc import Sequence
from typing import Any, Final, Literal, final

from attrs import field, frozen, validators

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import AddReport
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Do, Effect
from chatmemory.errors import AddError, MemoryChangeError, MemoryReadError, RecallError, RememberError
from chatmemory.input.json_value import Json
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import (
    Category,
    Duplicate,
    ForgetReceipt,
    NewMemory,
    Provenance,
    RememberReport,
    SaveOutcome,
    Skipped,
    Stored,
)
from chatmemory.programs.mcp.tool import MemoryTool, ToolCall, ToolResult

EXTRACTOR: Final = "mcp"
"""The extractor named in the provenance of a memory that an agent has saved."""

_EVENT_ID: Final[Any] = validators.min_len(1)
_NO_EVENT_ID: Final = validators.optional(_EVENT_ID)


@final
@frozen(kw_only=True)
class Fact:
    """A fact to remember.

    Attributes:
        content: a full sentence that is clear by itself, for example `Ada deploys with Docker Compose.`
        key: its subject, for example `editor`.
        value: the fact as any JSON.
        category: its kind.
        tags: words to find it by.
        confidence: how certain it is.
        source: whether the user said it or you concluded it.
        session_id: the conversation that it comes from.
        replaces: the id of the older memory that it replaces.
        event_id: reuse it to retry.
    """

    content: str
    key: str | None = None
    value: Json = None
    category: Category | None = None
    tags: tuple[str, ...] = ()
    confidence: float = field(default=1.0, validator=[validators.ge(0.0), validators.le(1.0)])
    source: Literal["user_stated", "inferred"] = "user_stated"
    session_id: str | None = None
    replaces: str | None = None
    event_id: str | None = field(default=None, validator=_NO_EVENT_ID)


@final
@frozen(kw_only=True)
class ToForget:
    """The memory to forget.

    Attributes:
        memory_id: its id.
        event_id: reuse it to retry.
    """

    memory_id: str
    event_id: str | None = field(default=None, validator=_NO_EVENT_ID)


@final
@frozen(kw_only=True)
class SaidTurn:
    """A user message and the answer to it.

    Attributes:
        event_id: reuse it to retry.
        conversation_id: the conversation that the turn is added to.
        user_content: the user message.
        assistant_content: the complete answer.
    """

    event_id: str = field(validator=_EVENT_ID)
    conversation_id: str
    user_content: str
    assistant_content: str


@final
@frozen(kw_only=True)
class EndedConversation:
    """The conversation that has ended.

    Attributes:
        conversation_id: the id given to `store_turn`.
        event_id: reuse it to retry.
    """

    conversation_id: str
    event_id: str | None = field(default=None, validator=_NO_EVENT_ID)


@final
@frozen(kw_only=True)
class EndReport:
    """The number of short-term memories of the conversation that were removed."""

    removed: int


@final
@frozen(kw_only=True)
class TurnReport:
    """The result of storing a turn: as messages of its conversation, and as short-term memories."""

    conversation: AddReport
    memory: RememberReport


@Effect.gen
async def remember(
    do: Do[RememberError | MemoryChangeError, LongTermMemoryService], call: ToolCall[Fact]
) -> ToolResult[RememberReport]:
    """Save one fact for later sessions, such as a preference or a decision; never a secret.

    A stored fact is not saved twice.  If a fact has changed, give the id of the old memory in `replaces`.
    """
    memory, fact = do.service(LongTermMemoryService), call.arguments
    draft = NewMemory(
        content=fact.content,
        key=fact.key,
        value=fact.value,
        category=fact.category,
        tags=fact.tags,
        confidence=fact.confidence,
        source=fact.source,
        session_id=fact.session_id,
        memory_type="long_term",
        provenance=Provenance(extractor=EXTRACTOR),
    )
    if fact.replaces is None:
        report = await do(memory.remember(call.namespace, [draft]))
    else:
        report = RememberReport((await do(memory.supersede(call.namespace, fact.replaces, draft)),))
    return ToolResult(_saved(report), report)


@Effect.gen
async def forget(
    do: Do[MemoryReadError, LongTermMemoryService], call: ToolCall[ToForget]
) -> ToolResult[ForgetReceipt]:
    """Delete one memory permanently, and the older ones that it replaced.  Past chats do not change."""
    memory = do.service(LongTermMemoryService)
    receipt = await do(memory.forget(call.namespace, call.arguments.memory_id))
    return ToolResult(_gone(receipt), receipt)


@Effect.gen
async def store_turn(
    do: Do[AddError | RememberError, ChatMemoryService | LongTermMemoryService], call: ToolCall[SaidTurn]
) -> ToolResult[TurnReport]:
    """Store one turn of a conversation: the user message and your answer."""
    chat, memory = do.service(ChatMemoryService), do.service(LongTermMemoryService)
    said = call.arguments
    messages = [
        NewMessage(role="user", content=said.user_content),
        NewMessage(role="assistant", content=said.assistant_content),
    ]
    added = await do(chat.add_messages(said.conversation_id, messages))
    user_id, assistant_id = added.stored
    saved = await do(
        memory.save_conversation_turn(
            call.namespace,
            said.user_content,
            said.assistant_content,
            session_id=said.conversation_id,
            user_message_id=user_id,
            assistant_message_id=assistant_id,
        )
    )
    return ToolResult("turn stored", TurnReport(conversation=added, memory=saved))


@Effect.gen
async def end_session(
    do: Do[RecallError, LongTermMemoryService], call: ToolCall[EndedConversation]
) -> ToolResult[EndReport]:
    """End a conversation: delete its short-term memories, if the configuration says so.

    Its messages, long-term and pinned memories stay.
    """
    memory = do.service(LongTermMemoryService)
    removed = await do(memory.end_session(call.namespace, call.arguments.conversation_id))
    return ToolResult(f"{removed} short-term memories removed", EndReport(removed=removed))


def _saved(report: RememberReport) -> str:
    text = "; ".join(map(_became, report.outcomes))
    return text if report.reason is None else f"{text}; it can be found by its words only: {report.reason}"


def _became(outcome: SaveOutcome) -> str:
    match outcome:
        case Stored(memory_id, superseded):
            replaced = f", replacing {', '.join(superseded)}" if superseded else ""
            return f"remembered as {memory_id}{replaced}"
        case Duplicate(memory_id):
            return f"already remembered as {memory_id}: nothing was written"
        case Skipped(reason):
            return f"not remembered: {reason}"


def _gone(receipt: ForgetReceipt) -> str:
    text = f"{receipt.memories} memories deleted" if receipt.memories != 1 else "deleted"
    stale = len(receipt.stale_summaries)
    return f"{text}; {stale} summaries of conversations may still contain it" if stale else text


KEEPING: Final[Sequence[MemoryTool]] = (
    MemoryTool(handler=remember, title="Remember a fact", is_destructive=False),
    MemoryTool(handler=forget, title="Forget a memory", is_destructive=True, is_idempotent=True),
    MemoryTool(handler=store_turn, title="Store a turn of a conversation", is_idempotent=True),
    MemoryTool(handler=end_session, title="End a conversation", is_destructive=True, is_idempotent=True),
)
