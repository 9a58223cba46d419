"""``gemini_cli``: ``~/.gemini/tmp/<project>/chats/session-<date>-<id>.json`` or ``.jsonl``, and older checkpoints.

In a ``.jsonl`` file a message is written again under its id when it changes, and ``{"$rewindTo": id}`` takes
back the message and everything after it; so a first pass over the file finds which lines count.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, final

from attrs import define, evolve, field, frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
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
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import BETWEEN_BLOCKS, Content
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.json_walk import json_members, members_beside
from chatmemory.pastchats.prompt import TurnKind

_SETUP: Final = ("This is the Gemini CLI. We are setting up the context for our chat.", "<session_context>")
_SETUP_ANSWER: Final = "Got it. Thanks for the context!"
_SNAPSHOT: Final = ("<state_snapshot>", "<compressed_chat_history>")
_SLASH_COMMAND: Final = re.compile(r"\s*/[a-z][a-z0-9:_-]*(?!\S)")
"""A command like ``/chat save x``, and not a path like ``/home/user is full``."""
_GO_ON: Final = "System: Please continue."
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "gemini": "assistant",
    "model": "assistant",
    "assistant": "assistant",
    "info": "system",
    "error": "system",
    "warning": "system",
    "system": "system",
}

_PROJECT_ROOTS: Final = ("../.project_root", "../../.project_root")
"""Files of newer versions that name the folder of a session or of a subagent's session; the session itself holds its
hash."""

_SHORT_HASH: Final = 8
"""The number of characters of a folder's hash that name a project without another name; they distinguish a person's
projects."""

_SUBAGENT_FOLDER: Final = re.compile(r"[/\\]chats[/\\]([^/\\]+)[/\\][^/\\]+$")

_HELD_CHARACTERS: Final = 8 * 1024 * 1024
"""The limit of text that waits for a message that was changed after it."""


def _claim(head: Head) -> Claim | None:
    """Look for the hash of the project, or for messages with parts by ``model``."""
    if head.shape == "json_lines":
        for record in map(json_object, head.records):
            if "sessionId" in record and "projectHash" in record and "type" not in record:
                return Claim(96, "a record with sessionId and projectHash")
            if "$rewindTo" in record or "$set" in record:
                return Claim(85, "a record that changes the ones before it ($set, $rewindTo)")
        return None
    document = json_object(head.document)
    if "projectHash" in document and "sessionId" in document:
        return Claim(96, "sessionId and projectHash")
    elements = json_items(head.document) or json_items(document.get("history"))
    first = [json_object(element) for element in elements[:4]]
    if first and all(json_text(one.get("role")) in {"user", "model"} and "parts" in one for one in first):
        return Claim(88, "messages of user and model with parts")
    if first and all("messageId" in one and "sessionId" in one and "message" in one for one in first):
        return Claim(88, "the log of prompts that Gemini CLI keeps beside its chats", is_transcript=False)
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns that the session holds at its end."""
    head = read_head(reader)
    if head.shape == "json_lines" and not {"messages", "history"} & head.first.keys():
        return _lines(reader)
    return _document(reader, head)


gemini_cli: Final = FileFormat(
    "gemini_cli",
    _claim,
    _parse,
    version=2,
    known_roots=roots_in(
        "$GEMINI_CLI_HOME/.gemini/tmp/*",
        "~/.gemini/tmp/*",
        files=("chats/*.json", "chats/*.jsonl", "chats/*/*.jsonl", "checkpoint*.json", "checkpoints/*.json"),
    ),
)


