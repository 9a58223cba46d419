"""Reads Zep's sessions, messages and graph facts (edges), as its API returns them, from one JSON file."""

from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject, json_items, json_object, json_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.programs.archive.records import ConversationRecord, MessageRecord, RejectedRecord
from chatmemory.programs.archive.rivals.rival import (
    UNDATED,
    Arrivals,
    RivalFile,
    id_of,
    json_of,
    object_of,
    remembered,
    spoken,
    text_of,
)

TOOL: Final = "zep"
ROLES: Final[dict[str, Role]] = {**PLAIN_ROLES, "human": "user", "ai": "assistant", "function": "tool"}


def records(file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the sessions and the facts of *file*."""
    read = json_of(file.path)
    root = json_object(read)
    sessions = json_items(root.get("sessions")) or json_items(root.get("threads"))
    facts = json_items(root.get("edges")) or json_items(root.get("facts"))
    if not sessions and "messages" in root:
        sessions = [root]
    if listed := json_items(read):
        facts = [one for one in listed if "fact" in json_object(one)]
        sessions = [one for one in listed if "messages" in json_object(one)]
    if not sessions and not facts:
        yield RejectedRecord(
            "not an export of Zep: it has no sessions, threads or messages, and no edges or facts"
        )
    for number, session in enumerate(sessions, 1):
        yield from _session(json_object(session), number, file, namespace)
    for number, fact in enumerate(facts, 1):
        yield from _fact(json_object(fact), number, file, namespace)


def _session(session: JsonObject, number: int, file: RivalFile, namespace: Namespace) -> Arrivals:
    named = session.get("session_id") or session.get("thread_id") or session.get("uuid")
    conversation_id = id_of(named, TOOL, file.path.name, str(number))
    messages = [json_object(one) for one in json_items(session.get("messages"))]
    if not messages:
        yield RejectedRecord(f"the session {conversation_id!r} has no messages")
        return
    times = [instant_of(one.get("created_at")) or UNDATED for one in messages]
    user = text_of(session.get("user_id")) or namespace.user
    yield ConversationRecord(
        id=conversation_id,
        owner=Namespace(user, namespace.app),
        created_at=min(times),
        updated_at=max(times),
        forked_from=None,
    )
    for place, (message, at) in enumerate(zip(messages, times, strict=True), 1):
        role = ROLES.get(json_text(message.get("role_type"))) or ROLES.get(json_text(message.get("role")))
        content = text_of(spoken(message.get("content")))
        if role is None or content is None:
            yield RejectedRecord(f"message {place} of {conversation_id!r}: unknown role, or no text")
            continue
        yield MessageRecord(
            conversation_id=conversation_id,
            id=id_of(message.get("uuid"), TOOL, conversation_id, str(place)),
            role=role,
            content=content,
            timestamp=at,
            metadata=object_of(message.get("metadata")),
        )


def _fact(fact: JsonObject, number: int, file: RivalFile, namespace: Namespace) -> Arrivals:
    content = text_of(fact.get("fact"))
    if content is None:
        yield RejectedRecord(f"fact {number} has no text")
        return
    since = instant_of(fact.get("valid_at")) or instant_of(fact.get("created_at")) or UNDATED
    until = instant_of(fact.get("invalid_at")) or instant_of(fact.get("expired_at"))
    yield remembered(
        TOOL,
        id_of(fact.get("uuid"), TOOL, content),
        content,
        Namespace(text_of(fact.get("user_id")) or namespace.user, namespace.app),
        since,
        superseded_at=None if until is None else max(until, since),
        path=file.path.name,
        key=text_of(fact.get("name")),
    )
