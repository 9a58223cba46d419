"""Converts messages of Agent Framework into messages of a conversation, and back.

The role and the readable text are stored as such; the JSON that ``Message.to_dict`` writes is stored in the metadata.
``history_provider.py`` decides which messages are stored, and when.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias, cast

from agent_framework import Content, Message, __version__
from agent_framework.exceptions import (
    IntegrationException,
    IntegrationInvalidRequestException,
    IntegrationInvalidResponseException,
)

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN, readable
from chatmemory.integrations.as_given import given_text, in_pieces, storable_content
from chatmemory.integrations.raising import Raising
from chatmemory.integrations.recalled_text import summary_block

RAISING: Final = Raising(
    refused=IntegrationInvalidRequestException, failed=IntegrationException, closed=IntegrationException
)


Payload: TypeAlias = dict[str, Any]
"""A message as ``Message.to_dict`` writes it."""

Identity: TypeAlias = tuple[str, str]

NAME: Final = "agentFramework"
"""The name under ``AS_GIVEN`` of a message's JSON, in pieces that every store accepts: files may be long."""

SUMMARY_OF: Final = "chatmemorySummary"
"""The property that holds the id of the summary from which a message was made: the message is not stored again."""

ROLES: Final[dict[str, Role]] = {"user": "user", "system": "system", "developer": "system", "tool": "tool"}
SPOKEN_AS: Final[dict[Role, str]] = {"user": "user", "system": "system"}

ANSWERS: Final = frozenset({"computer_tool_result", "function_approval_response", "function_result"})
"""Types of contents that have no meaning without the call that they answer, which is in an earlier message."""


def drafts(messages: Sequence[Message]) -> Iterator[NewMessage]:
    """Yield the messages to store; summaries are left out, because they are stored already."""
    for message in messages:
        if SUMMARY_OF in message.additional_properties:
            continue
        try:
            text = readable(json.dumps(message.to_dict(), ensure_ascii=False))
        except (TypeError, ValueError, RecursionError) as unwritable:
            raise IntegrationInvalidRequestException(
                f"a message that is no JSON cannot be stored: {unwritable}"
            ) from unwritable
        content = storable_content(_readable(message))
        yield NewMessage(_role(message), content, metadata={AS_GIVEN: {NAME: in_pieces(text)}})


def message_of(message: ChatMessage) -> Message:
    """Return the message of the framework in the metadata, or one made of the stored text."""
    payload = _payload(message)
    try:
        return Message.from_dict(payload)
    except (AttributeError, KeyError, TypeError, ValueError) as unreadable:
        raise _unreadable(message, unreadable) from unreadable


def identity_of(message: ChatMessage | NewMessage) -> Identity:
    """Return the value by which two messages count as the same: the id, or the role and the text without one."""
    payload = _payload(message)
    if payload.get("message_id") is not None:
        return ("", str(payload["message_id"]))
    return (str(payload.get("role")), json.dumps(payload.get("contents"), sort_keys=True))


def _role(message: Message) -> Role:
    if any(content.type in ANSWERS for content in message.contents):
        return "tool"  # so that no summary separates it from the call
    return ROLES.get(message.role, "assistant")


def _readable(message: Message) -> str:
    """Return the readable text of a message; the kinds of its contents if it is empty."""
    texts = filter(None, map(_text_of, message.contents))
    return "\n".join(texts) or " ".join(f"[{content.type}]" for content in message.contents)


def _text_of(content: Content) -> str:
    match content.type:
        case "text":
            return content.text or ""
        case "text_reasoning" | "usage":  # the thoughts of a model are between it and its provider
            return ""
        case "error":
            return content.message or ""
        case "function_call" | "mcp_server_tool_call" | "search_tool_call":
            arguments = content.arguments
            return f"{content.name or content.tool_name}({'' if arguments is None else _told(arguments)})"
        case "function_result":
            return _unescaped(_results_of(content))
        case "function_approval_request":
            return f"{_told(content.function_call)}?"
        case "function_approval_response":
            return f"{'approved' if content.approved else 'refused'}: {_told(content.function_call)}"
        case "data" | "uri":
            return f"[{content.media_type or content.type}]"
        case _:
            return _results_of(content) or f"[{content.name or content.type}]"


def _results_of(content: Content) -> str:
    """Return the text in the input or the output of a tool."""
    results = (
        content.commands,
        content.stdout,
        content.stderr,
        content.inputs,
        content.items or content.result,
    )
    return "\n".join(filter(None, map(_told, (*results, content.outputs, content.output))))


def _unescaped(text: str) -> str:
    """Return JSON with its Unicode letters unescaped; the framework writes the results of tools in ASCII."""
    if "\\u" in text:
        with suppress(ValueError, RecursionError):
            return json.dumps(json.loads(text), ensure_ascii=False)
    return text


def _told(part: object) -> str:
    match part:
        case None:
            return ""
        case str():
            return part
        case Content():
            return _text_of(part)
        case list():
            return "\n".join(map(_told, cast("list[object]", part)))
        case _:
            return json.dumps(part, ensure_ascii=False, default=str)


def _payload(message: ChatMessage | NewMessage) -> Payload:
    try:
        text = given_text(message.metadata, NAME)
        kept: object = _made_payload(message) if text is None else json.loads(text)
    except (TypeError, ValueError, RecursionError) as unreadable:
        raise _unreadable(message, unreadable) from unreadable
    if not isinstance(kept, dict):
        raise _unreadable(message, f"{type(kept).__name__} is no JSON object")
    return cast("Payload", kept)


def _made_payload(message: ChatMessage | NewMessage) -> Payload:
    if not isinstance(message, ChatMessage) or message.role != "summary":
        return Message(SPOKEN_AS.get(message.role, "assistant"), [message.content]).to_dict()
    return Message("user", [summary_block(message)], additional_properties={SUMMARY_OF: message.id}).to_dict()


def _unreadable(message: ChatMessage | NewMessage, reason: object) -> IntegrationInvalidResponseException:
    return IntegrationInvalidResponseException(
        f"message {message.id!r} is none of Agent Framework {__version__}: {reason}"
    )
