"""``ChatMemoryHistory``: the messages of an agent's runs in a conversation of chatmemory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from random import Random
from typing import Any, Final, cast

from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    CompactionPart,
    ModelMessage,
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

from chatmemory.context.recalled_block import SUMMARY_NOTICE, message_line, recalled_block
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import AddReport, ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Runner
from chatmemory.errors import AddError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, clean_text
from chatmemory.integrations.pydantic_ai.framework import RAISING, json_text, message_of
from chatmemory.integrations.raising import blocking, to_its_end
from chatmemory.integrations.stored_messages import stored_messages
from chatmemory.text.fence import fresh_fence

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
        return _loaded(await RAISING.run(self._runtime, stored_messages(self.conversation_id)))

    async def append(self, messages: Sequence[ModelMessage]) -> AddReport:
        """Store *messages* at the end, all or none: ``result.new_messages()`` after each run.

        A message that is stored already is stored once, so that a run whose append was cancelled, or ended with the
        program, is appended again without a thought.
        """
        return await to_its_end(RAISING.run(self._runtime, self._writing(messages)))

    def load_sync(self) -> list[ModelMessage]:
        """Do as ``load``, for ``run_sync``; with a ``ThreadRuntime``."""
        return _loaded(RAISING.run_blocking(blocking(self._runtime), stored_messages(self.conversation_id)))

    def append_sync(self, messages: Sequence[ModelMessage]) -> AddReport:
        """Do as ``append``, for ``run_sync``; with a ``ThreadRuntime``."""
        return RAISING.run_blocking(blocking(self._runtime), self._writing(messages))

    def _writing(self, messages: Sequence[ModelMessage]) -> Effect[AddReport, AddError, ChatMemoryService]:
        drafts = list(_drafts(messages))
        return ChatMemoryService.use(lambda memory: memory.add_messages(self.conversation_id, drafts))


def _loaded(stored: Sequence[ChatMessage]) -> list[ModelMessage]:
    return list(map(_model_message, stored))


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
        text = json_text(message)
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
    """Return what a user says in words, and the kinds of what else is there."""
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
        text = "".join(cast("Sequence[str]", as_given[NAME]))
    except TypeError:
        text = ""
    return message_of(text, name=f"message {message.id!r}")


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
