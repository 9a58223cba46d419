"""Reads mem0's memories: the JSON of ``Memory.get_all``, or the SQLite file of its history."""

from collections import defaultdict
from datetime import datetime
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import json_items, json_object
from chatmemory.longterm.memories import EarlierContent, Provenance
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.programs.archive.records import RejectedRecord
from chatmemory.programs.archive.rivals.rival import (
    UNDATED,
    Arrivals,
    RivalFile,
    id_of,
    json_of,
    object_of,
    remembered,
    text_of,
)

TOOL: Final = "mem0"
HISTORY: Final = ("memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted")


def records(file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the memories of *file*."""
    yield from _history(file, namespace) if file.is_sqlite else _listed(file, namespace)


def _listed(file: RivalFile, namespace: Namespace) -> Arrivals:
    read = json_of(file.path)
    given = (
        json_items(read)
        or json_items(json_object(read).get("results"))
        or json_items(json_object(read).get("memories"))
    )
    if not given:
        yield RejectedRecord("not a list of memories: give the JSON of Memory.get_all")
    for number, one in enumerate(given, 1):
        fields = json_object(one)
        content = text_of(fields.get("memory"))
        if content is None:
            yield RejectedRecord(f"memory {number} of the list has no text")
            continue
        owner = Namespace(
            text_of(fields.get("user_id")) or namespace.user, text_of(fields.get("agent_id")) or namespace.app
        )
        tags = tuple(
            tag for each in json_items(fields.get("categories")) if (tag := text_of(each)) is not None
        )
        yield remembered(
            TOOL,
            id_of(fields.get("id"), TOOL, content),
            content,
            owner,
            instant_of(fields.get("updated_at")) or instant_of(fields.get("created_at")) or UNDATED,
            role="assistant" if fields.get("role") == "assistant" else "user",
            session_id=text_of(fields.get("run_id")),
            path=file.path.name,
            value=object_of(fields.get("metadata")),
            tags=tags,
        )


def _history(file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield each memory as its last event left it, with its earlier contents."""
    said = defaultdict[str, list[tuple[datetime, str]]](list)
    gone: set[str] = set()
    for row in file.rows("history", HISTORY, "rowid"):
        memory_id, _, new, event, created_at, updated_at, is_deleted = row
        at = instant_of(updated_at) or instant_of(created_at) or UNDATED
        name = id_of(memory_id, TOOL, str(memory_id))
        if event == "DELETE" or is_deleted:
            gone.add(name)
        elif (content := text_of(new)) is not None:
            said[name].append((at, content))
        else:
            yield RejectedRecord(f"an event {event!r} of the memory {name!r} has no text")
    for name, contents in said.items():
        if name in gone:
            yield RejectedRecord(f"memory {name!r} was deleted in mem0")
            continue
        (at, content), before = contents[-1], contents[:-1]
        earlier = tuple(
            EarlierContent(
                number, contents[number][0], text, None, None, None, (), 1.0, "inferred", Provenance((), TOOL, file.path.name)
            )
            for number, (_, text) in enumerate(before, 1)
        )  # fmt: skip
        yield remembered(TOOL, name, content, namespace, contents[0][0], path=file.path.name, earlier=earlier)
