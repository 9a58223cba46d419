"""Converts a ``ChatMessage`` of LlamaIndex into a message of a conversation, and back.

The role and the readable text are stored as such; the JSON of the message is stored in the metadata.  A message that
would not come back equal is refused when it is stored, not when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from llama_index.core import __version__
from llama_index.core.base.llms.types import (
    BaseContentBlock,
    BaseRecursiveContentBlock,
    ChatMessage,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from pydantic import BaseModel

from chatmemory.conversation import messages as stored
from chatmemory.conversation.new_message import NewMessage
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN, JsonObject, readable
from chatmemory.integrations.as_given import given_text, in_pieces, storable_content
from chatmemory.integrations.raising import Raising
from chatmemory.integrations.recalled_text import summary_block

RAISING: Final = Raising(refused=ValueError, failed=RuntimeError, closed=RuntimeError)

NAME: Final = "llamaIndex"
"""The name under ``AS_GIVEN`` of a message's JSON, in pieces that every store accepts: images may be long."""

ROLES: Final[Mapping[MessageRole, Role]] = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.USER: "user",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
SPOKEN_AS: Final[Mapping[Role, MessageRole]] = {
    "user": MessageRole.USER,
    "system": MessageRole.SYSTEM,
    "tool": MessageRole.TOOL,
}

Place: TypeAlias = tuple[str | int, ...]


def draft_of(message: ChatMessage) -> NewMessage:
    """Return the message to store.

    Raises:
        ValueError: *message* has a value that JSON cannot hold, or that would come back as another one.
    """
    try:
        text = json.dumps(message.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
        back = _restored(text)
    except (AttributeError, TypeError, ValueError, RecursionError) as unwritable:
        msg = f"a message that is no JSON cannot be stored ({unwritable}): put text, numbers, lists and dicts into it"
        raise ValueError(msg) from unwritable
    place = _difference(message, back)
    if place is not None:
        msg = f"{place} of a message would come back as another value: put text, numbers, lists and dicts there, and bytes where a block has them"
        raise ValueError(msg)
    content = storable_content(_readable(message))
    metadata: JsonObject = {AS_GIVEN: {NAME: in_pieces(readable(text))}}
    return NewMessage(ROLES.get(message.role, "assistant"), content, metadata=metadata)


def message_of(message: stored.ChatMessage | NewMessage) -> ChatMessage:
    """Return the message of the framework in the metadata, or one made of the stored text.

    Raises:
        RuntimeError: the metadata holds a message of another version of the framework, which this one cannot read.
    """
    try:
        text = given_text(message.metadata, NAME)
        if text is not None:
            return _restored(text)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as unreadable:
        msg = f"message {message.id!r} is none of LlamaIndex {__version__}: {unreadable}"
        raise RuntimeError(msg) from unreadable
    if isinstance(message, stored.ChatMessage) and message.role == "summary":
        return ChatMessage(summary_block(message), role=MessageRole.USER)
    return ChatMessage(message.content, role=SPOKEN_AS.get(message.role, MessageRole.ASSISTANT))


def _restored(text: str) -> ChatMessage:
    """Return the message in *text*; a path in it may name a file that is gone, which the framework's check refuses."""
    payload = json.loads(text)
    gone = list(_files_gone(payload.get("blocks"), ()))
    for place, _ in gone:
        _at(payload["blocks"], place)["path"] = None
    message = ChatMessage.model_validate(payload)
    for place, path in gone:
        _at(message.blocks, place).path = Path(path)
    return message


def _files_gone(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """Yield the blocks with a path to no file, and the path."""
    if isinstance(value, list):
        for index, one in enumerate(cast("list[object]", value)):
            yield from _files_gone(one, (*place, index))
    elif isinstance(value, dict) and "block_type" in value:
        block = cast("dict[str, Any]", value)
        path = block.get("path")
        if isinstance(path, str) and not Path(path).is_file():
            yield place, path
        for nested in ("content", "cited_content"):
            yield from _files_gone(block.get(nested), (*place, nested))


def _at(value: Any, place: Place) -> Any:
    for step in place:
        # mypy: a place leads through fields of models and keys of their contents alike
        value = getattr(value, step) if isinstance(value, BaseModel) else value[step]  # type: ignore[arg-type]
    return value


def _difference(given: object, back: object, place: str = "") -> str | None:
    """Return the first place where *back* is another value than *given*; None when they are equal.

    A model of Pydantic among the additional values comes back as the dict of its fields, as in every store of the
    framework, and a tuple as a list.
    """
    if isinstance(given, BaseModel) and type(given) is not type(back) and isinstance(back, dict):
        given = given.model_dump()
    if isinstance(given, BaseModel) and isinstance(back, BaseModel) and type(given) is type(back):
        given, back = dict(given), dict(back)
    if isinstance(given, dict) and isinstance(back, dict):
        old, new = cast("dict[str, object]", given), cast("dict[str, object]", back)
        if old.keys() != new.keys():
            return place or "the message"
        pairs = [(f"{place}.{name}".lstrip("."), old[name], new[name]) for name in old]
    elif isinstance(given, list | tuple) and isinstance(back, list):
        old_list, new_list = cast("Sequence[object]", given), cast("Sequence[object]", back)
        if len(old_list) != len(new_list):
            return place or "the message"
        pairs = [(f"{place}[{at}]", *two) for at, two in enumerate(zip(old_list, new_list, strict=True))]
    else:
        is_equal = given == back and isinstance(given, bool) == isinstance(back, bool)
        return None if is_equal else place or "the message"
    return next(filter(None, (_difference(old, new, where) for where, old, new in pairs)), None)


def _readable(message: ChatMessage) -> str:
    """Return the readable text of a message; the kinds of its blocks if it is empty."""
    texts = [*map(_text_of, message.blocks), *_older_calls(message)]
    return "\n".join(filter(None, texts)) or " ".join(f"[{_kind(block)}]" for block in message.blocks)


def _text_of(block: BaseContentBlock) -> str:
    match block:
        case TextBlock():
            return block.text
        case ToolCallBlock(tool_kwargs=str(arguments)):
            return f"{block.tool_name}({arguments})"
        case ToolCallBlock():
            return f"{block.tool_name}({json.dumps(block.tool_kwargs, ensure_ascii=False)})"
        case ThinkingBlock():  # the thoughts of a model are between it and its provider
            return ""
        case BaseRecursiveContentBlock():
            return "\n".join(filter(None, map(_text_of, block.nested_blocks)))
        case _:
            return ""


def _kind(block: BaseContentBlock) -> str:
    return str(getattr(block, "block_type", "block"))


def _older_calls(message: ChatMessage) -> Iterator[str]:
    """Yield the calls that models write into ``additional_kwargs`` instead of blocks."""
    calls = message.additional_kwargs.get("tool_calls")
    for call in cast("list[object]", calls) if isinstance(calls, list) else []:
        fields: object = call.model_dump() if isinstance(call, BaseModel) else call
        match fields:
            case {"function": {"name": str(name), "arguments": object() as arguments}}:
                yield f"{name}({arguments})"
            case _:  # of a provider that writes them otherwise: they stay in the metadata
                pass
