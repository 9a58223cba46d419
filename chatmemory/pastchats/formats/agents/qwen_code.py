"""``qwen_code``: Qwen Code, ``~/.qwen/projects/<folder>/chats/<session>.jsonl``.

Records have the field names of Claude Code (uuid, parentUuid, sessionId, cwd, gitBranch) and hold messages of
Gemini's API: a role and parts.  Built from ``chatRecordingService.ts`` of the tool.
"""

from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, json_object, json_objects, json_text, value_at
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, plain_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import kind_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Link, Read, Session

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
# Subtypes of user records that no person typed.
_HARNESS: Final = frozenset(
    {
        "notification",
        "background_task_completed",
        "cron",
        "agent_bootstrap",
        "agent_launch_prompt",
        "goal_runtime",
    }
)


def _claim(record: JsonObject, _path: str) -> Claim | None:
    kind = json_text(record.get("type"))
    if not {"uuid", "sessionId", "timestamp"} <= record.keys():
        return None
    if kind in _ROLES and "parts" in json_object(record.get("message")):
        return Claim(97, f"a record of type {kind} with uuid, sessionId and a message of parts")
    if kind == "system" and ("systemPayload" in record or "provenance" in record):
        return Claim(92, "a record of type system with systemPayload")
    return None


def _link(record: JsonObject) -> Link | None:
    native_id = json_text(record.get("uuid"))
    return (native_id, json_text(record.get("parentUuid")) or None) if native_id else None


def _read(record: JsonObject, session: Session) -> Read:
    kind = json_text(record.get("type"))
    subtype = json_text(record.get("subtype"))
    session.native_id = session.native_id or json_text(record.get("sessionId"))
    session.project = json_text(record.get("cwd")) or session.project
    if json_text(record.get("gitBranch")):
        session.facts["git_branch"] = record.get("gitBranch")
    payload = json_object(record.get("systemPayload"))
    if kind == "system":
        if subtype == "custom_title":
            session.facts["title"] = payload.get("customTitle") or payload.get("title")
        return None
    role = _ROLES.get(kind)
    if role is None:
        return UnknownRecord(kind or "(none)")
    content = _content(json_object(record.get("message")).get("parts"), role)
    return Line(
        role=role,
        kind="harness" if role == "user" and subtype in _HARNESS else kind_of(role),
        content=content,
        native_id=json_text(record.get("uuid")),
        at=instant_of(record.get("timestamp")),
        facts={"model": record.get("model")} if role == "assistant" else {},
    )


def _content(parts: Json, role: Role) -> Content:
    content = Content()
    for part in json_objects(parts):
        text = json_text(part.get("text"))
        if part.get("thought") is True:
            content.thinking.append(text)
        elif text:
            (content.results if role == "tool" else content.texts).append(text)
        call = json_object(part.get("functionCall"))
        if call:
            content.called(call.get("name"), call.get("id"))
        response = json_object(value_at(part, "functionResponse", "response"))
        content.results.append(plain_text(response.get("output")) or plain_text(response.get("error")))
    return content


qwen_code: Final = LineFormat(
    name="qwen_code",
    claim_of=_claim,
    read=_read,
    link=_link,
    version=2,
    has_global_ids=True,
    known_roots=roots_in("~/.qwen/projects", files=("**/*.jsonl",))
    + roots_in("~/.qwen/tmp", files=("*/chats/*.jsonl",)),
)
