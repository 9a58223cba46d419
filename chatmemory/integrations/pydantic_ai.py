"""Message histories and long-term memory for pydantic-ai.

    history = ChatMemoryHistory("lunch", runtime)
    agent = Agent(model, capabilities=[LongTermMemories(Namespace("mei"), runtime)])
    result = await agent.run("Where do we meet?", message_history=await history.load())
    await history.append(result.new_messages())

``ChatMemoryHistory`` keeps each ``ModelRequest`` and ``ModelResponse`` as one message: who speaks and what can be read
stand in its columns, for search, summaries and the page; the JSON of pydantic-ai stands in its metadata, byte by byte.
It is no ``ConversationStore``: that one keeps a tree of branches which never gets shorter, this one the line that a
model should see, with summaries in the place of what has grown long.

``LongTermMemories`` shows a model what is remembered of earlier conversations, and saves what the user says in this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from random import Random
from typing import Any, Final, TypeVar, cast

from pydantic import ValidationError
from pydantic_ai import __version__
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    CompactionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    SpeechPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentDepsT, RunContext
from pydantic_core import PydanticSerializationError

from chatmemory.contracts import ChatMemoryService, LongTermMemoryService
from chatmemory.contracts.token_counter import AS_GIVEN
from chatmemory.effect import (
    Effect,
    EffectFailed,
    EffectInterrupted,
    Outcome,
    Runner,
    Success,
    ThreadRuntime,
)
from chatmemory.errors import AddError, ConversationNotFoundError, DataValidationError, ReadError
from chatmemory.integrations.recalled_text import recalled_text
from chatmemory.integrations.to_its_end import to_its_end
from chatmemory.memories import Namespace
from chatmemory.message_rules import MAX_CONTENT_CHARACTERS, clean_text
from chatmemory.messages import AddReport, ChatMessage, NewMessage, Role
from chatmemory.recalled_block import SUMMARY_NOTICE, fresh_fence, message_line, recalled_block

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")

NAME: Final = "pydanticAi"
"""Under which name of ``AS_GIVEN`` a message's JSON stands, in pieces that every store can keep: files may be long."""

STORED_AS: Final = "chatmemoryMessage"
"""Where in the metadata of a message that was made here stands of which stored one: it is not to be stored again."""


class ChatMemoryHistory:
    """The history *conversation_id*: the conversation of that id.

    *runtime* gives ``ChatMemoryService``: a ``ThreadRuntime`` serves any event loop and thread, and the methods whose
    names end in ``sync``; a ``ManagedRuntime`` serves its own event loop, faster.  It belongs to whoever made it.

    An agent with ``system_prompt=`` needs the capability ``ReinjectSystemPrompt`` when histories are summarized: its
    prompt stands in the first request, as if it had been said; ``instructions=`` stand outside.

    What chatmemory refuses raises ``UserError``, what fails beneath it ``AgentRunError``, each with chatmemory's own
    words; ``__cause__.error`` is the failure as a value.
    """

    def __init__(self, conversation_id: str, runtime: Runner[ChatMemoryService]) -> None:
        """Open nothing yet."""
        self.conversation_id = conversation_id
        self._runtime = runtime

    async def load(self) -> list[ModelMessage]:
        """Return what a model should see, oldest first, for ``message_history=``; nothing for a new conversation."""
        return _loaded(await _run(self._runtime, self._reading()))

    async def append(self, messages: Sequence[ModelMessage]) -> AddReport:
        """Store *messages* at the end, all or none: ``result.new_messages()`` after each run.

        A message that is stored already is stored once, so that a run whose append was cancelled, or ended with the
        program, is appended again without a thought.
        """
        return _unwrapped(await to_its_end(_run(self._runtime, self._writing(messages))))

    def load_sync(self) -> list[ModelMessage]:
        """Do as ``load``, for ``run_sync``; with a ``ThreadRuntime``."""
        return _loaded(_run_sync(self._runtime, self._reading()))

    def append_sync(self, messages: Sequence[ModelMessage]) -> AddReport:
        """Do as ``append``, for ``run_sync``; with a ``ThreadRuntime``."""
        return _unwrapped(_run_sync(self._runtime, self._writing(messages)))

    def _reading(self) -> Effect[Sequence[ChatMessage], ReadError, ChatMemoryService]:
        return ChatMemoryService.use(lambda memory: memory.get_messages(self.conversation_id))

    def _writing(self, messages: Sequence[ModelMessage]) -> Effect[AddReport, AddError, ChatMemoryService]:
        drafts = list(_drafts(messages))
        return ChatMemoryService.use(lambda memory: memory.add_messages(self.conversation_id, drafts))


