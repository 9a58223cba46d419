"""``codex_cli``: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`` of Codex CLI, of all its versions.

A rollout that was idle for a week is compressed to ``.jsonl.zst``, and is read in the same way.

Its lines are ``{timestamp, type, payload}``.  A text is written up to three times: for the model (``response_item``) and
for the screen (``event_msg``, as messages and as items).  For each role, the first of these streams that holds words
of the role is read.  The oldest rollouts are flat lines, or one JSON document.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias, cast, final

from attrs import define, evolve, field

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    EMPTY,
    Json,
    JsonObject,
    first_text,
    json_items,
    json_object,
    json_objects,
    json_text,
    without_blanks,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import (
    Claim,
    FileFormat,
    Head,
    HistoryReader,
    roots_in,
    surest,
)
from chatmemory.pastchats.formats.reading.envelopes import HARNESS, words_and_notes
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import object_lines
from chatmemory.pastchats.formats.reading.json_walk import End, walk
from chatmemory.pastchats.formats.shapes.line_format import Questions
from chatmemory.pastchats.prompt import TurnKind

_SHELL_COMMAND: Final = re.compile(r"\s*<user_shell_command>")
ENVELOPES: Final = frozenset({
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
    "inter_agent_communication", "inter_agent_communication_metadata", "retained_context",
    "security_risk_score", "token_usage_record", "realtime_item",
})  # fmt: skip

CALLS: Final = frozenset({
    "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
    "image_generation_call", "mcp_tool_call",
})  # fmt: skip
_SILENT_ITEMS: Final = frozenset({
    "additional_tools", "compaction", "compaction_summary", "compaction_trigger", "context_compaction",
    "ghost_snapshot", "other",
})  # fmt: skip
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "developer": "system",
    "system": "system",
}
_SAID_ON_SCREEN: Final[Mapping[str, Role]] = {"user_message": "user", "agent_message": "assistant"}
_SAID_IN_ITEMS: Final[Mapping[str, Role]] = {"UserMessage": "user", "AgentMessage": "assistant"}

_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME: Final = re.compile(rf"rollout-.+?-({_UUID})(?:_({_UUID}))?\.jsonl?", re.IGNORECASE)
"""The name of a file: the session, and the segment if the file continues the session."""

_ID: Final = re.compile(r"[\w.:-]{20,}")
"""An id with the length of a UUID or of an id of the API; a shorter id is unique in its session at most."""

Stream: TypeAlias = Literal["model", "screen", "items"]


def _claim(head: Head) -> Claim | None:
    """Look for the envelope of current records, then for the shape of records without an envelope."""
    if head.shape == "json":
        document = json_object(head.document)
        is_rollout = "items" in document and "instructions" in json_object(document.get("session"))
        return Claim(92, "session with instructions, and items") if is_rollout else None
    return surest(map(_claim_of_record, map(json_object, head.records)))


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    said = streams(reader)
    asked = Questions.of(
        reader, "thread_rolled_back", lambda first: _Rollout(reader, said, questions=first).parsed()
    )
    return _Rollout(reader, said, questions=asked).parsed()


def _claim_of_record(record: JsonObject) -> Claim | None:
    kind = json_text(record.get("type"))
    if kind in ENVELOPES and "payload" in record:
        return Claim(97, f"a record of type {kind} with payload")
    if "record_type" in record or ("instructions" in record and "id" in record and "timestamp" in record):
        return Claim(91, "a rollout's first record, or its state")
    if set(record) == {"session_id", "ts", "text"}:
        return Claim(90, "the prompts that Codex keeps beside its sessions", is_transcript=False)
    # Thoughts are not a sign of Codex: other tools store the thoughts of OpenAI's models in the same form.
    is_item = kind == "message" or kind in CALLS | {"function_call_output", "function_result"}
    if is_item and ("role" in record or "call_id" in record) and "sessionId" not in record:
        return Claim(75, f"a flat record of type {kind}, as the Responses API has it")
    if (
        "created_at" in record
        and not {"role", "message", "function"}.isdisjoint(record)
        and "uuid" not in record
        and "object" not in record  # messages of the Assistants API, as Jan stores them
    ):
        return Claim(70, "a flat record with created_at")
    return None


codex_cli: Final = FileFormat(
    "codex_cli",
    _claim,
    _parse,
    version=2,
    has_global_ids=True,
    known_roots=roots_in(
        "$CODEX_HOME/sessions",
        "$CODEX_HOME/archived_sessions",
        "~/.codex/sessions",
        "~/.codex/archived_sessions",
        files=("**/rollout-*.jsonl", "**/rollout-*.json", "**/rollout-*.jsonl.zst"),
    ),
)


@final
@define
class _Rollout:
    """Reads one file, see ``parsed``."""

    reader: HistoryReader
    streams: Mapping[Role, Stream]
    session: str = ""
    unnamed: str = ""
    """The id for a session whose records hold none: the one in the file's name, or else the file's path."""
    segment: str = ""
    turns: int = 0
    project: str = ""
    model: str = ""
    metadata: dict[str, Json] = field(factory=dict[str, Json])
    ids: set[int] = field(factory=set[int])
    answer: PromptTurn | None = None
    """The answer that is held back until its tool calls are known."""
    questions: Questions = field(factory=Questions)
    calls: list[JsonObject] = field(factory=list[JsonObject])

    def parsed(self) -> Iterator[Parsed]:
        """Yield the turns of the file in their order, and the records that could not be read."""
        named = _NAME.fullmatch(self.reader.name)
        self.unnamed, self.segment = (named[1], named[2] or "") if named else (self.reader.path, "")
        for record in _records(self.reader):
            if isinstance(record, HistoryIssue):
                yield record
            else:
                yield from self.record(record)
        yield from self.answered()

    def record(self, record: JsonObject) -> Iterator[Parsed]:
        kind = json_text(record.get("type"))
        payload = record.get("payload")
        if not isinstance(payload, Mapping):
            yield from self.flat(record, kind)
        elif kind == "response_item":
            yield from self.item(payload, record.get("timestamp"))
        elif kind == "event_msg":
            role, stream, content = _shown(payload)
            if role is not None and self.streams.get(role) == stream:
                yield from self.message(payload, role, content, record.get("timestamp"))
            elif payload.get("type") == "thread_rolled_back" and isinstance(
                count := payload.get("num_turns"), int
            ):
                self.questions.take_back(count)
        elif kind == "session_meta":
            self.begin(payload)
        elif kind == "turn_context":
            self.model = json_text(payload.get("model")) or self.model
            self.project = self.project or json_text(payload.get("cwd"))
        elif kind == "compacted":
            yield from self.answered()
            yield from self.turn(
                payload, "summary", "summary", json_text(payload.get("message")), record.get("timestamp")
            )
        elif kind not in ENVELOPES:
            yield UnknownRecord(kind or "(none)")

    def begin(self, meta: JsonObject) -> None:
        """Read the session's id, folder and origin from its first record; a fork also repeats the record of its parent."""
        if self.session:
            return
        self.session = self.unnamed if self.segment else first_text(meta, "id", "session_id")
        self.project = json_text(meta.get("cwd")) or self.project
        self.metadata = {
            "git_branch": json_text(json_object(meta.get("git")).get("branch")),
            "parent_session": first_text(meta, "parent_thread_id", "forked_from_id"),
        }

    def flat(self, record: JsonObject, kind: str) -> Iterator[Parsed]:
        """Read a record without an envelope, as older versions wrote it."""
        when = record.get("timestamp") or record.get("created_at")
        session = json_object(record.get("session"))
        if "instructions" in record or "instructions" in session:
            self.begin(session or record)
        elif kind in {"user", "assistant", "system", "developer"} or (
            kind in {"", "message"} and "role" in record
        ):
            role = _ROLES.get(first_text(record, "role") or kind, "system")
            message = record.get("message")
            content = (
                record.get("content") or record.get("text") or json_object(message).get("content") or message
            )
            yield from self.message(record, role, content, when)
        elif kind in {"function_result", "tool_result"}:
            result = first_text(record, "result", "output", "content")
            yield from self.turn(record, "tool", "tool_result", result, when)
        elif kind:
            yield from self.item(record, when)
        elif "record_type" not in record:
            yield UnknownRecord("(none)")

    def item(self, item: JsonObject, when: Json) -> Iterator[Parsed]:
        """Read an item of the stream for the model."""
        kind = json_text(item.get("type"))
        if kind == "message":
            role = _ROLES.get(json_text(item.get("role")), "system")
            yield from self.message(item, role, item.get("content"), when)
        elif kind in CALLS:
            name = first_text(item, "name") or first_text(json_object(item.get("function")), "name") or kind
            self.calls.append(without_blanks({"name": name, "id": first_text(item, "call_id", "id")}))
        elif kind == "reasoning":
            yield from self.answered()
            yield from self.turn(item, "assistant", "thinking", text_of_reasoning(item), when)
        elif kind.endswith("_output"):
            yield from self.answered()
            yield from self.turn(item, "tool", "tool_result", text_of_output(item.get("output")), when)
        elif kind == "agent_message":
            yield from self.answered()
            words, _ = said_in(item.get("content"))
            yield from self.turn(item, "assistant", "harness", "\n\n".join(words), when)
        elif kind not in _SILENT_ITEMS:
            yield UnknownRecord(kind or "(none)")

    def message(self, item: JsonObject, role: Role, content: Json, when: Json) -> Iterator[Parsed]:
        """Yield the words in *content*, and the texts that the tool added to them."""
        yield from self.answered()
        words, asides = said_in(content)
        if role == "assistant":
            for turn in self.turn(item, role, "typed", "\n\n".join((*asides, *words)), when):
                self.answer = turn
            return
        if role == "system":
            words, asides = [], [*asides, *words]
        yield from self.turn(
            item, role, "harness", "\n\n".join(asides), when, suffix="#asides" if words else ""
        )
        is_command = all(_SHELL_COMMAND.match(text) for text in words)
        yield from self.turn(item, role, "command" if is_command else "typed", "\n\n".join(words), when)

    def answered(self) -> Iterator[PromptTurn]:
        """Yield the answer that was held back, with its tool calls."""
        if self.answer is not None:
            turn, self.answer = self.answer, None
            if self.calls:
                turn = evolve(turn, metadata={**turn.metadata, "tool_calls": tuple(self.calls)})
            yield turn
        self.calls.clear()

    def turn(
        self, item: JsonObject, role: Role, kind: TurnKind, text: str, when: Json, *, suffix: str = ""
    ) -> Iterator[PromptTurn]:
        """Yield a turn, unless *text* is blank."""
        if not text.strip():
            return
        if role == "user" and kind == "typed":
            self.questions.ask()
        native_id = json_text(item.get("id"))
        # Ids that were made unreadable, or that an imitation of Codex gives to every item, do not count as ids.
        mark = hash(native_id + suffix)
        is_id = _ID.fullmatch(native_id) is not None and mark not in self.ids
        self.ids.add(mark)
        self.turns += 1
        # A segment says "continue" again: without an id of its own, that is not the turn of another segment.
        fallback = f"{self.segment}/{self.turns}" if self.segment else None
        yield PromptTurn(
            conversation_id=f"codex_cli:{self.session or self.unnamed}",
            role=role,
            content=text,
            kind=kind,
            native_id=native_id + suffix if is_id else fallback,
            timestamp=instant_of(when),
            project=self.project,
            metadata=without_blanks(
                {
                    **self.metadata,
                    "model": self.model if role == "assistant" else "",
                    "on_current_path": False if self.questions.is_undone else None,
                }
            ),
        )


