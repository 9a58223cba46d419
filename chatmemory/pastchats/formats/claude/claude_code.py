"""Claude Code: ``~/.claude/projects/<folder>/<session>.jsonl``, and the transcripts of its subagents.

One record per line.  A message of the model has one line for each of its blocks, and is one turn.  The message of a
user often holds text that no person wrote: results of tools, commands and their output, reminders, summaries.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, final

from attrs import define, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    EMPTY,
    Json,
    JsonObject,
    first_text,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.claude.claude_survey import ClaudeSurvey, mark_of, survey
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import (
    Claim,
    FileFormat,
    Head,
    HistoryReader,
    roots_in,
    surest,
)
from chatmemory.pastchats.formats.reading.content_blocks import BETWEEN_BLOCKS, Content, parts_of
from chatmemory.pastchats.formats.reading.envelopes import CONTINUED, HARNESS
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import object_lines
from chatmemory.pastchats.prompt import TurnKind

_HELD_CHARACTERS: Final = 8 * 1024 * 1024
"""The limit of text that waits for an earlier message to be complete."""

_NO_TURNS: Final = frozenset({
    "agent-color", "agent-listing-delta", "agent-name", "agent-setting", "ai-title", "atis-latch",
    "artifact-autoreact-ledger", "artifact-comment-monitor", "attribution-snapshot", "bridge-session",
    "content-replacement", "continued-in", "control_request", "control_response", "cost-state",
    "custom-title", "file-history-delta", "file-history-snapshot", "frame-link", "history-suppression",
    "last-prompt", "marble-origami-commit", "marble-origami-snapshot", "mode", "permission-mode",
    "pr-link", "progress", "queue-operation", "rate_limit_event", "relocated", "result",
    "saved_hook_context", "speculation-accept", "started", "stream_event", "summary", "tag",
    "task-summary", "tool_use", "worktree-state",
})  # fmt: skip
"""Types of records that hold no words of a conversation."""

_UNIQUE_IN_THE_WORLD: Final = 20
"""The shortest id that is a UUID or an id of the API, in characters; a shorter id is unique in its session at most."""

_STEM: Final = re.compile(
    r"(agent-.+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl", re.IGNORECASE
)
_SHELL_INPUT: Final = re.compile(r"\s*<bash-input>")
_SUBAGENT_FOLDER: Final = re.compile(r"([^/\\]+)[/\\]subagents[/\\](?:[^/\\]+[/\\])*[^/\\]+$")


def _claim(head: Head) -> Claim | None:
    """Look for records with the ids that only Claude Code writes."""
    if head.shape == "json":
        document = json_object(head.document)
        if head.path.endswith(".meta.json") and "agentType" in document:
            return Claim(90, "describes a subagent of Claude Code", is_transcript=False)
        entry = next(json_objects(document.get("entries")), EMPTY)
        if {"sessionId", "fullPath"} <= entry.keys():
            return Claim(90, "Claude Code's list of the sessions beside it", is_transcript=False)
        return None
    return surest(map(_claim_of_record, map(json_object, head.records)))


def _claim_of_record(record: JsonObject) -> Claim | None:
    kind = json_text(record.get("type"))
    message = json_object(record.get("message"))
    has_session = bool(first_text(record, "sessionId"))
    if "parts" in message:
        return None  # Qwen Code's records, which have the same field names
    if kind in {"user", "assistant"} and "content" in message:
        if has_session or "parentUuid" in record:
            return Claim(96, f"a record of type {kind} with message and sessionId or parentUuid")
        if first_text(record, "session_id", "uuid"):
            return Claim(90, f"a record of type {kind} with message and uuid or session_id")
    if kind in {"started", "result"} and {"key", "agentId"} <= record.keys():
        return Claim(
            90, "the journal of a workflow, whose agents have files of their own", is_transcript=False
        )
    if kind in _NO_TURNS | {"system", "attachment"} and "systemPayload" not in record:
        for sign in ("sessionId", "leafUuid", "parentUuid", "messageId", "snapshot"):
            if sign in record:
                return Claim(92, f"a record of type {kind} with {sign}")
        if "session_id" in record and "toolName" not in record and "finalText" not in record:
            return Claim(80, f"a record of type {kind} with session_id")
    return None


@final
@define
class _Place:
    """The conversation that a record belongs to; *session* is its id, without the name of the format."""

    session: str
    project: str = ""
    metadata: dict[str, Json] = field(factory=dict[str, Json])


@final
@define
class _Message:
    """A message of the model that later lines may extend."""

    place: _Place
    record: JsonObject
    native_id: str | None
    lines: dict[str, Content] = field(factory=dict[str, Content])
    held: int = 0
    is_whole: bool = False
    is_left_behind: bool = True


@final
@define
class _Waiting:
    """A queue of turns in their order; the first one is a message that is not complete yet."""

    entries: deque[_Message | PromptTurn] = field(factory=deque["_Message | PromptTurn"])
    open: dict[str, _Message] = field(factory=dict[str, _Message])
    held: int = 0

    def add(self, entry: _Message | PromptTurn) -> None:
        self.entries.append(entry)
        self.held += len(entry.content) if isinstance(entry, PromptTurn) else 0

    def leave(self, *, all_of_them: bool = False) -> Iterator[PromptTurn]:
        """Yield and remove the turns that no longer wait, or that have waited for too long."""
        while self.entries:
            entry = self.entries[0]
            if isinstance(entry, _Message):
                if not (entry.is_whole or all_of_them or self.held > _HELD_CHARACTERS):
                    return
                entry.is_whole = True
                self.held -= entry.held
                yield from _turns_of(entry)
            else:
                self.held -= len(entry.content)
                yield entry
            self.entries.popleft()


def _turns_of(message: _Message) -> Iterator[PromptTurn]:
    record = message.record
    lines = tuple(message.lines.values())
    thoughts = [(line, thought) for line, parts in enumerate(lines) for thought in parts.thinking]
    words = [(line, text) for line, parts in enumerate(lines) for text in parts.texts]
    calls = {
        json_text(call["id"]) or str(place): call
        for place, call in enumerate(c for p in lines for c in p.tool_calls)
    }
    metadata: JsonObject = {
        **message.place.metadata,
        "model": json_text(json_object(record.get("message")).get("model")),
        "on_current_path": False if message.is_left_behind else None,
        "is_api_error": True if record.get("isApiErrorMessage") is True else None,
    }
    spoken: tuple[tuple[TurnKind, list[tuple[int, str]], str, tuple[JsonObject, ...]], ...] = (
        ("thinking", thoughts, "#thinking", ()),
        ("typed", words, "", tuple(calls.values())),
    )
    for kind, texts, suffix, called in spoken:
        if content := BETWEEN_BLOCKS.join(_united(texts)):
            yield PromptTurn(
                conversation_id=f"claude_code:{message.place.session}",
                role="assistant",
                content=content,
                kind=kind,
                native_id=message.native_id + suffix if message.native_id is not None else None,
                timestamp=instant_of(record.get("timestamp")),
                project=message.place.project,
                metadata=without_blanks({**metadata, "tool_calls": called}),
            )


@final
@define
class _Transcript:
    """Reads one file, see ``parsed``."""

    reader: HistoryReader
    survey: ClaudeSurvey
    waiting: _Waiting = field(factory=_Waiting)
    places: dict[str, _Place] = field(factory=dict[str, _Place])
    seen: set[int] = field(factory=set[int])
    roots: dict[int, str] = field(factory=dict[int, str])
    """By the hash of the id of each subagent record without an agent id, the first record of its subagent."""
    session: str = ""
    forked_from: str = ""

    def parsed(self) -> Iterator[Parsed]:
        """Yield the turns of the file in their order, and the records that could not be read."""
        for read in object_lines(self.reader):
            if isinstance(read, HistoryIssue):
                yield read
            else:
                yield from self.record(*read)
                yield from self.waiting.leave()
        yield from self.waiting.leave(all_of_them=True)

    def record(self, record: JsonObject, line: int) -> Iterator[UnknownRecord]:
        """Read one record, and yield it when its type is unknown."""
        kind = json_text(record.get("type"))
        self.session = first_text(record, "sessionId", "session_id") or self.session
        uuid = json_text(record.get("uuid"))
        mark = mark_of(uuid) if uuid else 0
        is_repeated = mark in self.seen
        if uuid:
            self.seen.add(mark)
        if kind == "assistant":
            self.answer(record, uuid, line, is_repeated=is_repeated)
        elif kind in {"user", "system", "attachment", "tool_result"}:
            if not is_repeated:
                self.other(kind, record, uuid)
        elif kind not in _NO_TURNS:
            yield UnknownRecord(kind or "(none)")

    def answer(self, record: JsonObject, uuid: str, line: int, *, is_repeated: bool) -> None:
        """Read a line of a message of the model."""
        message = json_object(record.get("message"))
        message_id = json_text(message.get("id"))
        found = self.waiting.open.get(message_id) if message_id else None
        if found is None or found.is_whole:
            if is_repeated:
                return
            # The message was yielded before it was complete: a later line is a turn of its own.
            native_id = f"{message_id}#{uuid}" if found is not None else message_id or uuid
            found = _Message(self.place(record, uuid), record, self.native_id(native_id))
            self.waiting.add(found)
            if message_id:
                self.waiting.open[message_id] = found
        parts = parts_of(message.get("content"))
        found.lines[uuid or str(line)] = parts
        found.is_left_behind &= self.survey.is_left_behind(uuid)
        weight = sum(map(len, parts.texts)) + sum(map(len, parts.thinking))
        found.held += weight
        self.waiting.held += weight
        last_line = self.survey.last_lines.get(message_id, line)
        found.is_whole = line >= last_line
        if found.is_whole and last_line == line:
            self.waiting.open.pop(message_id, None)

    def other(self, kind: str, record: JsonObject, uuid: str) -> None:
        """Read a record that is not a message of the model."""
        if kind == "attachment":
            attachment = json_object(record.get("attachment"))
            # Typed while the model was working; no other record holds it.
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

    def say(self, record: JsonObject, uuid: str, parts: Content) -> None:
        """Read the message of a user, which may hold results and asides of the tool."""
        results = BETWEEN_BLOCKS.join(parts.results)
        self.turn(record, uuid, "tool", "tool_result", results, suffix="#results" if parts.texts else "")
        asides = BETWEEN_BLOCKS.join(parts.attached)
        self.turn(record, uuid, "user", "harness", asides, suffix="#asides" if parts.texts else "")
        words = BETWEEN_BLOCKS.join(parts.texts)
        kind = _kind_of_words(words, record)
        self.turn(record, uuid, "summary" if kind == "summary" else "user", kind, words)

    def turn(
        self, record: JsonObject, uuid: str, role: Role, kind: TurnKind, text: str, *, suffix: str = ""
    ) -> None:
        """Add a turn, unless *text* is blank."""
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
        """Return an id that no other session has."""
        if not native_id or len(native_id) >= _UNIQUE_IN_THE_WORLD:
            return native_id or None
        return f"{self.session or self.reader.path}/{native_id}"

    def place(self, record: JsonObject, uuid: str) -> _Place:
        """Return the conversation that *record* belongs to: the session's, or a subagent's."""
        stem = match[1] if (match := _STEM.fullmatch(self.reader.name)) is not None else ""
        parent = self.session or stem or self.reader.path
        # A fork repeats the records of its session: they belong to that one, whichever file is read first.
        forked_from = json_text(json_object(record.get("forkedFrom")).get("sessionId"))
        if forked_from:
            self.forked_from = parent = forked_from
        session = parent
        agent = "" if forked_from else json_text(record.get("agentId"))
        is_aside = record.get("isSidechain") is True and not forked_from
        if not agent and is_aside and stem.startswith("agent-"):
            agent = stem
        if agent:
            own = f"agent-{agent.removeprefix('agent-')}"
            if parent == own and (folder := _SUBAGENT_FOLDER.search(self.reader.path)) is not None:
                parent = folder[1]
            # Agents of two sessions may have the same short id.
            session = own if parent == own else f"{parent}/{own}"
        elif is_aside:
            if parent in self.survey.main_sessions:
                session = f"{parent}/{self.root(record, uuid)}"
        elif parent_tool := json_text(record.get("parent_tool_use_id")):
            session = f"{parent}/{parent_tool}"
        place = self.places.get(session)
        if place is None:
            place = self.places[session] = self.new_place(session, parent, agent, record)
        place.project = place.project or first_text(record, "cwd", "project")
        return place

    def new_place(self, session: str, parent: str, agent: str, record: JsonObject) -> _Place:
        """Return a conversation whose first record is *record*."""
        parents = (one for one in (parent, self.forked_from) if one != session)
        metadata: JsonObject = {
            "title": self.survey.titles.get(session, ""),
            "git_branch": json_text(record.get("gitBranch")),
            "parent_session": next(parents, ""),
            "agent_id": agent,
        }
        return _Place(session, metadata=dict(without_blanks(metadata)))

    def root(self, record: JsonObject, uuid: str) -> str:
        """Return the id of the first record of the subagent that wrote *record*."""
        parent = json_text(record.get("parentUuid"))
        root = self.roots.get(mark_of(parent), uuid or "sidechain")
        if uuid:
            self.roots[mark_of(uuid)] = root
        return root


def _kind_of_words(text: str, record: JsonObject) -> TurnKind:
    """Return the kind of *text*, which is the text of a user's message in *record*."""
    if record.get("isCompactSummary") is True or text.startswith(CONTINUED):
        return "summary"
    origin = json_text(json_object(record.get("origin")).get("kind"))
    if (
        record.get("isMeta") is True
        or record.get("isVisibleInTranscriptOnly") is True
        or bool(record.get("interruptedMessageId"))
        or origin not in {"", "human"}
        or HARNESS.match(text)
    ):
        return "harness"
    return "command" if _SHELL_INPUT.match(text) else "typed"


def _united(texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield the texts of a message that was written in several lines, in their order; each is given with its line.

    A text that continues the text of an earlier line replaces it: the message was written while it grew.
    """
    kept: list[tuple[int, str]] = []
    for line, text in texts:
        for place, (earlier_line, earlier) in enumerate(kept):
            if earlier_line != line and text.startswith(earlier):
                kept[place] = (line, text)
                break
        else:
            kept.append((line, text))
    return (text for _, text in kept)


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns of the session, of its subagents, and of the sessions that it resumed."""
    return _Transcript(reader, survey(reader)).parsed()


claude_code: Final = FileFormat(
    "claude_code",
    _claim,
    _parse,
    version=2,
    has_global_ids=True,
    known_roots=roots_in(
        "$CLAUDE_CONFIG_DIR/projects",
        "~/.claude/projects",
        "~/.config/claude/projects",
        files=("**/*.jsonl",),
    )
    # Cowork uses folders of its own inside the data of the desktop application
    + roots_in(
        "~/Library/Application Support/Claude/local-agent-mode-sessions",
        "$APPDATA/Claude/local-agent-mode-sessions",
        "~/.config/Claude/local-agent-mode-sessions",
        files=("**/.claude/projects/**/*.jsonl",),
    ),
)
