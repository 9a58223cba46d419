"""Copilot CLI: ``~/.copilot/session-state/<id>/events.jsonl``, and older ``history-session-state/session_*.json``.

Lines of ``{type, data, id, timestamp, parentId}``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, final

from attrs import define

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    EMPTY,
    JsonObject,
    first_text,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import json_lines, object_lines
from chatmemory.pastchats.formats.reading.json_walk import json_members, texts_beside
from chatmemory.pastchats.formats.reading.text_lines import holds, text_lines
from chatmemory.pastchats.prompt import TurnKind

_SILENT_TOPICS: Final = frozenset({
    "abort", "assistant", "auto_mode_switch", "command", "commands", "elicitation", "exit_plan_mode",
    "external_tool", "factory", "hook", "mcp", "mcp_app", "model", "pending_messages", "permission",
    "sampling", "session", "skill", "subagent", "system", "tool", "user_input",
})  # fmt: skip
"""The parts before the dot in the types of events that make no turn, apart from the event types that are read."""

_FOLDER: Final = re.compile(r"([^/\\]+[/\\]partition-\d+|[^/\\]+)(?:[/\\]events)?\.jsonl$")
"""The name of the session, when no event holds its id; the editors of JetBrains store a session in partitions."""
_REWIND: Final = b"snapshot_rewind"
_PERSONS: Final = frozenset({"", "user", "human"})
_TIMELINE: Final[Mapping[str, tuple[Role, TurnKind]]] = {
    "user": ("user", "typed"),
    "copilot": ("assistant", "typed"),
    "assistant": ("assistant", "typed"),
    "reasoning": ("assistant", "thinking"),
    "info": ("system", "harness"),
    "error": ("system", "harness"),
    "warning": ("system", "harness"),
}
_OTHER_ENTRIES: Final = ("tool_call_", "group_tool_call_", "compaction", "handoff")


def _claim(head: Head) -> Claim | None:
    """Look for events with data, or for the timeline of the first versions."""
    if head.shape == "json":
        document = json_object(head.document)
        is_session = "sessionId" in document and ("chatMessages" in document or "timeline" in document)
        return Claim(93, "sessionId with chatMessages or timeline") if is_session else None
    for record in map(json_object, head.records):
        kind = json_text(record.get("type"))
        if not isinstance(record.get("data"), Mapping) or "sessionId" in record:
            continue
        if kind == "session.start":
            return Claim(97, "an event session.start with data")
        if kind in {"user.message", "assistant.message"} and "content" in json_object(record.get("data")):
            return Claim(92, f"an event {kind} with data and content")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns of the session, and those of its subagents."""
    if {"timeline", "chatMessages"} & read_head(reader).first.keys():
        return _timeline(reader)
    return _Events(reader, _taken_back(reader)).parsed()


def _taken_back(reader: HistoryReader) -> frozenset[str]:
    """Return the ids of the events that a rewind took back."""
    if not holds(reader, _REWIND):
        return frozenset()
    events: dict[str, int] = {}
    taken_back: set[str] = set()
    for read in json_lines(reader):
        record = EMPTY if isinstance(read, HistoryIssue) else json_object(read.value)
        if record.get("type") == "session.snapshot_rewind":
            target = events.get(json_text(json_object(record.get("data")).get("upToEventId")))
            if target is not None:
                taken_back |= {name for name, place in events.items() if place >= target}
        events[json_text(record.get("id"))] = len(events)
    return frozenset(taken_back)