def streams(reader: HistoryReader) -> Mapping[Role, Stream]:
    """Return the stream from which the words of each role are read: ``model``, else ``screen``, else ``items``."""
    found: dict[Role, Stream] = {}
    for record in _records(reader):
        if isinstance(record, HistoryIssue):
            continue
        payload = json_object(record.get("payload"))
        if record.get("type") == "response_item" and payload.get("type") == "message":
            role = _ROLES.get(json_text(payload.get("role")), "system")
            if role != "system" and said_in(payload.get("content"))[0]:
                found[role] = "model"
                if list(found.values()) == ["model", "model"]:
                    break
        elif record.get("type") == "event_msg":
            speaker, stream, _ = _shown(payload)
            if (
                speaker is not None
                and (stream == "screen" or speaker not in found)
                and found.get(speaker) != "model"
            ):
                found[speaker] = stream
    return found


def _shown(event: JsonObject) -> tuple[Role | None, Stream, Json]:
    """Return the role of an event, the stream that it belongs to, and its text."""
    kind = json_text(event.get("type"))
    if kind == "item_completed":
        item = json_object(event.get("item"))
        return _SAID_IN_ITEMS.get(json_text(item.get("type"))), "items", item.get("content")
    return _SAID_ON_SCREEN.get(kind), "screen", event.get("message")


