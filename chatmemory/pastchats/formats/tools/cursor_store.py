"""``cursor_store``: the chats of Cursor's window, ``User/globalStorage/state.vscdb``, one conversation at a time.

Rows of ``cursorDiskKV`` as ``sqlite_stores.py`` returns them: ``composer`` (the conversation) and ``bubble`` (a
message, type 1 of a person and 2 of the model).  Built from public readers of that store.
"""

from typing import Final

from chatmemory.input.json_value import JsonObject, first_text, json_items, json_object, json_text
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.reading.known_folders import folder_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session

_PERSON: Final = 1
_MODEL: Final = 2


def _claim(record: JsonObject, _path: str) -> Claim | None:
    kind = json_text(record.get("record"))
    if kind in {"composer", "bubble"} and "value" in record:
        return Claim(97, f"a row of Cursor's store, {kind}")
    return None


def _read(record: JsonObject, session: Session) -> Read:
    kind = json_text(record.get("record"))
    value = json_object(record.get("value"))
    if kind not in {"composer", "bubble"} or not value:
        return UnknownRecord(f"{kind or '(none)'} without JSON")
    if kind == "composer":
        session.native_id = session.native_id or json_text(value.get("composerId"))
        session.facts |= {"title": json_text(value.get("name"))}
        return None
    session.project = session.project or _folder(value)
    speaker = value.get("type")
    if speaker not in (_PERSON, _MODEL):
        return UnknownRecord(f"bubble of type {speaker}")
    content = Content(
        texts=[json_text(value.get("text"))],
        thinking=[json_text(json_object(value.get("thinking")).get("text"))],
    )
    tool = json_object(value.get("toolFormerData"))
    if tool:
        content.called(tool.get("name"), tool.get("toolCallId"))
        content.results.append(json_text(tool.get("result")))
    times = json_object(value.get("timingInfo"))
    model = json_text(json_object(value.get("modelInfo")).get("modelName"))
    return Line(
        role="user" if speaker == _PERSON else "assistant",
        content=content,
        native_id=first_text(value, "bubbleId"),
        at=instant_of(value.get("createdAt") or times.get("clientStartTime") or times.get("clientEndTime")),
        facts={"model": model} if speaker == _MODEL else {},
    )


def _folder(bubble: JsonObject) -> str:
    uris = json_items(bubble.get("workspaceUris"))
    return folder_of(json_text(uris[0])) if uris else json_text(bubble.get("workspaceProjectDir"))


cursor_store: Final = LineFormat(
    name="cursor_store",
    claim_of=_claim,
    read=_read,
    has_global_ids=True,
    known_roots=roots_in(
        "~/.config/Cursor/User/globalStorage",
        "~/Library/Application Support/Cursor/User/globalStorage",
        "$APPDATA/Cursor/User/globalStorage",
        files=("state.vscdb",),
    ),
)
