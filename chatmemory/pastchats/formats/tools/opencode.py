"""``opencode``: sessions of opencode, as many small files in its store, and as one file of ``opencode export``.

A stored session is read from its own file, ``session/<project>/<id>.json``; its messages and their parts are in
folders of the same store.  Memory holds the messages of one session without their parts.  Since version 1.2 a SQLite
database, ``opencode.db``, replaces these files: its rows come from ``sqlite_stores.py``, and hold the same data.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    EMPTY,
    Json,
    JsonObject,
    first_said,
    json_object,
    json_objects,
    json_text,
    value_at,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_turns, plain_text
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.json_walk import END, json_members, walk
from chatmemory.pastchats.formats.reading.known_folders import DATA_FOLDERS

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}

_SILENT: Final = frozenset(
    {"step-start", "step-finish", "snapshot", "patch", "compaction", "agent", "retry", "subtask"}
)
"""Types of parts without words."""

_SILENT_ENTRIES: Final = frozenset(
    {"system", "skill", "agent-switched", "model-switched", "location-switched", "idle"}
)

# From the file of a session to the folders of messages and of parts: the current layout, and the one before version
# 0.6.
_LAYOUTS: Final = (
    ("../../message/{session}", "../../part/{message}"),
    ("../message/{session}", "../part/{session}/{message}"),
)

_PLAIN_ID: Final = re.compile(r"[\w.-]+")

_STORE_PART: Final = re.compile(r"[/\\](message|part)[/\\][^/\\]+[/\\](?:[^/\\]+[/\\])?[^/\\]+\.json\Z")

# Other files of the store, and the keys that identify them.
_NO_TRANSCRIPTS: Final = (
    ({"id", "worktree", "time"}, "a project of opencode"),
    ({"file", "additions", "deletions"}, "what a session of opencode changed"),
)


def _claim(head: Head) -> Claim | None:
    """Claim a session, stored or exported; messages and parts of the store are read with their session."""
    row = head.first if head.records else EMPTY
    if row.get("record") == "session" and {"directory", "title"} <= row.keys():
        return Claim(97, "a session of opencode's store")
    if row.get("record") == "entry" and {"type", "data"} <= row.keys():
        return Claim(97, "a message in the store of opencode 2")
    if row.get("record") == "part" and {"message_id", "message"} <= row.keys():
        return Claim(97, "a part of a message in opencode's store")
    document = json_object(head.document)
    if "messages" in document and _is_session(json_object(document.get("info"))):
        return Claim(95, "an exported session: info and messages")
    if _is_session(document):
        return Claim(93, "a session with id, title, version and time.created")
    native_id = json_text(document.get("id"))
    if {"sessionID", "messageID", "type"} <= document.keys() and native_id:
        return Claim(90, "a part of a message, which is read with its session", is_transcript=False)
    if {"sessionID", "role", "time"} <= document.keys() and native_id:
        return Claim(90, "a message, which is read with its session", is_transcript=False)
    for keys, what in _NO_TRANSCRIPTS:
        if keys <= next(json_objects(head.document), document).keys():
            return Claim(75, what, is_transcript=False)
    if native_id and {"type", "role"} & document.keys() and _STORE_PART.search(head.path):
        return Claim(60, "a message or part, which is read with its session", is_transcript=False)
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    head = read_head(reader)
    if head.records and "record" in head.first:
        row: dict[str, Json] = {}
        yield from _turns(_rows(reader, row), row, reader.path)
        return
    session: dict[str, Json] = {}
    is_export = False
    for found in walk(reader, ("messages",)):
        if isinstance(found, HistoryIssue):
            yield found
        elif found[0][:1] == ("messages",):
            is_export = True
        elif len(found[0]) == 1 and found[1] is not END:
            session[str(found[0][0])] = found[1]
    about = json_object(session.get("info")) if is_export else session
    native_id = json_text(about.get("id")) or reader.path
    yield from _turns(_exported(reader) if is_export else _stored(reader, native_id), about, native_id)


def _is_session(document: JsonObject) -> bool:
    time = json_object(document.get("time"))
    is_told = {"projectID", "directory", "version"} & document.keys()
    return bool(json_text(document.get("id")) and "title" in document and "created" in time and is_told)


@final
@frozen
class _Message:
    """A message with its parts."""

    info: JsonObject
    parts: Sequence[JsonObject]


def _rows(reader: HistoryReader, about: dict[str, Json]) -> Iterator[_Message | HistoryIssue | UnknownRecord]:
    """Yield the messages of a session in rows: the session, put into *about*, then each message with one of its parts."""
    info: JsonObject = {}
    parts: list[JsonObject] = []
    for found in json_lines(reader):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        row = json_object(found.value)
        kind = json_text(row.get("record"))
        if kind == "session":
            about |= {**row, "parentID": row.get("parent_id")}
        elif kind == "part":
            if row.get("message_id") != info.get("id"):
                if info:
                    yield _Message(info, parts)
                info, parts = {**json_object(row.get("message")), "id": row.get("message_id")}, []
            if row.get("part") is not None:
                parts.append(json_object(row.get("part")))
        elif kind == "entry":
            yield from _entry(row)
        else:
            yield UnknownRecord(kind or "(none)")
    if info:
        yield _Message(info, parts)


def _entry(row: JsonObject) -> Iterator[_Message | UnknownRecord]:
    """Yield the message of a row of opencode 2, in the form of version 1."""
    kind, data = json_text(row.get("type")), json_object(row.get("data"))
    model = json_object(data.get("model"))
    info: dict[str, Json] = {
        "id": row.get("id"),
        "role": "user" if kind in {"user", "synthetic"} else "assistant",
        "time": {"created": row.get("time_created")},
        "modelID": first_said(model.get("id"), model.get("modelID")),
        "summary": kind == "compaction",
        "error": {"data": data.get("error")},
    }
    said = {"type": "text", "text": first_said(data.get("text"), data.get("summary"))}
    if kind == "shell":
        output = first_said(data.get("output"), json_object(data.get("output")).get("output"))
        called: JsonObject = {"type": "tool", "tool": "shell", "state": {"output": output}}
        yield _Message(info, [called])
    elif kind in {"user", "synthetic", "compaction"}:
        files = [{**file, "type": "file"} for file in json_objects(data.get("files"))]
        yield _Message(info, [{**said, "synthetic": kind == "synthetic"}, *files])
    elif kind == "assistant":
        yield _Message(info, list(json_objects(data.get("content"))))
    elif kind not in _SILENT_ENTRIES:
        yield UnknownRecord(f"entry {kind or '(none)'}")


def _exported(reader: HistoryReader) -> Iterator[_Message | HistoryIssue]:
    for found in json_members(reader, ("messages",)):
        # The first walk has reported the damage.
        if not isinstance(found, HistoryIssue) and isinstance(found[1], Mapping):
            yield _Message(json_object(found[1].get("info")), list(json_objects(found[1].get("parts"))))


def _stored(reader: HistoryReader, native_id: str) -> Iterator[_Message | HistoryIssue]:
    """Yield the messages in the store, in the order of their creation."""
    if not _PLAIN_ID.fullmatch(native_id):
        return
    for messages, parts in _LAYOUTS:
        began: list[tuple[float, str]] = []
        for path, info in _objects(reader, messages.format(session=native_id)):
            if isinstance(info, HistoryIssue):
                yield info
            else:
                at = instant_of(json_object(info.get("time")).get("created"))
                began.append((at.timestamp() if at else 0.0, path))
        for _, path in sorted(began):
            info = _one(reader, path)
            if not isinstance(info, HistoryIssue):
                yield from _with_parts(reader, info, parts, native_id)


def _with_parts(
    reader: HistoryReader, info: JsonObject, parts: str, session: str
) -> Iterator[_Message | HistoryIssue]:
    message = json_text(info.get("id"))
    found: list[JsonObject] = []
    folder = parts.format(session=session, message=message)
    for _, part in _objects(reader, folder) if _PLAIN_ID.fullmatch(message) else ():
        if isinstance(part, HistoryIssue):
            yield part
        else:
            found.append(part)
    # The oldest versions stored the parts in the message.
    yield _Message(info, found or list(json_objects(info.get("parts"))))


def _objects(reader: HistoryReader, folder: str) -> Iterator[tuple[str, JsonObject | HistoryIssue]]:
    """Yield the object in each file of *folder*, or an issue, with the path of the file."""
    for name in reader.entries(folder):
        if name.endswith(".json"):
            yield f"{folder}/{name}", _one(reader, f"{folder}/{name}")


def _one(reader: HistoryReader, relative: str) -> JsonObject | HistoryIssue:
    """Return the object in the file at *relative*, or an issue."""
    beside = reader.sibling(relative)
    if beside is None:
        return HistoryIssue("unreadable", reader.path, f"{relative} is gone")
    for found in walk(beside):
        if isinstance(found, HistoryIssue):
            return found
        if isinstance(found[1], Mapping):
            return found[1]
    return HistoryIssue("malformed_record", beside.path, "no JSON object")


def _turns(
    messages: Iterator[_Message | HistoryIssue | UnknownRecord], about: JsonObject, fallback: str
) -> Iterator[Parsed]:
    is_undone = False
    for message in messages:
        if not isinstance(message, _Message):
            yield message
            continue
        info = message.info
        revert = json_object(about.get("revert"))
        is_first = bool(revert) and info.get("id") == revert.get("messageID")
        # From a part on, only the rest of this message was reverted.
        is_kept = not is_undone and not (is_first and not revert.get("partID"))
        is_undone = is_undone or is_first
        role = _ROLES.get(json_text(info.get("role")))
        if role is None:
            yield UnknownRecord(f"role {info.get('role')}")
            continue
        is_summary = role == "assistant" and info.get("summary") is True
        content = _content(message, role)
        model = json_object(info.get("model"))
        yield from content_turns(
            content,
            conversation_id=f"opencode:{json_text(about.get('id')) or fallback}",
            role="summary" if is_summary else role,
            kind="summary" if is_summary else "typed",
            native_id=json_text(info.get("id")),
            timestamp=instant_of(json_object(info.get("time")).get("created")),
            project=json_text(about.get("directory")),
            metadata={
                "title": about.get("title"),
                "cwd": about.get("directory"),
                "parent_session": about.get("parentID"),
                "model": first_said(info.get("modelID"), model.get("modelID")) if role == "assistant" else "",
                "on_current_path": None if is_kept else False,
                "error": value_at(info, "error", "data", "message"),
            },
        )
        yield from (UnknownRecord(f"part {one}") for one in content.unknown)


def _content(message: _Message, role: Role) -> Content:
    content = Content()
    for part in message.parts:
        kind = json_text(part.get("type"))
        if kind == "text":
            # In a question, this is the text of a file; in an answer, text in place of the model's.
            is_added = role == "user" and bool(part.get("synthetic") or part.get("ignored"))
            (content.attached if is_added else content.texts).append(json_text(part.get("text")))
        elif kind == "reasoning":
            content.thinking.append(json_text(part.get("text")))
        elif kind in {"tool", "tool-invocation"}:
            _add_tool(content, part)
        elif kind == "file":
            name = first_said(part.get("filename"), part.get("url"))
            content.attach(name, part.get("mime"))
        elif kind not in _SILENT:
            content.unknown.append(kind)
    if role == "user" and not content.text:
        content.texts.append(json_text(value_at(message.info, "summary", "body")))
    return content


def _add_tool(content: Content, part: JsonObject) -> None:
    # Before version 0.2 the call was one level deeper.
    call = json_object(part.get("toolInvocation"))
    state = json_object(part.get("state"))
    content.called(
        first_said(part.get("tool"), part.get("name"), call.get("toolName")),
        first_said(part.get("callID"), part.get("id") if "name" in part else "", call.get("toolCallId")),
    )
    said = first_said(state.get("output"), state.get("error"), call.get("result"))
    content.results.append(said or plain_text(state.get("content")))


_FOLDERS: Final = tuple(f"{data}/opencode" for data in DATA_FOLDERS)

opencode: Final = FileFormat(
    "opencode",
    _claim,
    _parse,
    version=3,
    known_roots=roots_in(
        "$OPENCODE_DB",
        *(f"{data}/opencode/$OPENCODE_DB" for data in DATA_FOLDERS),
        *_FOLDERS,
        files=("opencode*.db",),
    )
    + roots_in(*_FOLDERS, files=("storage/session/*/*.json", "project/*/storage/session/info/*.json")),
)
