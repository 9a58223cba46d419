"""LangChain: message histories that ``messages_to_dict``, ``dumpd`` or a model's own ``model_dump`` write.

Also the state of a LangGraph thread (``values.messages``), and one message or one history per line.
"""

from collections.abc import Iterator
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_items, json_object, json_text
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.role_names import role_of
from chatmemory.pastchats.formats.shapes.listed_turns import content_in, listed_turns, note_calls
from chatmemory.pastchats.formats.shapes.message_lists import listed_messages, looked_at, pattern_of

_LISTS: Final = ("messages", "history", "chat_history")

_ROLES: Final[dict[str, Role]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_ENDINGS: Final = ("MessageChunk", "Message")
"""Suffixes of class names: ``HumanMessage``, ``AIMessageChunk``."""


def _claim(head: Head) -> Claim | None:
    """Claim lists of LangChain's messages in one of their three forms."""
    if pattern_of(looked_at(head), _LISTS, _is_spoken) is None:
        return None
    if '"lc"' in head.text:
        return Claim(92, "messages with «lc» and «kwargs»")
    if '"data"' in head.text:
        return Claim(85, "messages with «type» human or ai, and «data»")
    return Claim(75, "messages with «type» human or ai, and «content»")


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    for found in listed_messages(reader, _LISTS, _is_message):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        value, holder = found
        type_name, data = _undressed(value)
        # The writer of a ``ChatMessage`` chose its role.
        role = (
            role_of(json_text(data.get("role"))) or "user" if type_name == "chat" else _ROLES.get(type_name)
        )
        if role is None:
            yield UnknownRecord(type_name or "no message")
            continue
        parts = content_in(data.get("content"))
        note_calls(parts, data)
        if not parts.tool_calls:
            note_calls(parts, json_object(data.get("additional_kwargs")))
        name = json_text(data.get("name"))
        # Here the result of a tool is a message with its own role in the history, so it is a turn of its own.
        yield from listed_turns(
            parts,
            data,
            holder,
            conversation_id=holder.conversation_id("langchain", reader.path),
            role=role,
            kind="typed",
            native_id=json_text(data.get("id")),
            speaker=name or None if role in ("user", "assistant") else None,
        )


def _undressed(value: Json) -> tuple[str, JsonObject]:
    """Return the type of a message and its fields; "" as the type when the value is not a message."""
    message = json_object(value)
    kwargs, data = message.get("kwargs"), message.get("data")
    ids = json_items(message.get("id")) if isinstance(kwargs, dict) else ()
    name = json_text(ids[-1] if ids else message.get("type"))
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    if ids:
        return name.casefold(), json_object(kwargs)
    if isinstance(data, dict):
        return name.casefold(), json_object(data)
    return (name.casefold() if "content" in message else ""), message


def _is_message(value: Json) -> bool:
    type_name, data = _undressed(value)
    return (type_name in _ROLES or type_name == "chat") and "content" in data


def _is_spoken(value: Json) -> bool:
    """Return whether *value* is a message of a type that only LangChain has; other tools use «system» and «tool» too."""
    return _undressed(value)[0] in {"human", "ai", "chat"} and _is_message(value)


langchain: Final = FileFormat("langchain", _claim, _parse)
