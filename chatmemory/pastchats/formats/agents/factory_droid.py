"""``factory_droid``: Droid of Factory, ``~/.factory/sessions/<folder>/<id>.jsonl``, and the output of ``droid exec``.

A session begins with ``session_start`` and continues with messages of Anthropic's blocks; ``droid exec
--output-format stream-json`` prints messages, calls and results as separate records.  Built from the parser of the
public agent-sessions (``DroidSessionParser.swift``), which reads both.
"""

import re
from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject, first_text, json_object, json_text
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of, plain_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import kind_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_SILENT: Final = frozenset({"todo_state", "compaction_state", "session_end", "settings", "usage"})
_REMINDER: Final = re.compile(r"\s*<system-reminder>[\s\S]*?</system-reminder>\s*")


def _claim(record: JsonObject, path: str) -> Claim | None:
    kind = json_text(record.get("type"))
    message = json_object(record.get("message"))
    if kind == "session_start" and "id" in record:
        return Claim(95 if {"cwd", "title", "owner"} & record.keys() else 80, "a session_start with its id")
    if kind == "message" and "role" in message and "content" in message and "parentId" not in record:
        return Claim(94 if ".factory" in path else 72, "a message of a role, in an envelope with id and time")
    if "session_id" in record and kind == "message" and "text" in record and "role" in record:
        return Claim(93, "a message of a stream, with role, text and session_id")
    if "session_id" in record and (
        kind in {"tool_call", "completion"} and {"toolName", "finalText"} & record.keys()
    ):
        return Claim(93, f"a record of type {kind} of a stream")
    return None


def _read(record: JsonObject, session: Session) -> Read:
    kind = json_text(record.get("type"))
    session.native_id = session.native_id or json_text(record.get("session_id"))
    at = instant_of(record.get("timestamp"))
    if kind == "session_start" or (kind == "system" and "cwd" in record):
        session.native_id = session.native_id or json_text(record.get("id"))
        session.project = json_text(record.get("cwd")) or session.project
        session.facts |= {"title": record.get("title"), "model": record.get("model")}
        return None
    if kind == "message":
        message = json_object(record.get("message")) or record
        role = _ROLES.get(json_text(message.get("role")))
        if role is None:
            return UnknownRecord(f"role {message.get('role')}")
        content = content_of(message.get("content") or message.get("text"))
        if role == "user":
            # Droid adds reminders to a person's message.
            content.attached += [found.strip() for text in content.texts for found in _REMINDER.findall(text)]
            content.texts = [_REMINDER.sub("", text) for text in content.texts]
        native_id = first_text(record, "id")
        return Line(role=role, kind=kind_of(role), content=content, native_id=native_id, at=at)
    if kind == "tool_call":
        content = Content()
        content.called(record.get("toolName"), record.get("id"))
        return Line(role="assistant", content=content, at=at)
    if kind == "tool_result":
        results = Content(results=[plain_text(record.get("value")) or plain_text(record.get("content"))])
        return Line(role="tool", content=results, at=at)
    if kind == "error":
        return Line(role="tool", content=Content(results=[json_text(record.get("message"))]), at=at)
    # An earlier message holds the same text as a completion.
    return None if kind in _SILENT | {"completion", "system"} else UnknownRecord(kind or "(none)")


factory_droid: Final = LineFormat(
    name="factory_droid",
    claim_of=_claim,
    read=_read,
    known_roots=roots_in("~/.factory/sessions", files=("**/*.jsonl",)),
)
