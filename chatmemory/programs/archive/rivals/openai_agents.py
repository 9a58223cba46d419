"""Reads the file of an OpenAI Agents ``SQLiteSession``; our adapter can continue each imported session."""

import json
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN, Json, JsonObject, json_object, json_text
from chatmemory.input.made_id import made_id
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES
from chatmemory.programs.archive.records import ConversationRecord, MessageRecord, RejectedRecord
from chatmemory.programs.archive.rivals.rival import (
    UNDATED,
    Arrivals,
    RivalFile,
    id_of,
    spoken,
)

TOOL: Final = "openai-agents"
ITEM: Final = "openaiAgentsItem"  # the name under which the adapter of OpenAI Agents stores an item
ROLES: Final[dict[str, Role]] = {**PLAIN_ROLES, "developer": "system"}


def records(file: RivalFile, namespace: Namespace) -> Arrivals:
    """Yield the sessions of *file*, each with its messages."""
    if not file.is_sqlite:
        yield RejectedRecord("not the SQLite file of a SQLiteSession")
        return
    times = {
        str(session): (instant_of(began), instant_of(ended))
        for session, began, ended in file.rows(
            "agent_sessions", ("session_id", "created_at", "updated_at"), "rowid"
        )
    }
    present: str | None = None
    columns = ("session_id", "id", "message_data", "created_at")
    for session, number, data, created_at in file.rows("agent_messages", columns, "session_id, id"):
        id_ = id_of(session, TOOL, str(session))
        at = instant_of(created_at) or UNDATED
        if id_ != present:
            present = id_
            began, ended = (known or at for known in times.get(str(session), (None, None)))
            yield ConversationRecord(
                id=id_, owner=namespace, created_at=min(began, ended), updated_at=ended, forked_from=None
            )
        try:
            item: Json = json.loads(str(data))
        except (ValueError, RecursionError) as error:
            yield RejectedRecord(f"item {number} of the session {id_!r} is not JSON: {error}")
            continue
        fields = json_object(item)
        if not fields:
            yield RejectedRecord(f"item {number} of the session {id_!r} is not a JSON object")
            continue
        yield MessageRecord(
            conversation_id=id_,
            id=made_id(TOOL, id_, str(number)),
            role=ROLES.get(json_text(fields.get("role")), "tool"),
            content=_readable(fields),
            timestamp=at,
            metadata={AS_GIVEN: {ITEM: fields}},
        )


def _readable(fields: JsonObject) -> str:
    match fields:
        case {"name": str(name), "arguments": str(arguments)}:
            return f"{name}({arguments})"
        case {"content": content} | {"output": content} | {"summary": content}:
            return spoken(content)
        case {"type": str(kind)}:
            return f"[{kind}]"
        case _:
            return "[item]"
