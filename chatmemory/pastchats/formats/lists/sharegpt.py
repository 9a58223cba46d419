"""ShareGPT: ``[{"id": ..., "conversations": [{"from": "human", "value": ...}]}]``, the format of chat data sets.

One conversation per line, the original dump (``items``), and pairs of ``human`` and ``assistant`` are read too.
"""

from collections.abc import Iterator
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_object, json_text
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.role_names import role_of
from chatmemory.pastchats.formats.shapes.listed_turns import content_in, listed_turns
from chatmemory.pastchats.formats.shapes.message_lists import Holder, listed_messages, looked_at, pattern_of

_LISTS: Final = ("conversations", "conversation", "items")
_TEXTS: Final = ("value", "text", "markdown")
_CALLS: Final = frozenset({"function_call", "tool_call"})


def _claim(head: Head) -> Claim | None:
    """Claim lists of ``from`` and ``value``."""
    pattern = pattern_of(looked_at(head), _LISTS, _is_message)
    if pattern is None:
        return None
    if pattern and pattern[-1] in _LISTS:
        return Claim(88, f"«{pattern[-1]}» of «from» and «value»")
    return Claim(65, "messages of «from» and «value»")


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    begun: Holder | None = None
    conversation_id = ""
    for found in listed_messages(reader, _LISTS, _is_message):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        message, holder = json_object(found[0]), found[1]
        if holder is not begun:
            begun, conversation_id = holder, holder.conversation_id("sharegpt", reader.path)
            system = json_text(holder.fields.get("system") or holder.fields.get("system_prompt"))
            if system:
                parts = content_in(system)
                yield from listed_turns(parts, {}, holder, conversation_id=conversation_id, role="system")
        if not _is_message(message):
            yield UnknownRecord(f"from {json_text(message.get('from')) or 'none'}")
        for role, value in _said(message):
            yield from listed_turns(
                content_in(value),
                message,
                holder,
                conversation_id=conversation_id,
                role=role,
            )


def _said(message: JsonObject) -> Iterator[tuple[Role, Json]]:
    """Yield each role and its text in *message*; the call of a tool has no text."""
    if _is_pair(message):
        yield "user", message.get("human")
        yield "assistant", message.get("assistant")
        return
    role = role_of(json_text(message.get("from")))
    if role is not None:
        yield role, next((message[name] for name in _TEXTS if message.get(name)), None)


def _is_message(value: Json) -> bool:
    message = json_object(value)
    if _is_pair(message):
        return True
    name = json_text(message.get("from")).casefold()
    return (role_of(name) is not None or name in _CALLS) and any(text in message for text in _TEXTS)


def _is_pair(message: JsonObject) -> bool:
    return isinstance(message.get("human"), str) and isinstance(message.get("assistant"), str)


sharegpt: Final = FileFormat("sharegpt", _claim, _parse)
