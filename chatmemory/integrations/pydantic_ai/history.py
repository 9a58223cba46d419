"""``ChatMemoryHistory``: the messages of an agent's runs in a conversation of chatmemory.

``json_text`` and ``message_of`` convert a message of pydantic-ai to the JSON that the framework writes, and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from pydantic import ValidationError
from pydantic_ai import __version__
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
from pydantic_core import PydanticSerializationError

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import AddReport, ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Runner
from chatmemory.errors import AddError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN, json_object
from chatmemory.integrations.as_given import given_text, in_pieces, storable_content
from chatmemory.integrations.raising import Raising, blocking, to_its_end
from chatmemory.integrations.recalled_text import summary_block
from chatmemory.integrations.stored_messages import cleared_messages, stored_messages

RAISING: Final = Raising(refused=UserError, failed=AgentRunError, closed=UserError)

NAME: Final = "pydanticAi"
"""The name under ``AS_GIVEN`` of a message's JSON, in pieces that every store accepts: files may be long."""

PROMPT_OF: Final = "pydanticAiPromptOf"
"""The name under ``AS_GIVEN`` by which a separate system prompt names the request that it is part of."""

STORED_AS: Final = "chatmemoryMessage"
"""The metadata field with the id of the stored message from which a message was made: the message is not stored
again."""


class ChatMemoryHistory:
    """The history *conversation_id*: the conversation with that id.

    *runtime* provides ``ChatMemoryService``: a ``ThreadRuntime`` works with any event loop and thread, and with the
    methods whose names end in ``sync``; a ``ManagedRuntime`` works with its own event loop, faster.  The history does
    not close it.

    The system prompt of an agent is part of its first request.  It is also stored as a separate message, which no
    summary covers: when the request is summarized, the prompt is still at the beginning.

    Input that chatmemory refuses raises ``UserError``, any other failure ``AgentRunError``, each with chatmemory's
    own message; ``__cause__.error`` is the failure as a value.
    """

    def __init__(self, conversation_id: str, runtime: Runner[ChatMemoryService]) -> None:
        """Store the arguments; nothing is opened yet."""
        self.conversation_id = conversation_id
        self._runtime = runtime

    async def load(self) -> list[ModelMessage]:
        """Return the messages that a model should see, oldest first, for ``message_history=``; an empty list for a new conversation."""
        return _loaded(await RAISING.run(self._runtime, stored_messages(self.conversation_id)))

    async def append(self, messages: Sequence[ModelMessage]) -> AddReport:
        """Append *messages*, all or none: ``result.new_messages()`` after each run.

        A message that is stored already is stored once, so a run whose append was cancelled, or ended with the
        program, can be appended again.
        """
        return await to_its_end(RAISING.run(self._runtime, self._writing(messages)))

    async def clear(self) -> int:
        """Delete the messages and their summaries, and return the number of messages."""
        return await to_its_end(RAISING.run(self._runtime, cleared_messages(self.conversation_id)))

    def load_sync(self) -> list[ModelMessage]:
        """Do what ``load`` does, for ``run_sync``; with a ``ThreadRuntime``."""
        return _loaded(RAISING.run_blocking(blocking(self._runtime), stored_messages(self.conversation_id)))

    def append_sync(self, messages: Sequence[ModelMessage]) -> AddReport:
        """Do what ``append`` does, for ``run_sync``; with a ``ThreadRuntime``."""
        return RAISING.run_blocking(blocking(self._runtime), self._writing(messages))

    def clear_sync(self) -> int:
        """Do what ``clear`` does, for ``run_sync``; with a ``ThreadRuntime``."""
        return RAISING.run_blocking(blocking(self._runtime), cleared_messages(self.conversation_id))

    def _writing(self, messages: Sequence[ModelMessage]) -> Effect[AddReport, AddError, ChatMemoryService]:
        drafts = list(_drafts(messages))
        return ChatMemoryService.use(lambda memory: memory.add_messages(self.conversation_id, drafts))


def _loaded(stored: Sequence[ChatMessage]) -> list[ModelMessage]:
    """Return the messages, with a separate system prompt only when its request is not among them."""
    ids = {message.id for message in stored}
    return [_model_message(message) for message in stored if _prompt_of(message) not in ids]


def _prompt_of(message: ChatMessage) -> str | None:
    """Return the id of the request whose system prompt *message* holds; None: it holds none."""
    request = json_object(json_object(message.metadata).get(AS_GIVEN)).get(PROMPT_OF)
    return request if isinstance(request, str) else None


