"""``continue``: the sessions of Continue, one file each under ``~/.continue/sessions``.

Continue writes the start of a session into an index next to it, but no times of turns: turns have no time.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.input.json_value import (
    EMPTY,
    JsonObject,
    first_said,
    json_object,
    json_objects,
    json_text,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, content_of, content_turns
from chatmemory.pastchats.formats.reading.json_walk import json_members, texts_beside
from chatmemory.pastchats.formats.reading.known_folders import folder_of
from chatmemory.pastchats.prompt import TurnKind

_ROLES: Final[Mapping[str, tuple[Role, TurnKind]]] = {
    "user": ("user", "typed"),
    "assistant": ("assistant", "typed"),
    "thinking": ("assistant", "thinking"),
    "tool": ("tool", "tool_result"),
    "system": ("system", "harness"),
}


def _claim(head: Head) -> Claim | None:
    """Claim a session with a ``history`` of ``message`` objects; the index of the sessions is not a transcript."""
    session = json_object(head.document)
    history = list(json_objects(session.get("history")))
    if any("role" in json_object(item.get("message")) for item in history):
        is_told = {"workspaceDirectory", "sessionId"} & session.keys() or any(
            {"contextItems", "promptLogs", "editorState"} & item.keys() for item in history
        )
        return Claim(96 if is_told else 60, "a history of messages with context items")
    if {"sessionId", "workspaceDirectory", "history"} <= session.keys():
        return Claim(92, "sessionId, workspaceDirectory and history")
    first = next(json_objects(head.document), EMPTY)
    if {"sessionId", "dateCreated", "workspaceDirectory"} <= first.keys():
        return Claim(92, "the index of Continue's sessions", is_transcript=False)
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    session = texts_beside(reader, "history")
    native_id = session.get("sessionId") or reader.path
    for found in json_members(reader, ("history",)):
        if isinstance(found, HistoryIssue):
            yield found
            continue
        item = json_object(found[1])
        message = json_object(item.get("message"))
        role = json_text(message.get("role"))
        if role not in _ROLES:
            yield UnknownRecord(f"role {role}")
            continue
        speaker, kind = _ROLES[role]
        yield from content_turns(
            _content(item, message),
            conversation_id=f"continue:{native_id}",
            role=speaker,
            kind=kind,
            native_id=json_text(message.get("id")),
            project=folder_of(session.get("workspaceDirectory", "")),
            metadata={
                "title": session.get("title"),
                "model": session.get("chatModelTitle") if role == "assistant" else "",
            },
        )


def _content(item: JsonObject, message: JsonObject) -> Content:
    content = content_of(message.get("content"))
    content.thinking.append(json_text(json_object(item.get("reasoning")).get("text")))
    for call in json_objects(message.get("toolCalls")):
        content.called(json_object(call.get("function")).get("name"), call.get("id"))
    for context in json_objects(item.get("contextItems")):
        name = first_said(context.get("description"), context.get("name"))
        content.attach(name, "context", context.get("content"))
    return content


continue_dev: Final = FileFormat(
    "continue", _claim, _parse, known_roots=roots_in("~/.continue/sessions", files=("*.json",))
)
