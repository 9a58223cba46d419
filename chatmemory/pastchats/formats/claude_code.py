"""Claude Code: ``~/.claude/projects/<folder>/<session>.jsonl``, and the transcripts of its subagents.

One record per line.  A message of the model comes in as many lines as it has blocks, and is one turn.  What stands in
the message of a user is often not a person's: results of tools, commands and their output, reminders, summaries.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Final, final

from attrs import define, field, frozen

from chatmemory.contracts.history_format import Claim, Head, HistoryReader, KnownRoot
from chatmemory.messages import Json, JsonObject, Role
from chatmemory.pastchats.formats.claude_survey import ClaudeSurvey, survey
from chatmemory.pastchats.formats.claude_text import (
    BETWEEN_BLOCKS,
    ClaudeParts,
    kind_of_words,
    parts_of,
    united,
)
from chatmemory.pastchats.formats.instants import instant_of
from chatmemory.pastchats.formats.json_lines import json_lines
from chatmemory.pastchats.formats.json_values import first_text, json_object, json_text, without_blanks
from chatmemory.prompts import HistoryIssue, Parsed, PromptTurn, TurnKind, UnknownRecord

NO_TURNS: Final = frozenset(
    {
        "agent-color",
        "agent-listing-delta",
        "agent-name",
        "agent-setting",
        "ai-title",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "control_request",
        "control_response",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "rate_limit_event",
        "relocated",
        "result",
        "saved_hook_context",
        "speculation-accept",
        "started",
        "stream_event",
        "summary",
        "tag",
        "task-summary",
        "tool_use",
        "worktree-state",
    }
)
"""Types of records that hold no words of a conversation."""

_HELD_CHARACTERS: Final = 8 * 1024 * 1024
"""Turns wait for a message before them to be complete, up to this much text."""

_UNIQUE_IN_THE_WORLD: Final = 20
"""An id of so many characters is a UUID or one that the API gave; a shorter one is unique in its session at most."""

_STEM: Final = re.compile(
    r"(agent-.+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl", re.IGNORECASE
)
_SUBAGENT_FOLDER: Final = re.compile(r"([^/\\]+)[/\\]subagents[/\\](?:[^/\\]+[/\\])*[^/\\]+$")


@final
@define
class _Place:
    """Where a record belongs.

    Attributes:
        session: the id of the conversation, without the name of the format.
    """

    session: str
    project: str = ""
    metadata: dict[str, Json] = field(factory=dict[str, Json])


@final
@define
class _Message:
    """A message of the model that further lines may add to."""

    place: _Place
    record: JsonObject
    native_id: str | None
    lines: dict[str, ClaudeParts] = field(factory=dict[str, ClaudeParts])
    held: int = 0
    is_whole: bool = False
    is_left_behind: bool = True


@final
@define
class _Waiting:
    """Turns in their order, from the first message on that is not complete yet."""

    entries: deque[_Message | PromptTurn] = field(factory=deque["_Message | PromptTurn"])
    open: dict[str, _Message] = field(factory=dict[str, _Message])
    held: int = 0

    def add(self, entry: _Message | PromptTurn) -> None:
        self.entries.append(entry)
        self.held += len(entry.content) if isinstance(entry, PromptTurn) else 0

    def leave(self, *, all_of_them: bool = False) -> Iterator[PromptTurn]:
        """Yield what waits for nothing any more, or for too long."""
        while self.entries:
            entry = self.entries[0]
            if isinstance(entry, _Message):
                if not (entry.is_whole or all_of_them or self.held > _HELD_CHARACTERS):
                    return
                entry.is_whole = True
                self.held -= entry.held
                yield from _turns_of_message(entry)
            else:
                self.held -= len(entry.content)
                yield entry
            self.entries.popleft()


@final
@frozen
class ClaudeCode:
    """See the head of this module."""

    name: str = "claude_code"
    version: int = 1
    has_global_ids: bool = True
    known_roots: tuple[KnownRoot, ...] = (
        KnownRoot("$CLAUDE_CONFIG_DIR/projects", ("**/*.jsonl",)),
        KnownRoot("~/.claude/projects", ("**/*.jsonl",)),
        KnownRoot("~/.config/claude/projects", ("**/*.jsonl",)),
    )

    def claim(self, head: Head, /) -> Claim | None:
        """Look for records with the ids that only Claude Code gives them."""
        if head.shape == "json":
            document = json_object(head.document)
            is_about_agent = head.path.endswith(".meta.json") and "agentType" in document
            return (
                Claim(90, "describes a subagent of Claude Code", is_transcript=False)
                if is_about_agent
                else None
            )
        best: Claim | None = None
        for value in head.records:
            claim = _claim_of_record(json_object(value))
            if claim is not None and (best is None or claim.confidence > best.confidence):
                best = claim
        return best

    def parse(self, reader: HistoryReader, /) -> Iterator[Parsed]:
        """Yield the turns of the session, of the subagents in it, and of the sessions that it was taken up from."""
        return _Transcript(reader, survey(reader)).parsed()


def _claim_of_record(record: JsonObject) -> Claim | None:
    kind = json_text(record.get("type"))
    message = json_object(record.get("message"))
    has_session = bool(first_text(record, "sessionId"))
    if kind in {"user", "assistant"} and "content" in message:
        if has_session or "parentUuid" in record:
            return Claim(96, f"a record of type {kind} with message and sessionId or parentUuid")
        if first_text(record, "session_id", "uuid"):
            return Claim(90, f"a record of type {kind} with message and uuid or session_id")
    if kind in NO_TURNS | {"system", "attachment"}:
        for sign in ("sessionId", "leafUuid", "parentUuid", "messageId", "snapshot"):
            if sign in record:
                return Claim(92, f"a record of type {kind} with {sign}")
        if "session_id" in record:
            return Claim(80, f"a record of type {kind} with session_id")
    return None


@final
@define
class _Transcript:
    reader: HistoryReader
    survey: ClaudeSurvey
    waiting: _Waiting = field(factory=_Waiting)
    places: dict[str, _Place] = field(factory=dict[str, _Place])
    seen: set[int] = field(factory=set[int])
    roots: dict[int, str] = field(factory=dict[int, str])
    """Of each record of a subagent that has no id of its own, the record that the subagent began with."""
    session: str = ""

    def parsed(self) -> Iterator[Parsed]:
        for read in json_lines(self.reader):
            if isinstance(read, HistoryIssue):
                yield read
            elif not isinstance(read.value, dict):
                detail = f"a record is an object, this is {type(read.value).__name__}"
                yield HistoryIssue("malformed_record", self.reader.path, detail, read.line, read.offset)
            else:
                yield from self.record(read.value, read.line)
                yield from self.waiting.leave()
        yield from self.waiting.leave(all_of_them=True)

    def record(self, record: JsonObject, line: int) -> Iterator[UnknownRecord]:
        kind = json_text(record.get("type"))
        self.session = first_text(record, "sessionId", "session_id") or self.session
        uuid = json_text(record.get("uuid"))
        mark = hash(uuid.encode("utf-8", "surrogateescape")) if uuid else 0
        is_repeated = mark in self.seen
        if uuid:
            self.seen.add(mark)
        if kind == "assistant":
            self.answer(record, uuid, line, is_repeated=is_repeated)
        elif kind in {"user", "system", "attachment", "tool_result"}:
            if not is_repeated:
                self.other(kind, record, uuid)
        elif kind not in NO_TURNS:
            yield UnknownRecord(kind or "(none)")

    def answer(self, record: JsonObject, uuid: str, line: int, *, is_repeated: bool) -> None:
        """Take in a line of a message of the model."""
        message = json_object(record.get("message"))
        message_id = json_text(message.get("id"))
        found = self.waiting.open.get(message_id) if message_id else None
        if found is None or found.is_whole:
            if is_repeated:
                return
            # A message that had to leave before it was whole: what comes now is a turn of its own.
            native_id = f"{message_id}#{uuid}" if found is not None else message_id or uuid
            found = _Message(self.place(record, uuid), record, self.native_id(native_id))
            self.waiting.add(found)
            if message_id:
                self.waiting.open[message_id] = found
        parts = parts_of(message.get("content"))
        found.lines[uuid or str(line)] = parts
        found.is_left_behind &= self.survey.is_left_behind(uuid)
        weight = sum(map(len, parts.words)) + sum(map(len, parts.thoughts))
        found.held += weight
        self.waiting.held += weight
        last_line = self.survey.last_lines.get(message_id, line)
        found.is_whole = line >= last_line
        if found.is_whole and last_line == line:
            self.waiting.open.pop(message_id, None)

    def other(self, kind: str, record: JsonObject, uuid: str) -> None:
        """Take in whatever is no message of the model."""
        if kind == "attachment":
            attachment = json_object(record.get("attachment"))
            # Said while the model was at work; no other record holds it.
            if attachment.get("type") == "queued_command":
                mode = attachment.get("commandMode")
                origin = attachment.get("origin") if mode in {None, "prompt"} else {"kind": mode}
                self.say({**record, "origin": origin}, uuid, parts_of(attachment.get("prompt")))
        elif kind == "system":
            self.turn(record, uuid, "system", "harness", json_text(record.get("content")))
        elif kind == "tool_result":
            self.turn(record, uuid, "tool", "tool_result", first_text(record, "output", "content"))
        else:
            self.say(record, uuid, parts_of(json_object(record.get("message")).get("content")))

    def say(self, record: JsonObject, uuid: str, parts: ClaudeParts) -> None:
        results = BETWEEN_BLOCKS.join(parts.tool_results)
        self.turn(record, uuid, "tool", "tool_result", results, suffix="#results" if parts.words else "")
        asides = BETWEEN_BLOCKS.join(parts.asides)
        self.turn(record, uuid, "user", "harness", asides, suffix="#asides" if parts.words else "")
        words = BETWEEN_BLOCKS.join(parts.words)
        kind = kind_of_words(words, record)
        self.turn(record, uuid, "summary" if kind == "summary" else "user", kind, words)

    def turn(
        self, record: JsonObject, uuid: str, role: Role, kind: TurnKind, text: str, *, suffix: str = ""
    ) -> None:
        if not text.strip():
            return
        place = self.place(record, uuid)
        metadata = dict(place.metadata)
        of = json_text(record.get("parentUuid")) if kind == "tool_result" else uuid
        if self.survey.is_left_behind(of):
            metadata["on_current_path"] = False
        self.waiting.add(
            PromptTurn(
                conversation_id=f"claude_code:{place.session}",
                role=role,
                content=text,
                kind=kind,
                native_id=self.native_id(uuid + suffix) if uuid else None,
                timestamp=instant_of(record.get("timestamp")),
                project=place.project,
                metadata=metadata,
            )
        )

    def native_id(self, native_id: str) -> str | None:
        if not native_id or len(native_id) >= _UNIQUE_IN_THE_WORLD:
            return native_id or None
        return f"{self.session or self.reader.path}/{native_id}"

    def place(self, record: JsonObject, uuid: str) -> _Place:
        """Return the conversation that *record* belongs to: the session's, or a subagent's."""
        stem = match[1] if (match := _STEM.fullmatch(self.reader.name)) is not None else ""
        parent = self.session or stem or self.reader.path
        session = parent
        agent = json_text(record.get("agentId"))
        if agent:
            session = f"agent-{agent.removeprefix('agent-')}"
        elif record.get("isSidechain") is True:
            if stem.startswith("agent-"):
                session = stem
            elif parent in self.survey.main_sessions:
                session = f"{parent}/{self.root(record, uuid)}"
        elif parent_tool := json_text(record.get("parent_tool_use_id")):
            session = f"{parent}/{parent_tool}"
        place = self.places.get(session)
        if place is None:
            place = self.places[session] = self.new_place(session, parent, agent, record)
        place.project = place.project or first_text(record, "cwd", "project")
        return place

    def new_place(self, session: str, parent: str, agent: str, record: JsonObject) -> _Place:
        if parent == session and (folder := _SUBAGENT_FOLDER.search(self.reader.path)) is not None:
            parent = folder[1]
        metadata: JsonObject = {
            "title": self.survey.titles.get(session, ""),
            "git_branch": json_text(record.get("gitBranch")),
            "parent_session": parent if parent != session else "",
            "agent_id": agent,
        }
        return _Place(session, metadata=dict(without_blanks(metadata)))

    def root(self, record: JsonObject, uuid: str) -> str:
        parent = json_text(record.get("parentUuid"))
        root = self.roots.get(hash(parent.encode("utf-8", "surrogateescape")), uuid or "sidechain")
        if uuid:
            self.roots[hash(uuid.encode("utf-8", "surrogateescape"))] = root
        return root


def _turns_of_message(message: _Message) -> Iterator[PromptTurn]:
    record = message.record
    lines = tuple(message.lines.values())
    thoughts = [(line, thought) for line, parts in enumerate(lines) for thought in parts.thoughts]
    words = [(line, text) for line, parts in enumerate(lines) for text in parts.words]
    calls = {
        json_text(call["id"]) or str(place): call
        for place, call in enumerate(c for p in lines for c in p.tool_calls)
    }
    metadata = message.place.metadata | {"model": json_text(json_object(record.get("message")).get("model"))}
    if message.is_left_behind:
        metadata["on_current_path"] = False
    if record.get("isApiErrorMessage") is True:
        metadata["is_api_error"] = True
    spoken: tuple[tuple[TurnKind, list[tuple[int, str]], str], ...] = (
        ("thinking", thoughts, "#thinking"),
        ("typed", words, ""),
    )
    for kind, texts, suffix in spoken:
        content = BETWEEN_BLOCKS.join(united(texts))
        if content:
            extra = {"tool_calls": tuple(calls.values())} if kind == "typed" else {}
            yield PromptTurn(
                conversation_id=f"claude_code:{message.place.session}",
                role="assistant",
                content=content,
                kind=kind,
                native_id=message.native_id + suffix if message.native_id is not None else None,
                timestamp=instant_of(record.get("timestamp")),
                project=message.place.project,
                metadata=without_blanks({**metadata, **extra}),
            )


claude_code: Final = ClaudeCode()
"""The reader."""