@final
@define
class _Events:
    reader: HistoryReader
    taken_back: frozenset[str]
    session: str = ""
    project: str = ""
    branch: str = ""
    model: str = ""
    title: str = ""

    def parsed(self) -> Iterator[Parsed]:
        found = _FOLDER.search(self.reader.path)
        self.session = found[1] if found is not None else self.reader.path
        workspace = _workspace(self.reader)
        self.project = workspace.get("cwd", "")
        self.branch = workspace.get("branch", "")
        self.title = workspace.get("name", "") or workspace.get("summary", "")
        for read in object_lines(self.reader, called="an event"):
            if isinstance(read, HistoryIssue):
                yield read
            else:
                yield from self.event(read[0])

    def event(self, event: JsonObject) -> Iterator[Parsed]:
        kind = json_text(event.get("type"))
        data = json_object(event.get("data"))
        content = json_text(data.get("content"))
        if kind in {"session.start", "session.resume", "session.context_changed"}:
            self.situate(data)
        elif kind == "session.model_change":
            self.model = json_text(data.get("newModel"))
        elif kind == "user.message":
            is_persons = json_text(data.get("source")).lower() in _PERSONS and bool(content.strip())
            text = content if content.strip() else json_text(data.get("transformedContent"))
            yield from self.turn(event, "user", "typed" if is_persons else "harness", text)
        elif kind == "assistant.message":
            thought = json_text(data.get("reasoningText"))
            yield from self.turn(event, "assistant", "thinking", thought, suffix="#thinking")
            yield from self.turn(event, "assistant", "typed", content)
        elif kind == "assistant.reasoning":
            yield from self.turn(event, "assistant", "thinking", content)
        elif kind == "tool.execution_complete":
            result = json_object(data.get("result")) or json_object(data.get("error"))
            yield from self.turn(event, "tool", "tool_result", first_text(result, "content", "message"))
        elif kind in {"system.message", "system.notification", "session.error"}:
            yield from self.turn(event, "system", "harness", content or json_text(data.get("message")))
        elif kind == "session.compaction_complete":
            yield from self.turn(event, "summary", "summary", json_text(data.get("summaryContent")))
        elif kind.partition(".")[0] not in _SILENT_TOPICS:
            yield UnknownRecord(kind or "(none)")

    def situate(self, data: JsonObject) -> None:
        context = json_object(data.get("context")) or data
        self.session = json_text(data.get("sessionId")) or self.session
        self.project = self.project or first_text(context, "cwd", "gitRoot")
        self.branch = json_text(context.get("branch")) or self.branch
        self.model = json_text(data.get("selectedModel")) or self.model

    def turn(
        self, event: JsonObject, role: Role, kind: TurnKind, text: str, *, suffix: str = ""
    ) -> Iterator[PromptTurn]:
        if not text.strip():
            return
        data = json_object(event.get("data"))
        native_id = json_text(event.get("id"))
        agent = json_text(event.get("agentId")) or json_text(data.get("parentToolCallId"))
        is_answer = role == "assistant"
        calls = json_objects(data.get("toolRequests")) if is_answer and kind == "typed" else ()
        metadata: JsonObject = {
            "git_branch": self.branch,
            "title": self.title,
            "parent_session": self.session if agent else "",
            "model": json_text(data.get("model")) or self.model if is_answer else "",
            "tool_calls": tuple(
                {"name": json_text(call.get("name")), "id": json_text(call.get("toolCallId"))}
                for call in calls
            ),
            "on_current_path": False if native_id in self.taken_back else None,
        }
        yield PromptTurn(
            conversation_id=f"copilot_cli:{self.session}" + (f"/{agent}" if agent else ""),
            role=role,
            content=text,
            kind=kind,
            native_id=native_id + suffix if native_id else None,
            timestamp=instant_of(event.get("timestamp")),
            project=self.project,
            metadata=without_blanks(metadata),
        )


def _workspace(reader: HistoryReader) -> dict[str, str]:
    """Return the plain fields of ``workspace.yaml``, which is in the folder of the events."""
    found = reader.sibling("workspace.yaml") if reader.name == "events.jsonl" else None
    fields: dict[str, str] = {}
    for line in text_lines(found) if found is not None else ():
        key, colon, value = line.text.partition(":")
        if (
            colon
            and key.isidentifier()
            and (text := value.strip().strip("\"'")) not in {"", "|", ">", "|-", ">-", "null"}
        ):
            fields[key] = text
    return fields


def _timeline(reader: HistoryReader) -> Iterator[Parsed]:
    """Read a session of the first versions from its timeline, which has the times that the messages lack."""
    session = texts_beside(reader, "timeline", "chatMessages")
    conversation_id = f"copilot_cli:{session.get('sessionId') or reader.path}"
    for found in json_members(reader, ("timeline",), ("chatMessages",)):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        if found[0][0] != "timeline":
            continue  # the same texts, without times
        record = json_object(found[1])
        kind = json_text(record.get("type"))
        text = first_text(record, "text", "content")
        if kind in _TIMELINE:
            role, turn_kind = _TIMELINE[kind]
            if text.strip():
                yield PromptTurn(
                    conversation_id=conversation_id,
                    role=role,
                    content=text,
                    kind=turn_kind,
                    native_id=json_text(record.get("id")) or None,
                    timestamp=instant_of(record.get("timestamp")),
                    metadata=without_blanks(
                        {"model": session.get("selectedModel") if role == "assistant" else ""}
                    ),
                )
        elif not kind.startswith(_OTHER_ENTRIES):
            yield UnknownRecord(kind or "(none)")


copilot_cli: Final = FileFormat(
    "copilot_cli",
    _claim,
    _parse,
    known_roots=tuple(
        root
        for home in ("$COPILOT_HOME", "~/.copilot", "$XDG_STATE_HOME/.copilot")
        for root in (
            KnownRoot(f"{home}/session-state", ("*/events.jsonl", "*.jsonl")),
            KnownRoot(f"{home}/history-session-state", ("session_*.json",)),
            KnownRoot(f"{home}/jb", ("*/partition-*.jsonl",)),
        )
    ),
)