def _drafts(messages: Sequence[ModelMessage]) -> Iterator[NewMessage]:
    """Yield the messages to store; the same message gets the same id each time.

    Its JSON identifies it, with its runs and times.  When a program repeats the same JSON, the first and the second
    message are different.
    """
    times = Counter[str]()
    for given in messages:
        if STORED_AS in (given.metadata or {}):
            continue
        message = _without_summaries(given)
        text = json_text(message)
        times[text] += 1
        id_ = sha256(f"{times[text]} {text}".encode()).hexdigest()
        yield from _prompt_drafts(message, id_)
        yield NewMessage(
            _role(message),
            storable_content(_readable(message)),
            id=id_,
            timestamp=_said_at(message),
            metadata={AS_GIVEN: {NAME: in_pieces(text)}},
        )


def _prompt_drafts(message: ModelMessage, id_: str) -> Iterator[NewMessage]:
    """Yield the system prompt of the request *id_* as a separate message, if the request has other parts, too."""
    parts = [part for part in message.parts if isinstance(part, SystemPromptPart)]
    if isinstance(message, ModelResponse) or not parts or len(parts) == len(message.parts):
        return
    prompt = ModelRequest(parts)
    yield NewMessage(
        "system",
        storable_content(_readable(prompt)),
        id=sha256(f"prompt {id_}".encode()).hexdigest(),
        timestamp=_said_at(message),
        metadata={AS_GIVEN: {NAME: in_pieces(json_text(prompt)), PROMPT_OF: id_}},
    )


def _without_summaries(message: ModelMessage) -> ModelMessage:
    """Return *message* without the summary that the framework has merged with the request after it.

    System prompts, which no summary covers, are before it and are removed too; they are stored separately.
    """
    if isinstance(message, ModelResponse):
        return message
    made = [
        index
        for index, part in enumerate(message.parts)
        if STORED_AS in (getattr(part, "metadata", None) or {})
    ]
    return replace(message, parts=message.parts[made[-1] + 1 :]) if made else message


def _said_at(message: ModelMessage) -> datetime | None:
    """Return the time of the message; None, meaning now, without a time or a time zone."""
    times = [message.timestamp, *(getattr(part, "timestamp", None) for part in message.parts)]
    said_at = next((time for time in times if isinstance(time, datetime)), None)
    return said_at if said_at is not None and said_at.utcoffset() is not None else None


def _role(message: ModelMessage) -> Role:
    if isinstance(message, ModelResponse):
        return "assistant"
    if any(isinstance(part, BaseToolReturnPart) for part in message.parts):
        return "tool"  # so that no summary separates it from the call
    if any(isinstance(part, UserPromptPart | SpeechPart) for part in message.parts):
        return "user"
    if any(isinstance(part, SystemPromptPart) for part in message.parts):
        return "system"
    return "user"


def _readable(message: ModelMessage) -> str:
    """Return the text of a message that a person, a search or a summary can read; the kinds of its parts if it is empty."""
    # The thoughts of a model are between it and its provider.
    texts = [_text_of(part) for part in message.parts]
    return "\n".join(filter(None, texts)) or " ".join(f"[{part.part_kind}]" for part in message.parts)


def _text_of(part: object) -> str:
    match part:
        case UserPromptPart():
            return said_in(part)
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


def said_in(part: UserPromptPart) -> str:
    """Return the text of a user, and the kinds of other contents."""
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
    """Return the message in the metadata, or one with the stored text."""
    try:
        text = given_text(message.metadata, NAME)
    except TypeError:
        text = ""
    if text is None:
        return _made_message(message)
    made = message_of(text, name=f"message {message.id!r}")
    return made if _prompt_of(message) is None else replace(made, metadata={STORED_AS: message.id})


def _made_message(message: ChatMessage) -> ModelMessage:
    marks: dict[str, Any] = {STORED_AS: message.id}
    if message.role == "assistant":
        return ModelResponse([TextPart(message.content)], timestamp=message.timestamp, metadata=marks)
    part: ModelRequestPart
    match message.role:
        case "summary":
            part = CompactionPart(summary_block(message), metadata=marks)
        case "system":
            part = SystemPromptPart(message.content, timestamp=message.timestamp)
        case _:
            part = UserPromptPart(message.content, timestamp=message.timestamp)
    return ModelRequest([part], timestamp=message.timestamp, metadata=marks)


def json_text(message: ModelMessage) -> str:
    """Return *message* as JSON, in a list of one message, as pydantic-ai writes it."""
    try:
        return ModelMessagesTypeAdapter.dump_json([message]).decode()
    except PydanticSerializationError as unwritable:
        raise UserError(f"a message that is no JSON cannot be stored: {unwritable}") from unwritable


def message_of(text: str, *, name: str) -> ModelMessage:
    """Return the message in the JSON *text*; *name* is its name in an error."""
    try:
        (message,) = ModelMessagesTypeAdapter.validate_json(text)
    except (ValidationError, ValueError) as unreadable:
        raise UserError(f"{name} is none of pydantic-ai {__version__}: {unreadable}") from unreadable
    return message
