"""``jan``: Jan, ``<data folder>/threads/<thread>/messages.jsonl``, with the messages of OpenAI's threads.

``{"object": "thread.message", "role", "content": [{"type": "text", "text": {"value"}}], "created_at", "thread_id"}``,
as the Assistants API documents it.
"""

from typing import Final

from chatmemory.input.json_value import JsonObject, json_text, value_at
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import content_of
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES, kind_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session


def _claim(record: JsonObject, _path: str) -> Claim | None:
    if record.get("object") == "thread.message" and "role" in record:
        return Claim(95, "a message of a thread, with its role")
    return None


def _read(record: JsonObject, session: Session) -> Read:
    if record.get("object") != "thread.message":
        return UnknownRecord(json_text(record.get("object")) or "(none)")
    session.native_id = json_text(record.get("thread_id")) or session.native_id
    role = PLAIN_ROLES.get(json_text(record.get("role")))
    if role is None:
        return UnknownRecord(f"role {record.get('role')}")
    return Line(
        role=role,
        content=content_of(record.get("content")),
        kind=kind_of(role),
        native_id=json_text(record.get("id")),
        at=instant_of(record.get("created_at")),
        facts={"model": value_at(record, "metadata", "assistant", "model")},
    )


jan: Final = LineFormat(
    name="jan",
    claim_of=_claim,
    read=_read,
    known_roots=roots_in(
        "~/jan/threads",
        "~/.local/share/Jan/data/threads",
        "~/Library/Application Support/Jan/data/threads",
        "$APPDATA/Jan/data/threads",
        files=("*/messages.jsonl",),
    ),
)
