"""``cline``: tasks of Cline, Roo Code and Kilo Code, and sessions of Cline's SDK.

A task is a folder with the messages that its window showed (``ui_messages.json``) and those that the model received
(``api_conversation_history.json``).  Both hold the same conversation; the first file is read when it exists, because
it holds the texts that a person wrote and read.  A session of the SDK is one file, ``<id>.messages.json``.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from chatmemory.input.json_value import (
    EMPTY,
    JsonObject,
    first_said,
    json_object,
    json_objects,
    json_text,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, PromptTurn, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, KnownRoot
from chatmemory.pastchats.formats.reading.content_blocks import content_of, content_turns, plain_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_walk import (
    json_members,
    object_members,
    texts_beside,
    whole_object,
)
from chatmemory.pastchats.formats.reading.known_folders import USER_FOLDERS
from chatmemory.pastchats.formats.tools.cline_display import (
    display_turns,
    sort_answer,
    sort_request,
    working_folder,
)

_DISPLAY: Final = "ui_messages.json"
_SENT: Final = "api_conversation_history.json"

_EXTENSIONS: Final = (
    "saoudrizwan.claude-dev",
    "rooveterinaryinc.roo-cline",
    "rooveterinaryinc.roo-code-nightly",
    "kilocode.kilo-code",
)
_FILES: Final = (f"tasks/*/{_DISPLAY}", f"tasks/*/{_SENT}")

_SIGNS: Final = (
    "<environment_details>",
    "<task>",
    "[attempt_completion]",
    "<user_message>",
    "<attempt_completion>",
)

# Other files of a task, and the keys that identify them.
_NO_TRANSCRIPTS: Final = (
    ({"files_in_context", "model_usage"}, "what a task touched (task_metadata.json)"),
    ({"id", "ts", "task", "tokensIn"}, "the list of tasks (taskHistory.json, history_item.json)"),
)


def _claim(head: Head) -> Claim | None:
    """Claim the messages of the window, the messages of the model, and a session of the SDK; mark known other files."""
    entries = list(json_objects(head.document)) or [json_object(head.document)]
    if any("ts" in one and _is_shown(one) for one in entries):
        return Claim(96, "messages with ts, and type say or ask")
    messages = list(json_objects(entries[0].get("messages")))
    if "sessionId" in entries[0] and any({"role", "content", "ts"} <= one.keys() for one in messages):
        return Claim(90, "sessionId, and messages with role, content and ts")
    for keys, what in _NO_TRANSCRIPTS:
        if keys <= entries[0].keys():
            return Claim(80, what, is_transcript=False)
    if isinstance(head.document, list) and any({"role", "content"} <= one.keys() for one in entries):
        sign = next((sign for sign in _SIGNS if sign in head.text), None)
        if sign or head.path.endswith(_SENT):
            return Claim(90, f"messages with {sign}" if sign else f"messages in {_SENT}")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    first = _first_message(reader)
    if first is None:
        yield from _session_turns(reader)
    elif _is_shown(first):
        yield from display_turns(reader, f"cline:{_task(reader)}")
    elif _has_display(reader):
        yield HistoryIssue(
            "not_a_transcript", reader.path, f"the same task is read from {_DISPLAY} beside it"
        )
    else:
        yield from _sent_turns(reader, f"cline:{_task(reader)}")


def _is_shown(message: JsonObject) -> bool:
    kind = json_text(message.get("type"))
    return kind in {"say", "ask"} and isinstance(message.get(kind), str)


def _first_message(reader: HistoryReader) -> JsonObject | None:
    """Return the first object of a list; None when the document is not a list."""
    for found in json_members(reader, ()):
        if not isinstance(found, HistoryIssue):
            if isinstance(found[0][0], str):
                break
            if isinstance(found[1], dict):
                return json_object(found[1])
    return None


def _task(reader: HistoryReader) -> str:
    """Return the id of a task, which is the name of its folder; the path for files with another name."""
    folder = reader.path.replace("\\", "/").rsplit("/", 2)[-2:-1]
    return folder[0] if folder and folder[0] and reader.name in {_DISPLAY, _SENT} else reader.path


def _has_display(reader: HistoryReader) -> bool:
    beside = reader.sibling(_DISPLAY) if reader.name == _SENT else None
    return beside is not None and any(isinstance(one, PromptTurn) for one in display_turns(beside, "cline:"))


def _sent_turns(reader: HistoryReader, conversation_id: str) -> Iterator[Parsed]:
    folder = ""
    for found in object_members(reader):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        # The first request holds the folder where the task began.
        folder = folder or working_folder(plain_text(found.get("content")))
        yield from _message_turns(found, conversation_id, folder, {})


def _session_turns(reader: HistoryReader) -> Iterator[Parsed]:
    session = texts_beside(reader, "messages")
    native_id = session.get("sessionId") or reader.path
    folder = _session_folder(reader, native_id)
    for found in object_members(reader, "messages"):
        if isinstance(found, HistoryIssue):
            yield found
        else:
            yield from _message_turns(found, f"cline:{native_id}", folder, session)


def _session_folder(reader: HistoryReader, native_id: str) -> str:
    beside = reader.sibling(f"{native_id}.json") if "/" not in native_id else None
    fields = EMPTY if beside is None else whole_object(beside)
    return first_said(fields.get("cwd"), fields.get("workspace_root"), fields.get("workspaceRoot"))


def _message_turns(
    message: JsonObject, conversation_id: str, folder: str, session: Mapping[str, str]
) -> Iterator[Parsed]:
    role = json_text(message.get("role"))
    if role not in {"user", "assistant"}:
        yield UnknownRecord(f"role {role}")
        return
    content = content_of(message.get("content"))
    if role == "user":
        sort_request(content)
    else:
        sort_answer(content, message.get("content"))
    model = first_said(json_object(message.get("modelInfo")).get("id"), message.get("model"))
    is_summary = bool(message.get("isSummary"))
    yield from content_turns(
        content,
        conversation_id=conversation_id,
        role="summary" if is_summary else "user" if role == "user" else "assistant",
        kind="summary" if is_summary else "typed",
        native_id=json_text(message.get("id")),
        timestamp=instant_of(message.get("ts")),
        project=folder,
        metadata={"cwd": folder, "model": model, "agent": session.get("agent")},
    )


cline: Final = FileFormat(
    "cline",
    _claim,
    _parse,
    version=2,
    known_roots=(
        *(KnownRoot(f"{user}/globalStorage/{one}", _FILES) for user in USER_FOLDERS for one in _EXTENSIONS),
        KnownRoot("~/.cline/data", (*_FILES, "sessions/*/*.messages.json")),
    ),
)
