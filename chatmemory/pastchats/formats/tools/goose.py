"""``goose``: sessions of Goose, ``sessions.db``, one conversation at a time, and its older JSON Lines.

Rows of ``sessions`` and ``messages`` as ``sqlite_stores.py`` returns them.  Content is a list of text, thinking,
``toolRequest`` and ``toolResponse``.  Built from the tool's ``session_manager.rs`` and public readers of the store.
"""

from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
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
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, plain_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.known_folders import DATA_FOLDERS
from chatmemory.pastchats.formats.reading.role_names import kind_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_SILENT: Final = frozenset({"redactedThinking", "toolConfirmationRequest", "frontendToolRequest", "image"})


def _claim(record: JsonObject, _path: str) -> Claim | None:
    kind = json_text(record.get("record"))
    if kind == "session" and {"id", "working_dir"} <= record.keys():
        return Claim(97, "a session of Goose's store")
    if kind == "message" and {"session_id", "content_json"} <= record.keys():
        return Claim(97, "a message of Goose's store")
    if {"working_dir", "message_count"} <= record.keys():
        return Claim(92, "the head of a session of Goose")
    return None


def _read(record: JsonObject, session: Session) -> Read:
    if "working_dir" in record and "role" not in record:
        session.native_id = session.native_id or json_text(record.get("id"))
        session.project = json_text(record.get("working_dir"))
        session.facts["title"] = first_text(record, "name", "description")
        return None
    role = _ROLES.get(json_text(record.get("role")))
    if role is None:
        return UnknownRecord(f"role {record.get('role')}")
    content = _content(record.get("content_json") or record.get("content"))
    if content.unknown and not content.turn_count:
        return UnknownRecord(f"content {content.unknown[0]}")
    number = record.get("id")
    return Line(
        role=role,
        content=content,
        kind="harness" if value_at(record, "metadata_json", "userVisible") is False else kind_of(role),
        native_id=first_text(record, "message_id") or (str(number) if number is not None else ""),
        at=instant_of(record.get("created_timestamp") or record.get("created") or record.get("timestamp")),
    )


def _content(blocks: Json) -> Content:
    content = Content()
    for block in json_objects(blocks):
        kind = json_text(block.get("type"))
        if kind == "toolRequest":
            call = json_object(value_at(block, "toolCall", "value"))
            content.called(call.get("name"), block.get("id"))
        elif kind == "toolResponse":
            result = json_object(block.get("toolResult"))
            value = result.get("value")
            parts = value if json_items(value) else json_object(value).get("content")
            content.results.append(plain_text(parts) or json_text(result.get("error")))
        elif kind in {"text", "thinking", "reasoning"}:
            content.add(dict(block))
        elif kind not in _SILENT:
            content.unknown.append(kind or "(none)")
    return content


goose: Final = LineFormat(
    name="goose",
    claim_of=_claim,
    read=_read,
    known_roots=roots_in(
        "$GOOSE_PATH_ROOT/data/sessions",
        *(f"{data}/goose/sessions" for data in DATA_FOLDERS),
        "~/Library/Application Support/Block.block.goose/sessions",
        "$APPDATA/Block/goose/data/sessions",
        "~/Library/Application Support/Block/goose/sessions",
        files=("sessions.db",),
    )
    + roots_in("~/.local/share/goose/sessions", files=("*.jsonl",)),
)
