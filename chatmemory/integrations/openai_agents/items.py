"""Conversions between an item of the OpenAI Agents SDK and a message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, cast

from agents import TResponseInputItem

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, clean_text
from chatmemory.integrations.recalled_text import summary_block

ITEM: Final = "openaiAgentsItem"
"""The name of a message's item under ``AS_GIVEN``."""

ITEM_TEXT: Final = "openaiAgentsItemText"
"""The name of the item as JSON text in pieces, for an item that the store cannot return exactly in another way: with a
NUL in it."""

ROLES: Final[dict[object, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
SPOKEN_AS: Final[dict[Role, str]] = {"user": "user", "assistant": "assistant", "system": "system"}


def message_of(item: object, as_given: dict[str, Any]) -> NewMessage:
    """Return the message of an item.

    Args:
        item: the item from the SDK.
        as_given: the item in the form for the message's metadata.
    """
    fields: Mapping[str, object] = cast("Mapping[str, object]", item) if isinstance(item, Mapping) else {}
    # A call, its result and the thinking before them have the role tool, so that no summary separates them.
    role: Role = ROLES.get(fields.get("role"), "tool")
    content = clean_text(_readable(fields))[:MAX_CONTENT_CHARACTERS]
    return NewMessage(role, content, metadata={AS_GIVEN: as_given})


def _readable(fields: Mapping[str, object]) -> str:
    """Return the text of an item that a person, a search or a summary can read; its kind if the text is empty."""
    match fields:
        case {"name": str(name), "arguments": str(arguments)}:
            return f"{name}({arguments})"
        case {"content": content} | {"output": content} | {"summary": content}:
            return _text_of(content)
        case _:
            return f"[{fields.get('type', 'item')}]"


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text_of, cast("list[object]", content))))
    match content:
        case {"text": str(text)} | {"refusal": str(text)} | {"transcript": str(text)}:
            return text
        case {"type": str(kind)}:
            return f"[{kind}]"
        case _:
            return ""


def in_pieces(item: object) -> dict[str, Any]:
    """Return an item as JSON text in pieces, for a store that refuses the item itself.

    Raises:
        TypeError: it is not JSON.
    """
    text = json.dumps(item)  # ASCII: characters that cannot be stored are written as escapes
    size = MAX_CONTENT_CHARACTERS
    return {ITEM_TEXT: [text[start : start + size] for start in range(0, len(text), size)]}


def items_of(messages: Sequence[ChatMessage]) -> list[TResponseInputItem]:
    """Return the items; an answer right after a summary loses its id.

    The API requires the thinking of an answer that has an id, and the thinking may be summarized.
    """
    items = [item_of(message) for message in messages]
    for index, (before, message) in enumerate(pairwise(messages), start=1):
        if before.role == "summary" and message.role == "assistant":
            fields = cast("Mapping[str, Any]", items[index])
            free = {name: value for name, value in fields.items() if name != "id"}
            items[index] = cast("TResponseInputItem", free)
    return items


def item_of(message: ChatMessage) -> TResponseInputItem:
    """Return the item in the message's metadata, or one with the message's text."""
    if message.role == "summary":
        return _said("user", summary_block(message))
    try:
        given = cast("Mapping[str, Any]", (message.metadata or {})[AS_GIVEN])
        kept = json.loads("".join(given[ITEM_TEXT])) if ITEM_TEXT in given else given[ITEM]
    except (KeyError, TypeError, ValueError):  # the message has another origin
        return _said(SPOKEN_AS.get(message.role, "assistant"), message.content)
    return cast("TResponseInputItem", kept)


def _said(role: str, content: str) -> TResponseInputItem:
    return cast("TResponseInputItem", {"role": role, "content": content})