@final
@define
class _Survey:
    """The state of a file of lines at its end.

    Attributes:
        session: the header, with later changes.
        ranks: by message id, the position of each message.
        lines: by message id, the line that holds the last version of each message.
        undone: the ids of the messages that a rewind took back.
    """

    session: dict[str, Json] = field(factory=dict[str, Json])
    ranks: dict[str, int] = field(factory=dict[str, int])
    lines: dict[str, int] = field(factory=dict[str, int])
    undone: set[str] = field(factory=set[str])

    def note(self, record: JsonObject, line: int) -> None:
        rewind = record.get("$rewindTo")
        changes = json_object(record.get("$set"))
        message = json_text(record.get("id"))
        if isinstance(rewind, str):
            # An unknown message takes back all of them.
            rank = self.ranks.get(rewind, 0)
            self.undone |= {name for name, its in self.ranks.items() if its >= rank}
        elif message and ("type" in record or "content" in record):
            self.ranks.setdefault(message, len(self.ranks))
            self.lines[message] = line
            self.undone.discard(message)
        elif changes:
            for changed in json_objects(changes.get("messages")):
                # A message that a compression leaves out was still said: only new messages count.
                if (name := json_text(changed.get("id"))) and name not in self.lines:
                    self.ranks.setdefault(name, len(self.ranks))
                    self.lines[name] = line
            self.session |= {key: value for key, value in changes.items() if key != "messages"}
        elif "sessionId" in record:
            self.session = dict(record) | self.session


def _lines(reader: HistoryReader) -> Iterator[Parsed]:
    survey = _Survey()
    for read in json_lines(reader):
        if not isinstance(read, HistoryIssue):
            survey.note(json_object(read.value), read.line)
    session = _session(reader, survey.session)
    waiting: dict[int, list[PromptTurn]] = {}
    next_rank = held = 0
    for read in json_lines(reader):
        if isinstance(read, HistoryIssue):
            yield read
            continue
        record = json_object(read.value)
        changed = json_objects(json_object(record.get("$set")).get("messages"))
        messages = changed if "$set" in record else (record,)
        for message in messages:
            name = json_text(message.get("id"))
            if survey.lines.get(name) != read.line:
                continue
            turns: list[PromptTurn] = []
            for parsed in session.parsed(message):
                if isinstance(parsed, PromptTurn):
                    marks = {"on_current_path": False} if name in survey.undone else {}
                    turns.append(evolve(parsed, metadata={**parsed.metadata, **marks}))
                    held += len(parsed.content)
                else:
                    yield parsed
            waiting[survey.ranks[name]] = turns
        if not record.keys() & {"id", "$set", "$rewindTo", "sessionId"}:
            yield UnknownRecord(json_text(record.get("type")) or "(none)")
        while next_rank in waiting or (waiting and held > _HELD_CHARACTERS):
            rank = next_rank if next_rank in waiting else min(waiting)
            ready = waiting.pop(rank)
            held -= sum(len(turn.content) for turn in ready)
            yield from ready
            next_rank = max(next_rank, rank + 1)
    for _, turns in sorted(waiting.items()):
        yield from turns


def _document(reader: HistoryReader, head: Head) -> Iterator[Parsed]:
    session: dict[str, Json] = {
        key: value for key, value in head.first.items() if key not in {"messages", "history"}
    }
    is_list = not isinstance(head.document, Mapping) and not head.records
    lists = ((),) if is_list else (("messages",), ("history",))
    if "sessionId" not in session and not is_list:
        # The id is after the messages, if it exists.
        session.update(members_beside(reader, "messages", "history"))
    found = _session(reader, session)
    for member in json_members(reader, *lists):
        if isinstance(member, HistoryIssue):
            yield member
        else:
            yield from found.parsed(json_object(member[1]))


def _session(reader: HistoryReader, header: JsonObject) -> "_Session":
    folders = [folder for folder in json_items(header.get("directories")) if isinstance(folder, str)]
    project_hash = json_text(header.get("projectHash"))
    parent = _SUBAGENT_FOLDER.search(reader.path) if header.get("kind") == "subagent" else None
    metadata: JsonObject = {
        "title": json_text(header.get("summary")),
        "project_hash": project_hash,
        "parent_session": parent[1] if parent is not None else "",
    }
    return _Session(
        f"gemini_cli:{json_text(header.get('sessionId')) or reader.path}",
        _project_root(reader) or next(iter(folders), "") or project_hash[:_SHORT_HASH],
        without_blanks(metadata),
    )


