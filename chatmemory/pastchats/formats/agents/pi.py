"""``pi``: the coding agent Pi, ``~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl``, and oh-my-pi, which writes the same.

A header, then entries that link to the previous entry: of a session that was rewound, only the path to the last entry
is read.  Built from the project's ``docs/session.md`` (version 3 of its files; older ones have no ids and are a
list).
"""

from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject, first_text, json_object, json_objects, json_text
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Link, Read, Session
from chatmemory.pastchats.prompt import TurnKind

_ROLES: Final[Mapping[str, tuple[Role, TurnKind]]] = {
    "user": ("user", "typed"),
    "assistant": ("assistant", "typed"),
    "toolResult": ("tool", "tool_result"),
    "branchSummary": ("summary", "summary"),
    "compactionSummary": ("summary", "summary"),
    "custom": ("user", "harness"),
    "hookMessage": ("user", "harness"),
    "bashExecution": ("user", "command"),
}
_SUMMARIES: Final = frozenset({"compaction", "branch_summary"})
_SILENT: Final = frozenset(
    {
        "model_change",
        "thinking_level_change",
        "label",
        "session_info",
        "custom",
        "mode_change",
        "ttsr_injection",
    }
)
_ENTRIES: Final = _SUMMARIES | _SILENT | {"message", "custom_message"}


def _claim(record: JsonObject, path: str) -> Claim | None:
    kind = json_text(record.get("type"))
    if kind == "session" and {"id", "timestamp", "cwd"} <= record.keys() and "sessionId" not in record:
        return Claim(94, "a session's header with id, timestamp and cwd")
    if kind in _ENTRIES and {"id", "parentId"} <= record.keys() and "uuid" not in record:
        return Claim(92, f"an entry of type {kind} with id and parentId")
    if kind == "message" and "/.pi/" in path.replace("\\", "/") and "message" in record:
        return Claim(90, "a message in a session of Pi")
    return None


def _link(record: JsonObject) -> Link | None:
    native_id = json_text(record.get("id"))
    is_entry = json_text(record.get("type")) in _ENTRIES and "parentId" in record and native_id
    return (native_id, json_text(record.get("parentId")) or None) if is_entry else None


def _read(record: JsonObject, session: Session) -> Read:
    kind = json_text(record.get("type"))
    at = instant_of(record.get("timestamp"))
    native_id = json_text(record.get("id"))
    if kind == "session":
        session.native_id = session.native_id or native_id
        session.project = json_text(record.get("cwd")) or session.project
        session.facts["parent_session"] = first_text(record, "parentSession", "branchedFrom")
        return None
    if kind == "session_info":
        session.facts["title"] = json_text(record.get("name"))
        return None
    if kind in _SUMMARIES:
        content = Content(texts=[json_text(record.get("summary"))])
        return Line(role="summary", kind="summary", content=content, native_id=native_id, at=at)
    if kind == "custom_message":
        content = content_of(record.get("content"))
        return Line(role="user", kind="harness", content=content, native_id=native_id, at=at)
    if kind != "message":
        return None if kind in _SILENT else UnknownRecord(kind or "(none)")
    message = json_object(record.get("message"))
    meaning = _ROLES.get(json_text(message.get("role")))
    if meaning is None:
        return UnknownRecord(f"role {message.get('role')}")
    role, turn_kind = meaning
    content = content_of(message.get("content") or message.get("summary") or message.get("command"))
    for call in json_objects(message.get("content")):
        if call.get("type") == "toolCall":
            content.called(call.get("name"), call.get("id"))
    if role == "tool":
        content = Content(results=[content.text])
    facts = {"model": message.get("model")} if role == "assistant" else {}
    return Line(role=role, kind=turn_kind, content=content, native_id=native_id, at=at, facts=facts)


pi: Final = LineFormat(
    name="pi",
    claim_of=_claim,
    read=_read,
    link=_link,
    version=2,
    known_roots=roots_in(
        "$PI_CODING_AGENT_DIR/sessions",
        "~/.pi/agent/sessions",
        "~/.omp/agent/sessions",
        files=("**/*.jsonl",),
    ),
)
