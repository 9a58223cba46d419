"""Reads a LangGraph store and LangMem's memories in it: items as ``Item.dict`` writes them, or the file of a ``SqliteStore``.

Each item keeps its name, under which the LangGraph adapter finds it; a memory of LangMem also becomes a memory.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.json_value import Json, JsonObject, json_items, json_object
from chatmemory.input.made_id import made_id
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.programs.archive.records import ItemRecord, RejectedRecord
from chatmemory.programs.archive.rivals.rival import (
    UNDATED,
    Arrivals,
    RivalFile,
    json_of,
    remembered,
    text_of,
)

TOOL: Final = "langmem"
OWNER: Final = "langgraph"
"""The first label of the items of the LangGraph adapter."""
COLUMNS: Final = ("prefix", "key", "value", "created_at", "updated_at")


def records(file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the items of *file*, and the memories among them."""
    for number, item in enumerate(_rows(file) if file.is_sqlite else _listed(file), 1):
        labels = [text_of(label) for label in json_items(item.get("namespace"))]
        key, value = text_of(item.get("key")), item.get("value")
        names = [label for label in labels if label is not None and "." not in label]
        if key is None or not isinstance(value, Mapping) or len(names) < len(labels):
            yield RejectedRecord(
                f"item {number}: it must have a namespace of labels, a key and a value, as in LangGraph"
            )
            continue
        created_at = instant_of(item.get("created_at")) or UNDATED
        updated_at = instant_of(item.get("updated_at")) or created_at
        yield ItemRecord(
            namespace=(OWNER, *names),
            key=key,
            value=value,
            created_at=min(created_at, updated_at),
            updated_at=updated_at,
        )
        if (content := _content(value)) is not None:
            yield remembered(
                TOOL,
                made_id(TOOL, *names, key),
                content,
                namespace,
                updated_at,
                path="/".join([*names, key]),
            )


def _content(value: JsonObject) -> str | None:
    """Return a memory of LangMem, or None for any other document."""
    if "kind" not in value:
        return None
    content = value.get("content")
    return text_of(content) or text_of(json_object(content).get("content"))


def _listed(file: RivalFile) -> Iterator[JsonObject]:
    read = json_of(file.path)
    for item in json_items(read) or json_items(json_object(read).get("items")) or [read]:
        yield json_object(item)


def _rows(file: RivalFile) -> Iterator[JsonObject]:
    for prefix, key, value, created_at, updated_at in file.rows("store", COLUMNS, "prefix, key"):
        try:
            read: Json = json.loads(str(value))
        except (ValueError, RecursionError):
            read = None
        labels = str(prefix).split(".") if prefix else []
        yield {
            "namespace": labels,
            "key": key,
            "value": read,
            "created_at": created_at,
            "updated_at": updated_at,
        }