@dataclass
class LongTermMemories(AbstractCapability[AgentDepsT]):
    """Shows the model the long-term memories that belong to a user's message, and saves what the user says.

    They stand before the message in each request of the run, fenced as data, and in no history: the next run is shown
    what belongs to its own message.  The facts in the message become memories before the model answers, so that they
    are kept when it fails.

    Attributes:
        namespace: whose memories.
        runtime: gives ``LongTermMemoryService``, as for ``ChatMemoryHistory``.
        limit: memories at most; None: as configured.
        saves: whether what the user says is saved.
    """

    namespace: Namespace
    runtime: Runner[LongTermMemoryService]
    _: KW_ONLY
    limit: int | None = None
    saves: bool = True
    _shown: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False, compare=False)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:  # noqa: ARG002  the framework names it
        """Keep what one run was shown apart from the others."""
        return replace(self)

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the memories before the user's newest message, in this request alone."""
        messages = request_context.messages
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if isinstance(message, ModelRequest) and (asked := _asked(message)):
                if asked not in self._shown:  # once for all requests of a run
                    self._shown[asked] = await self._remembered(asked, ctx)
                if self._shown[asked]:
                    shown = _with_data(message, self._shown[asked])
                    request_context.messages = [*messages[:index], shown, *messages[index + 1 :]]
                break
        return request_context

    async def _remembered(self, asked: str, ctx: RunContext[AgentDepsT]) -> str:
        text = clean_text(asked)
        recalling = recalled_text(
            self.namespace, text, limit=self.limit, session_id=ctx.conversation_id, use_id=ctx.run_id
        )
        shown = _unwrapped(await _run(self.runtime, recalling))
        if self.saves and ctx.prompt is not None:
            # Afterwards, or the model would be told what it is being told.
            saving = LongTermMemoryService.use(
                lambda memory: memory.auto_save(self.namespace, text, session_id=ctx.conversation_id)
            )
            _unwrapped(await to_its_end(_run(self.runtime, saving)))
        return shown

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Stand in no specification of an agent: a runtime cannot be written down."""
        return None


async def _run(runtime: Runner[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
    with _as_theirs():
        return await runtime.run(effect)


def _run_sync(runtime: Runner[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
    if not isinstance(runtime, ThreadRuntime):
        raise UserError(
            f"a {type(runtime).__name__} runs in its event loop alone: give a ThreadRuntime, or await"
        )
    with _as_theirs():
        return runtime.run_blocking(effect)


@contextmanager
def _as_theirs() -> Generator[None]:
    """Raise what a runtime raises as what users of the framework catch."""
    try:
        yield
    except EffectInterrupted as closed:
        raise UserError("the runtime of this memory is closed") from closed
    except EffectFailed as failed:  # while the runtime was opening
        raise AgentRunError(str(failed.error)) from failed


def _unwrapped(outcome: Outcome[A, object]) -> A:
    if isinstance(outcome, Success):
        return outcome.unwrap()
    error = outcome.failure()
    kind = UserError if isinstance(error, DataValidationError) else AgentRunError
    raise kind(str(error)) from EffectFailed(error)


def _loaded(outcome: Outcome[Sequence[ChatMessage], ReadError]) -> list[ModelMessage]:
    if not isinstance(outcome, Success) and isinstance(outcome.failure(), ConversationNotFoundError):
        return []
    return [_model_message(message) for message in _unwrapped(outcome)]


def _drafts(messages: Sequence[ModelMessage]) -> Iterator[NewMessage]:
    """Yield what is to be stored; the same message gets the same id each time.

    Its JSON tells which one it is, runs and times among it.  Where it says the same twice, as nobody's clock does but a
    program may, the first and the second are two.
    """
    times = Counter[str]()
    for given in messages:
        if STORED_AS in (given.metadata or {}):
            continue
        message = _without_summaries(given)
        text = _json_text(message)
        times[text] += 1
        yield NewMessage(
            _role(message),
            clean_text(_readable(message))[:MAX_CONTENT_CHARACTERS],
            id=sha256(f"{times[text]} {text}".encode()).hexdigest(),
            timestamp=_said_at(message),
            metadata={AS_GIVEN: {NAME: _pieces(text)}},
        )


def _without_summaries(message: ModelMessage) -> ModelMessage:
    """Return what is left where the framework has merged a summary that was made here with the request behind it."""
    if isinstance(message, ModelResponse):
        return message
    parts = [part for part in message.parts if STORED_AS not in (getattr(part, "metadata", None) or {})]
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _json_text(message: ModelMessage) -> str:
    try:
        return ModelMessagesTypeAdapter.dump_json([message]).decode()
    except PydanticSerializationError as unwritable:
        raise UserError(f"a message that is no JSON cannot be stored: {unwritable}") from unwritable


def _pieces(text: str) -> list[str]:
    size = MAX_CONTENT_CHARACTERS
    return [text[start : start + size] for start in range(0, len(text), size)]


def _said_at(message: ModelMessage) -> datetime | None:
    """Return when it was said; None, for now, where it does not say or names no time zone."""
    times = [message.timestamp, *(getattr(part, "timestamp", None) for part in message.parts)]
    said_at = next((time for time in times if isinstance(time, datetime)), None)
    return said_at if said_at is not None and said_at.utcoffset() is not None else None


def _role(message: ModelMessage) -> Role:
    if isinstance(message, ModelResponse):
        return "assistant"
    if any(isinstance(part, BaseToolReturnPart) for part in message.parts):
        return "tool"  # no summary parts it from the call
    if any(isinstance(part, UserPromptPart | SpeechPart) for part in message.parts):
        return "user"
    if any(isinstance(part, SystemPromptPart) for part in message.parts):
        return "system"
    return "user"


def _readable(message: ModelMessage) -> str:
    """Return what a person, a search or a summary can read in a message; the kinds of its parts when there is no text."""
    # What a model thinks is between it and its provider.
    texts = [_text_of(part) for part in message.parts]
    return "\n".join(filter(None, texts)) or " ".join(f"[{part.part_kind}]" for part in message.parts)


def _text_of(part: object) -> str:
    match part:
        case UserPromptPart():
            return _said(part)
        case BaseToolCallPart():
            return f"{part.tool_name}({part.args_as_json_str()})"
        case BaseToolReturnPart():
            return part.model_response_str()
        case RetryFeedbackPart():
            return part.model_response()
        case TextPart() | SystemPromptPart() | SpeechPart() | CompactionPart():
            return part.content or ""
        case _:
            return ""


def _asked(request: ModelRequest) -> str:
    return "\n".join(_said(part) for part in request.parts if isinstance(part, UserPromptPart))


def _with_data(request: ModelRequest, data: str) -> ModelRequest:
    """Return the request with *data* before what the user says, and behind the results of tools."""
    at = next(index for index, part in enumerate(request.parts) if isinstance(part, UserPromptPart))
    return replace(request, parts=[*request.parts[:at], UserPromptPart(data), *request.parts[at:]])


def _said(part: UserPromptPart) -> str:
    content = (part.content,) if isinstance(part.content, str) else part.content
    return "\n".join(filter(None, map(_text_in, content)))


def _text_in(content: UserContent) -> str:
    match content:
        case str():
            return content
        case TextContent():
            return content.content
        case _:
            return f"[{content.kind}]"


def _model_message(message: ChatMessage) -> ModelMessage:
    """Return the message that is stored there, or one that says what it says."""
    as_given = (message.metadata or {}).get(AS_GIVEN)
    if not isinstance(as_given, Mapping) or NAME not in as_given:
        return _made_message(message)
    try:
        (known,) = ModelMessagesTypeAdapter.validate_json("".join(cast("Sequence[str]", as_given[NAME])))
    except (ValidationError, TypeError) as unreadable:
        raise UserError(
            f"message {message.id!r} is none of pydantic-ai {__version__}: {unreadable}"
        ) from unreadable
    return known


def _made_message(message: ChatMessage) -> ModelMessage:
    marks: dict[str, Any] = {STORED_AS: message.id}
    if message.role == "assistant":
        return ModelResponse([TextPart(message.content)], timestamp=message.timestamp, metadata=marks)
    part: ModelRequestPart
    match message.role:
        case "summary":
            line = message_line(message)
            fence = fresh_fence([line], Random(message.id))  # noqa: S311  the same each time, for caches of prompts
            part = CompactionPart(recalled_block([line], fence=fence, notice=SUMMARY_NOTICE), metadata=marks)
        case "system":
            part = SystemPromptPart(message.content, timestamp=message.timestamp)
        case _:
            part = UserPromptPart(message.content, timestamp=message.timestamp)
    return ModelRequest([part], timestamp=message.timestamp, metadata=marks)