def _records(reader: HistoryReader) -> Iterator[JsonObject | HistoryIssue]:
    """Yield the records of a rollout, which is one record per line or one JSON document."""
    if {"session", "items"} <= read_head(reader).first.keys():
        for walked in walk(reader, ("items",)):
            if isinstance(walked, HistoryIssue):
                yield walked
            elif not isinstance(walked[1], End) and isinstance(walked[1], Mapping):
                yield walked[1]
        return
    for read in object_lines(reader):
        yield read if isinstance(read, HistoryIssue) else read[0]


def said_in(content: Json) -> tuple[list[str], list[str]]:
    """Return the words in the content of a message, a string or a list of items, and the texts that the tool wrote."""
    words: list[str] = []
    asides: list[str] = []
    for item in (content,) if isinstance(content, str) else json_items(content):
        text = item if isinstance(item, str) else json_text(json_object(item).get("text"))
        own, notes = words_and_notes(text)
        is_added = HARNESS.match(own) is not None
        words += [own] if own.strip() and not is_added else []
        asides += filter(None, (notes, own.strip() if is_added else ""))
    return words, asides


def text_of_output(output: Json) -> str:
    """Return the output of a tool, without the tool's report about the run (exit code, duration)."""
    if isinstance(output, str):
        try:
            unwrapped = json_object(cast("Json", json.loads(output))) if output.startswith("{") else EMPTY
        except (ValueError, RecursionError):
            return output
        return first_text(unwrapped, "output") or output
    if isinstance(output, list | tuple):
        return "\n\n".join(text for item in json_objects(output) if (text := json_text(item.get("text"))))
    return first_text(json_object(output), "text", "content", "output")


def text_of_reasoning(item: JsonObject) -> str:
    """Return the readable thoughts; most thoughts are encrypted."""
    parts = (*json_objects(item.get("summary")), *json_objects(item.get("content")))
    return "\n\n".join(text for part in parts if (text := json_text(part.get("text"))))
