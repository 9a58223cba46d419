"""OpenAI chat JSONL: ``{"messages": [...]}`` in each line, the format for fine-tuning, evaluations and batches.

The lines of preference tuning (``input`` and two outputs) and of the Batch API (``body``, ``response``) are read too.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from chatmemory.input.json_value import (
    Json,
    JsonObject,
    first_text,
    json_items,
    json_object,
    json_objects,
    json_text,
    value_at,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.role_names import role_of
from chatmemory.pastchats.formats.shapes.listed_turns import content_in, listed_turns, note_calls
from chatmemory.pastchats.formats.shapes.message_lists import Holder

_BESIDE: Final = frozenset({"tools", "functions", "parallel_tool_calls", "response_format"})
"""Members that only a request to the API, or an example for it, has next to its messages."""

_PLAIN: Final = frozenset({"messages", "model", "weight", "metadata", "temperature", "max_tokens", "seed"})


def _claim(head: Head) -> Claim | None:
    """Claim lines whose messages all have a role of OpenAI's API and content in its form."""
    records = [json_object(record) for record in head.records]
    chats = [messages for messages in map(_messages, records) if messages]
    if len(chats) * 2 < len(records) or not chats:
        return None
    if not all(_is_message(message) for messages in chats for message in messages):
        return None
    beside = {name for record in records for name in record}
    has_batches = {"custom_id", "body"} <= beside or {"custom_id", "response"} <= beside
    if has_batches or beside & _BESIDE or "preferred_output" in beside:
        return Claim(92, "lines of messages with roles, and what OpenAI's interface has beside them")
    if beside <= _PLAIN:
        return Claim(85, "lines of messages with roles, and nothing else")
    # A single object may also be a document of any other tool.
    return Claim(70 if head.document is None else 52, "lines of messages with roles")


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns; each line is a conversation."""
    for line in json_lines(reader):
        if isinstance(line, HistoryIssue):
            yield line
            continue
        record = json_object(line.value)
        messages = _messages(record)
        if not messages:
            yield UnknownRecord(first_text(record, "object", "type") or "line without messages")
            continue
        holder = Holder(f"#L{line.line}", _facts(record))
        conversation_id = holder.conversation_id("openai_chat", reader.path)
        for value in messages:
            yield from _turns(json_object(value), holder, conversation_id)


def _turns(message: JsonObject, holder: Holder, conversation_id: str) -> Iterator[Parsed]:
    role = role_of(json_text(message.get("role")))
    if role is None:
        yield UnknownRecord(f"role {json_text(message.get('role')) or 'none'}")
        return
    parts = content_in(message.get("content"))
    parts.add(json_text(message.get("refusal")))
    note_calls(parts, message)
    name = json_text(message.get("name"))
    yield from listed_turns(
        parts,
        message,
        holder,
        conversation_id=conversation_id,
        role=role,
        speaker=name or None if role in ("user", "assistant") else None,
    )


def _messages(record: JsonObject) -> Sequence[Json]:
    """Return the messages of a line of any of OpenAI's files."""
    for holder in (record, json_object(record.get("body")), json_object(record.get("input"))):
        messages = json_items(holder.get("messages"))
        if messages:
            # Of two answers, the preferred one.
            return [*messages, *json_items(record.get("preferred_output"))]
    choices = list(json_objects(value_at(record, "response", "body", "choices")))
    return [choice.get("message") for choice in choices[:1]]


def _facts(record: JsonObject) -> JsonObject:
    asked, answered = value_at(record, "body", "model"), value_at(record, "response", "body", "model")
    return {**record, "model": json_text(record.get("model") or asked or answered)}


def _is_message(value: Json) -> bool:
    message = json_object(value)
    return isinstance(message.get("role"), str) and (
        "content" in message or "tool_calls" in message or "function_call" in message
    )


openai_chat: Final = FileFormat("openai_chat", _claim, _parse)
