"""Reads a Letta agent file (``.af``): its blocks become memories, its messages a conversation."""

from collections.abc import Iterator
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import JsonObject, json_items, json_object, json_text
from chatmemory.input.made_id import made_id
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.programs.archive.records import ConversationRecord, MessageRecord, Record, RejectedRecord
from chatmemory.programs.archive.rivals.rival import (
    UNDATED,
    Arrivals,
    RivalFile,
    id_of,
    json_of,
    remembered,
    spoken,
    text_of,
)

TOOL: Final = "letta"


def records(file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the blocks and messages of the agents in *file*, which holds one agent or several."""
    read = json_object(json_of(file.path))
    agents = json_items(read.get("agents")) or ([read] if "messages" in read or "core_memory" in read else [])
    if not agents:
        yield RejectedRecord("not an agent file: it has neither agents nor messages")
    for block in json_items(read.get("blocks")):
        yield _block(json_object(block), file, namespace)
    for number, one in enumerate(agents, 1):
        agent = json_object(one)
        name = text_of(agent.get("name")) or f"agent {number}"
        for block in json_items(agent.get("core_memory")):
            yield _block(json_object(block), file, namespace)
        yield from _messages(agent, id_of(agent.get("id"), TOOL, file.path.name, name), namespace)


def _block(block: JsonObject, file: RivalFile, namespace: Namespace) -> Record | RejectedRecord:
    label, value = text_of(block.get("label")), text_of(block.get("value"))
    if value is None:
        return RejectedRecord(f"the block {label!r} is empty")
    at = instant_of(block.get("updated_at")) or instant_of(block.get("created_at")) or UNDATED
    id_ = id_of(block.get("id"), TOOL, file.path.name, label or "", value)
    return remembered(TOOL, id_, value, namespace, at, path=file.path.name, key=label)


def _messages(agent: JsonObject, conversation_id: str, namespace: Namespace) -> Arrivals:
    said = list(_said(agent, conversation_id))
    records = [one for one in said if isinstance(one, MessageRecord)]
    if records:
        times = [record.timestamp for record in records]
        yield ConversationRecord(
            id=conversation_id,
            owner=namespace,
            created_at=min(times),
            updated_at=max(times),
            forked_from=None,
        )
    yield from said


def _said(agent: JsonObject, conversation_id: str) -> Iterator[MessageRecord | RejectedRecord]:
    for number, one in enumerate(json_items(agent.get("messages")), 1):
        message = json_object(one)
        role = PLAIN_ROLES.get(json_text(message.get("role")))
        calls = [
            json_object(json_object(call).get("function")) for call in json_items(message.get("tool_calls"))
        ]
        called = [f"{call.get('name')}({call.get('arguments')})" for call in calls if call]
        content = "\n".join(filter(None, [spoken(message.get("content") or message.get("text")), *called]))
        if role is None or not content:
            yield RejectedRecord(f"message {number} of {conversation_id!r}: unknown role, or no text")
            continue
        yield MessageRecord(
            conversation_id=conversation_id,
            id=id_of(message.get("id"), made_id(TOOL, conversation_id), str(number)),
            role=role,
            content=text_of(content) or "",
            timestamp=instant_of(message.get("created_at")) or UNDATED,
            metadata=None,
        )
