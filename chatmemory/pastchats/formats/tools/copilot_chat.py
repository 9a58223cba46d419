"""``copilot_chat``: chats of Visual Studio Code: "Chat: Export", and its own files under ``chatSessions``.

Older files are one JSON document with ``requests``, newer ones are a log of mutations; both are read request by
request.
"""

import re
from collections.abc import Iterator
from typing import Final, final

from attrs import define, field

from chatmemory.input.json_value import (
    EMPTY,
    Json,
    JsonObject,
    first_said,
    json_items,
    json_object,
    json_objects,
    json_text,
    value_at,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_turns
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.json_walk import object_members, texts_beside, whole_object
from chatmemory.pastchats.formats.reading.known_folders import USER_FOLDERS, folder_of
from chatmemory.pastchats.formats.reading.text_lines import beginning
from chatmemory.pastchats.formats.tools.mutation_log import logged_requests, session_fields

_LOG: Final = re.compile(rb'\s*\{\s*"kind"\s*:')
_OF_SESSIONS: Final = frozenset({"version", "sessionId", "creationDate", "requests", "responderUsername"})
"""Members of the state of a session; the version decides which of them exist."""

_FENCE: Final = re.compile(r"^```", re.MULTILINE)

_SILENT: Final = frozenset({
    "autoModeResolution", "codeCitation", "codeblockUri", "command", "confirmation", "contentReference",
    "disabledClaudeHooks", "elicitation", "elicitation2", "elicitationSerialized", "extensions",
    "externalEdit", "externalEdits", "hook", "info", "mcpServersStarting", "mcpServersStartingSerialized",
    "move", "multiDiffData", "notebookEdit", "notebookEditGroup", "planReview", "prepareToolInvocation",
    "progressMessage", "progressTask", "progressTaskResult", "progressTaskSerialized", "pullRequest",
    "questionCarousel", "references", "systemNotification", "textEdit", "textEditGroup", "todoList",
    "treeData", "undoStop", "usedContext", "warning", "workspaceEdit", "workspaceEdits",
})  # fmt: skip
"""Parts of an answer that are not words of it."""


def _claim(head: Head) -> Claim | None:
    """Claim a session with ``requests`` and a ``responderUsername``, or the log of such a session."""
    if head.first.get("kind") == 0 and len(_OF_SESSIONS & json_object(head.first.get("v")).keys()) > 1:
        return Claim(96, "a log of mutations that begins with a chat session")
    session = json_object(head.document)
    if _is_session(session):
        return Claim(97, "requests and responderUsername")
    if any(
        "requestId" in request and "response" in request for request in json_objects(session.get("requests"))
    ):
        return Claim(85, "requests with requestId and response")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    """Yield the turns of each request: the question and the answer."""
    is_log = _LOG.match(beginning(reader)) is not None
    session = session_fields(reader) if is_log else texts_beside(reader, "requests")
    project = _workspace(reader) or folder_of(json_text(session.get("workingDirectory")))
    conversation_id = ""
    exported = object_members(reader, "requests", called="a request")
    for found in logged_requests(reader) if is_log else exported:
        if isinstance(found, HistoryIssue):
            yield found
            continue
        if not conversation_id:
            # An export has no id; its first request is in every longer export of the same chat.
            native_id = first_said(session.get("sessionId"), found.get("requestId"), reader.path)
            conversation_id = f"copilot_chat:{native_id}"
        answer = _Answer()
        answer.read(found.get("response"))
        project = project or answer.folder.rstrip("/")
        yield from _turns(found, answer, conversation_id, project, session)
        yield from (UnknownRecord(f"response {kind}") for kind in answer.other.unknown)


def _is_session(session: JsonObject) -> bool:
    names = session.keys()
    if "responderUsername" in names:
        return "requests" in names or "sessionId" in names
    return {"version", "sessionId", "requests"} <= names


def _workspace(reader: HistoryReader) -> str:
    """Return the folder that was open in the editor; ``workspace.json`` above the sessions names it."""
    beside = reader.sibling("../workspace.json") if "chatSessions" in reader.path else None
    opened = EMPTY if beside is None else whole_object(beside)
    return folder_of(first_said(opened.get("folder"), opened.get("workspace")))


def _turns(
    request: JsonObject, answer: "_Answer", conversation_id: str, project: str, session: JsonObject
) -> Iterator[Parsed]:
    message = request.get("message")
    text = first_said(json_object(message).get("text"), message)
    asked = Content(texts=[text])
    for variable in json_objects(json_object(request.get("variableData")).get("variables")):
        asked.attach(variable.get("name"), variable.get("kind"))
    command = json_text(json_object(request.get("slashCommand")).get("name"))
    is_command = bool(command) and text.strip() == f"/{command}"
    at = instant_of(request.get("timestamp"))
    title = first_said(session.get("customTitle"), session.get("computedTitle"))
    native_id = json_text(request.get("requestId"))
    yield from content_turns(
        asked,
        conversation_id=conversation_id,
        role="user",
        kind="harness" if request.get("isSystemInitiated") else "command" if is_command else "typed",
        native_id=native_id,
        timestamp=at,
        project=project,
        metadata={"title": title},
    )
    yield from content_turns(
        answer.content(),
        conversation_id=conversation_id,
        role="assistant",
        native_id=first_said(request.get("responseId"), native_id and f"{native_id}#response"),
        timestamp=at,
        project=project,
        metadata={
            "title": title,
            "model": request.get("modelId"),
            "error": value_at(request, "result", "errorDetails", "message"),
            "is_canceled": True if request.get("isCanceled") else None,
        },
    )


@final
@define
class _Answer:
    """The parts of a response, joined."""

    pieces: list[str] = field(factory=list[str])
    other: Content = field(factory=Content)
    folder: str = ""
    is_open: bool = False

    def content(self) -> Content:
        kept: list[str] = []
        for piece in (piece.strip() for piece in self.pieces):
            # An edit inside a fence of its own is left out, so two fences without content remain: drop them.
            if kept and piece.startswith("```") and _ends_in_a_fence(kept[-1]):
                kept[-1] = kept[-1].rpartition("\n")[0]
                kept.append(piece.partition("\n")[2])
            else:
                kept.append(piece)
        self.other.texts = kept
        return self.other

    def read(self, response: Json) -> None:
        for item in json_items(response):
            part = json_object(item)
            kind = json_text(part.get("kind"))
            if isinstance(item, str):
                self._write(item)
            elif kind in {"", "markdownContent", "markdownVuln"}:
                self.folder = self.folder or json_text(json_object(part.get("baseUri")).get("path"))
                self._write(_markdown(part.get("value")) or _markdown(part.get("content")))
            elif kind == "inlineReference":
                self._write(_reference(part))
            else:
                self._read_silent(kind, part)

    def _write(self, text: str) -> None:
        if self.is_open:
            self.pieces[-1] += text
        else:
            self.pieces.append(text)
        self.is_open = True

    def _read_silent(self, kind: str, part: JsonObject) -> None:
        self.is_open = False
        if kind == "thinking":
            thought = part.get("value")
            self.other.thinking.append("".join(map(json_text, json_items(thought))) or json_text(thought))
        elif kind in {"toolInvocationSerialized", "toolInvocation"}:
            self.other.called(part.get("toolId"), part.get("toolCallId"))
            for output in json_objects(json_object(part.get("resultDetails")).get("output")):
                is_text = output.get("isText", output.get("type") == "embed")
                self.other.results.append(json_text(output.get("value")) if is_text else "")
        elif kind not in _SILENT:
            self.other.unknown.append(kind)


def _ends_in_a_fence(text: str) -> bool:
    """Return whether the last line of *text* opens a block of code."""
    return text.rpartition("\n")[2].startswith("```") and len(_FENCE.findall(text)) % 2 == 1


def _markdown(value: Json) -> str:
    return first_said(value, json_object(value).get("value"))


def _reference(part: JsonObject) -> str:
    """Return the text that a person sees of a reference: the name of a file or of a symbol."""
    target = json_object(part.get("inlineReference"))
    location = json_object(target.get("location"))
    uri = json_object(target.get("uri") or location.get("uri") or target)
    path = first_said(uri.get("path"), uri.get("fsPath"))
    return first_said(part.get("name"), target.get("name"), path.rstrip("/").split("/")[-1])


copilot_chat: Final = FileFormat(
    "copilot_chat",
    _claim,
    _parse,
    known_roots=roots_in(
        *USER_FOLDERS,
        files=(
            "workspaceStorage/*/chatSessions/*.json",
            "workspaceStorage/*/chatSessions/*.jsonl",
            "globalStorage/emptyWindowChatSessions/*.json",
            "globalStorage/emptyWindowChatSessions/*.jsonl",
        ),
    ),
)