@final
@frozen
class _Session:
    conversation_id: str
    project: str
    metadata: JsonObject

    def parsed(self, message: JsonObject) -> Iterator[Parsed]:
        type_ = json_text(message.get("type")) or json_text(message.get("role"))
        role = _ROLES.get(type_)
        if role is None:
            yield UnknownRecord(type_ or "(none)")
            return
        parts = parts_of(message)
        words = BETWEEN_BLOCKS.join(parts.texts)
        display = shown(message)
        kind: TurnKind = "harness"
        if role != "system":
            kind = kind_of_words(words, display=display, is_users=role == "user")
        spoken: tuple[tuple[Role, TurnKind, str, str], ...] = (
            (role, "thinking", BETWEEN_BLOCKS.join(filter(None, parts.thinking)), "#thinking"),
            ("summary" if kind == "summary" else role, kind, words, ""),
            ("tool", "tool_result", BETWEEN_BLOCKS.join(filter(None, parts.results)), "#results"),
        )
        metadata = without_blanks(
            {
                **self.metadata,
                "model": json_text(message.get("model")),
                "display": display if kind == "command" else "",
                "tool_calls": tuple(parts.tool_calls),
            }
        )
        native_id = json_text(message.get("id"))
        when = message.get("timestamp") or message.get("ts")
        for speaker, its_kind, text, suffix in spoken:
            if text.strip():
                yield PromptTurn(
                    conversation_id=self.conversation_id,
                    role=speaker,
                    content=text,
                    kind=its_kind,
                    native_id=native_id + suffix if native_id else None,
                    timestamp=instant_of(when),
                    project=self.project,
                    metadata=metadata,
                )


def _project_root(reader: HistoryReader) -> str:
    for place in _PROJECT_ROOTS:
        if (root := reader.sibling(place)) is not None:
            return b"".join(root.blocks())[:4096].decode("utf-8", "replace").strip()
    return ""


def parts_of(message: JsonObject) -> Content:
    """Return the parts of *message*, of a session or of a checkpoint."""
    parts = Content(thinking=[_thought(thought) for thought in json_objects(message.get("thoughts"))])
    content = message.get("content", message.get("parts"))
    for item in (content,) if isinstance(content, str | dict) else json_items(content):
        part = json_object(item)
        text = item if isinstance(item, str) else json_text(part.get("text"))
        if text.strip():
            (parts.thinking if part.get("thought") is True else parts.texts).append(text)
        if response := json_object(part.get("functionResponse")):
            parts.results.append(_result(response))
        if call := json_object(part.get("functionCall")):
            parts.tool_calls.append(_named(call))
    for call in json_objects(message.get("toolCalls")):
        parts.tool_calls.append(_named(call))
        responses = [
            _result(json_object(part.get("functionResponse"))) for part in json_objects(call.get("result"))
        ]
        parts.results.append(
            BETWEEN_BLOCKS.join(filter(None, responses)) or json_text(call.get("resultDisplay"))
        )
    return parts


def _thought(thought: JsonObject) -> str:
    return ": ".join(filter(None, (json_text(thought.get("subject")), json_text(thought.get("description")))))


def _result(response: JsonObject) -> str:
    return first_text(json_object(response.get("response")), "output", "error", "content")


def _named(call: JsonObject) -> JsonObject:
    return {key: text for key in ("name", "id", "status") if (text := json_text(call.get(key)))}


def shown(message: JsonObject) -> str:
    """Return the text that the person saw instead of the text that the model received: ``/init`` instead of its instructions."""
    display: Json = message.get("displayContent")
    if isinstance(display, str):
        return display
    return BETWEEN_BLOCKS.join(
        text for part in json_objects(display) if (text := json_text(part.get("text")))
    )


def kind_of_words(text: str, *, display: str, is_users: bool) -> TurnKind:
    """Return the kind of *text*, for which the person saw *display*."""
    start = text.lstrip()
    if start.startswith(_SNAPSHOT):
        return "summary"
    if not is_users:
        return "harness" if start == _SETUP_ANSWER else "typed"
    if start.startswith(_SETUP):
        return "harness"
    is_command = start == _GO_ON or _SLASH_COMMAND.match(display or start) is not None
    return "command" if is_command else "typed"
