"""``kimi_cli``: Kimi of Moonshot, ``~/.kimi/sessions/<hash of the folder>/<session>/context.jsonl``.

Messages of OpenAI's API, whose content may be blocks of text and thinking, between records with roles that begin with
``_`` (checkpoints, usage).  Built from ``wiki/context-management.md`` of the tool.  The files hold no times.

Its successor Kimi Code writes ``~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl``: messages of the user,
and the parts of an answer as events.
"""

import re
from typing import Final

from attrs import evolve

from chatmemory.input.json_value import JsonObject, first_said, json_object, json_objects, json_text
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of, plain_text
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.role_names import PLAIN_ROLES, kind_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session

_SESSION: Final = re.compile(r"[/\\]([^/\\]+)[/\\]context(?:_\d+)?\.jsonl\Z")
_AGENT: Final = re.compile(r"[/\\]([^/\\]+)[/\\]agents[/\\]([^/\\]+)[/\\]wire\.jsonl\Z")
_SAID: Final = frozenset({"context.append_message", "context.append_loop_event", "context.apply_compaction"})
_SILENT: Final = re.compile(
    r"metadata|forked|context\.(?:clear|undo)|(?:turn|config|permission|full_compaction|micro_compaction|plan_mode|swarm_mode|"
    r"tools|usage|goal|llm|mcp|profile|cron|file_history)\..+"
)
"""Types of records without words of a conversation; ``turn.prompt`` repeats a message."""


def _claim(record: JsonObject, path: str) -> Claim | None:
    if (kind := json_text(record.get("type"))) in _SAID or (
        kind == "config.update" and "modelAlias" in record
    ):
        return Claim(95, f"a record of type {kind}")
    role = json_text(record.get("role"))
    if role in {"_checkpoint", "_usage", "_system_prompt"}:
        return Claim(95, f"a record of role {role}")
    is_context = _SESSION.search(path) is not None and ".kimi" in path
    return Claim(93, "a message in a context of Kimi") if is_context and role in PLAIN_ROLES else None


def _read(record: JsonObject, session: Session) -> Read:
    kind = json_text(record.get("type"))
    if kind in _SAID:
        return _wired(record, kind)
    if kind:
        session.project = json_text(record.get("cwd")) or session.project
        return None if _SILENT.fullmatch(kind) else UnknownRecord(kind)
    return _message(record)


def _wired(record: JsonObject, kind: str) -> Read:
    """Read a record of Kimi Code."""
    at = instant_of(record.get("time"))
    if kind == "context.apply_compaction":
        said = record.get("summary")
        texts = [plain_text(json_object(said).get("content")) or json_text(said)]
        return Line(role="summary", kind="summary", content=Content(texts=texts), at=at)
    if kind == "context.append_message":
        message = json_object(record.get("message"))
        line = _message({**message, "tool_calls": message.get("toolCalls")})
        if not isinstance(line, Line):
            return line
        is_own = json_object(message.get("origin")).get("kind") in {None, "user"}
        return evolve(line, kind=line.kind if is_own else "harness", at=at)
    event = json_object(record.get("event"))
    content = Content()
    if event.get("type") == "content.part":
        content.add(dict(json_object(event.get("part"))))
    elif event.get("type") == "tool.call":
        content.called(event.get("name"), event.get("toolCallId"))
    elif event.get("type") == "tool.result":
        result = event.get("result")
        content.results.append(plain_text(json_object(result).get("output")) or plain_text(result))
        return Line(role="tool", content=content, at=at)
    return Line(role="assistant", content=content, native_id=json_text(event.get("uuid")), at=at)


def _message(record: JsonObject) -> Read:
    name = json_text(record.get("role"))
    if name.startswith("_"):
        return None
    role = PLAIN_ROLES.get(name)
    if role is None:
        return UnknownRecord(f"role {name or '(none)'}")
    content = content_of(record.get("content"))
    content.thinking.append(json_text(record.get("reasoning_content")))
    for call in json_objects(record.get("tool_calls")):
        content.called(json_object(call.get("function")).get("name"), call.get("id"))
    if role == "tool":
        return Line(role=role, content=Content(results=[content.text]))
    return Line(role=role, content=content, kind=kind_of(role))


def _begin(reader: HistoryReader, session: Session) -> None:
    """Read the id from the path, and folder and title from the state of the session."""
    if (context := _SESSION.search(reader.path)) is not None:
        session.native_id = context[1]
    if (agent := _AGENT.search(reader.path)) is None:
        return
    is_main = agent[2] == "main"
    session.native_id = agent[1] if is_main else f"{agent[1]}/{agent[2]}"
    if (state := reader.sibling("../../state.json")) is not None:
        about = read_head(state).first
        session.project = first_said(about.get("cwd"), about.get("workDir"))
        session.facts["title"] = about.get("title")
        session.facts["parent_session"] = "" if is_main else agent[1]


kimi_cli: Final = LineFormat(
    name="kimi_cli",
    claim_of=_claim,
    read=_read,
    begin=_begin,
    undo=("context.undo", "count"),
    known_roots=roots_in("~/.kimi/sessions", "~/.config/kimi/sessions", files=("*/*/context*.jsonl",))
    + roots_in("$KIMI_CODE_HOME/sessions", "~/.kimi-code/sessions", files=("*/*/agents/*/wire.jsonl",)),
)
