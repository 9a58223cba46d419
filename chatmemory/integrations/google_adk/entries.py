"""Conversions between an event or a memory entry of Google ADK and a memory.

The content of the memory is the text; its columns hold the speaker and the time; its value holds the JSON of the
framework, which comes back equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, cast, final

from attrs import frozen
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import AS_GIVEN
from chatmemory.input.rules import metadata_problems
from chatmemory.integrations.as_given import given_value, storable_content, value_in_pieces
from chatmemory.longterm.memories import Memory, MemoryChanges, NewMemory, Provenance

EVENT: Final = "googleAdkEvent"
"""The name of an event under ``AS_GIVEN``."""

EXTRACTOR: Final = "google-adk"

USER: Final = "user"
"""The author and the role of the user."""


@final
@frozen
class EventMemory:
    """A *memory* to store, the id that it gets in the store, and the *event* as it was given."""

    memory_id: str
    event: Mapping[str, Any]
    memory: NewMemory


def memory_id_of(namespace: Namespace, event_id: str) -> str:
    """Return the id of the memory of an event; it is made with JSON, so that different parts never give the same id."""
    return sha256(json.dumps([namespace.app, namespace.user, event_id]).encode()).hexdigest()


def memories_of_events(
    namespace: Namespace,
    events: Sequence[Event],
    session_id: str | None,
    custom_metadata: Mapping[str, object] | None = None,
) -> list[EventMemory]:
    """Return the memories of the texts of *events*, one for each id: of two events with the same id, the later one.

    Raises:
        InputValidationError: an event, or the metadata, is not JSON, or has a time outside the calendar.
    """
    said: dict[str, EventMemory] = {}
    for event in events:
        if event.content is None or not text_of(event.content):
            continue
        try:
            said_at = datetime.fromtimestamp(event.timestamp, UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise InputValidationError(
                f"event {event.id!r}: the timestamp {event.timestamp!r} is no time"
            ) from error
        given = _given(event.id, event.content, event.author, event.timestamp, custom_metadata)
        said[event.id] = _said(namespace, given, event.content, session_id, said_at)
    return list(said.values())


def memories_of_entries(
    namespace: Namespace,
    entries: Sequence[MemoryEntry],
    custom_metadata: Mapping[str, object] | None = None,
) -> list[EventMemory]:
    """Return the texts of *entries*, each id once; an entry without an id gets the same id each time.

    Raises:
        InputValidationError: an entry lacks text, or is not JSON.
    """
    said: dict[str, EventMemory] = {}
    for entry in entries:
        if not text_of(entry.content):
            raise InputValidationError("a memory says something: give its content a part with text")
        metadata = {**(custom_metadata or {}), **entry.custom_metadata}
        given = _given(entry.id or "", entry.content, entry.author, entry.timestamp, metadata)
        if not entry.id:
            given["id"] = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
        said[given["id"]] = _said(namespace, given, entry.content, None, _instant(entry.timestamp))
    return list(said.values())


def entry_of(memory: Memory) -> MemoryEntry:
    """Return *memory* as the entry that was given, or as a new entry when it has another origin, or was corrected since."""
    event = event_of(memory)
    try:
        if event is not None:
            return _entry_given(memory, event)
    except (KeyError, TypeError, ValueError, OverflowError):  # the value was changed by another writer
        pass
    said_at = memory.created_at.isoformat()
    return MemoryEntry(id=memory.id, content=_content(memory), author=memory.role, timestamp=said_at)


def event_of(memory: Memory) -> Mapping[str, Any] | None:
    """Return the event that is stored with *memory*; None: the memory has another origin."""
    try:
        event: object = given_value(memory.value, EVENT)
    except (KeyError, TypeError, ValueError):
        return None
    return cast("Mapping[str, Any]", event) if isinstance(event, Mapping) else None


def corrected(stored: Memory | None, said: EventMemory) -> MemoryChanges | None:
    """Return the changes that make *stored* equal to *said*; None: it is equal, or a person has replaced it."""
    known = None if stored is None else event_of(stored)
    if known is None:
        return None
    event = {**known, **said.event}  # a repeated session comes without metadata, and must not remove any
    if event == known:
        return None
    return MemoryChanges(content=said.memory.content, value=_value(event))


def text_of(content: types.Content) -> str:
    """Return the text that was said: no thoughts, no calls."""
    texts = [(part.text or "").strip() for part in content.parts or () if not part.thought]
    return "\n".join(filter(None, texts))


def _given(
    event_id: str,
    content: types.Content,
    author: str | None,
    timestamp: float | str | None,
    custom_metadata: Mapping[str, object] | None,
) -> dict[str, Any]:
    event = {"id": event_id, "author": author, "timestamp": timestamp}
    metadata = {"customMetadata": dict(custom_metadata)} if custom_metadata else {}
    try:
        given = {"content": content.model_dump(mode="json", exclude_none=True), **metadata}
        return {**event, **json.loads(json.dumps(given))}
    except (TypeError, ValueError, RecursionError) as error:
        raise InputValidationError(f"{event_id!r}: what is no JSON cannot be stored: {error}") from error


def _said(
    namespace: Namespace,
    event: dict[str, Any],
    content: types.Content,
    session_id: str | None,
    said_at: datetime | None,
) -> EventMemory:
    is_user = (event["author"] or content.role or USER) == USER
    memory = NewMemory(
        _kept_text(content),
        id=memory_id_of(namespace, event["id"]),
        value=_value(event),
        source="user_stated" if is_user else "inferred",
        role="user" if is_user else "assistant",
        session_id=session_id,
        memory_type="long_term",  # the caller who adds an agent's words wants them to be found
        provenance=Provenance((event["id"],), extractor=EXTRACTOR),
        created_at=said_at,
    )
    return EventMemory(str(memory.id), event, memory)


def _entry_given(memory: Memory, event: Mapping[str, Any]) -> MemoryEntry:
    content = types.Content.model_validate(event["content"])
    if _kept_text(content) != memory.content:
        content = types.Content(role=content.role, parts=[types.Part(text=memory.content)])
    timestamp = event["timestamp"]
    if isinstance(timestamp, int | float):  # an instant, independent of the zone of the model's machine
        timestamp = datetime.fromtimestamp(timestamp, UTC).isoformat()
    return MemoryEntry(
        id=event["id"],
        content=content,
        author=event["author"],
        timestamp=timestamp or memory.created_at.isoformat(),
        custom_metadata=event.get("customMetadata", {}),
    )


def _kept_text(content: types.Content) -> str:
    return storable_content(text_of(content))


def _value(event: Mapping[str, Any]) -> dict[str, Any]:
    if not metadata_problems("$", {AS_GIVEN: {EVENT: event}}):
        return {AS_GIVEN: {EVENT: event}}
    return {AS_GIVEN: value_in_pieces(EVENT, event)}


def _content(memory: Memory) -> types.Content:
    role = "user" if memory.role == "user" else "model"
    return types.Content(role=role, parts=[types.Part(text=memory.content)])


def _instant(timestamp: str | None) -> datetime | None:
    """Return the time of an entry; None, meaning now, without a time or a time zone."""
    try:
        instant = datetime.fromisoformat(timestamp or "")
        return None if instant.utcoffset() is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
