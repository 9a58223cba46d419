"""``kimi_cli``: Kimi of Moonshot, ``~/.kimi/sessions/<hash of the folder>/<session>/context.jsonl``.

Messages of OpenAI's API, whose content may be blocks of text and thinking, between records with roles that begin with
``_`` (checkpoints, usage).  Built from ``wiki/context-management.md`` of the tool.  The files hold no times.
"""

import re
from collections.abc import Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, KnownRoot
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of
from chatmemory.pastchats.formats.reading.json_values import json_object, json_objects, json_text
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
}
_SESSION: Final = re.compile(r"[/\\]([^/\\]+)[/\\]context(?:_\d+)?\.jsonl\Z")


def _claim(record: JsonObject, path: str) -> Claim | None:
    role = json_text(record.get("role"))
    if role in {"_checkpoint", "_usage", "_system_prompt"}:
        return Claim(95, f"a record of role {role}")
    is_context = _SESSION.search(path) is not None and ".kimi" in path
    return Claim(93, "a message in a context of Kimi") if is_context and role in _ROLES else None


def _read(record: JsonObject, _session: Session) -> Read:
    name = json_text(record.get("role"))
    if name.startswith("_"):
        return None
    role = _ROLES.get(name)
    if role is None:
        return UnknownRecord(f"role {name or '(none)'}")
    content = content_of(record.get("content"))
    content.thinking.append(json_text(record.get("reasoning_content")))
    for call in json_objects(record.get("tool_calls")):
        content.called(json_object(call.get("function")).get("name"), call.get("id"))
    if role == "tool":
        return Line(role=role, content=Content(results=[content.text]))
    return Line(role=role, content=content, kind="harness" if role == "system" else "typed")


def _session_of(path: str) -> str:
    found = _SESSION.search(path)
    return found[1] if found is not None else ""


kimi_cli: Final = LineFormat(
    name="kimi_cli",
    claim_of=_claim,
    read=_read,
    session_of=_session_of,
    known_roots=(
        KnownRoot("~/.kimi/sessions", ("*/*/context*.jsonl",)),
        KnownRoot("~/.config/kimi/sessions", ("*/*/context*.jsonl",)),
    ),
)
"""The reader."""
