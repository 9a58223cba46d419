"""``antigravity``: Google's Antigravity, ``~/.gemini/antigravity*/brain/<id>/.system_generated/logs/transcript.jsonl``.

Newer versions keep a SQLite store for each conversation, ``conversations/<id>.db``: ``sqlite_stores.py`` reads the same steps.

Steps of ``{step_index, source, type, status, created_at, content}``.  The words of a person are inside
``<USER_REQUEST>``, next to text that the tool adds.  Built from a public transcript and public adapters; tools have
many step types, and the source of a step shows whether it holds words.
"""

import re
from typing import Final

from chatmemory.input.json_value import JsonObject, first_text, json_objects, json_text
from chatmemory.pastchats.formats.histories import UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, HistoryReader, roots_in
from chatmemory.pastchats.formats.reading.content_blocks import Content, plain_text
from chatmemory.pastchats.formats.reading.instants import instant_of
from chatmemory.pastchats.formats.shapes.line_format import Line, LineFormat, Read, Session

_CONVERSATION: Final = re.compile(r"[/\\]brain[/\\]([^/\\]+)[/\\]|\.db!antigravity/([^/\\]+)\.jsonl\Z")
_REQUEST: Final = re.compile(r"<USER_REQUEST>\s*([\s\S]*?)\s*(?:</USER_REQUEST>|\Z)")
_ANSWERS: Final = frozenset({"PLANNER_RESPONSE", "MODEL_RESPONSE", "AGENT_RESPONSE", "NOTIFY_USER"})
_SILENT: Final = frozenset({"CHECKPOINT", "CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "TASK_BOUNDARY"})


def _claim(record: JsonObject, _path: str) -> Claim | None:
    if {"step_index", "source", "type"} <= record.keys() and isinstance(record.get("step_index"), int):
        return Claim(95, "a step with step_index, source and type")
    return None


def _read(record: JsonObject, _session: Session) -> Read:
    kind, source = json_text(record.get("type")), json_text(record.get("source"))
    text = plain_text(record.get("content"))
    content = Content(thinking=[first_text(record, "thinking", "thought")])
    for call in json_objects(record.get("tool_calls")):
        content.called(call.get("name"), call.get("id"))
    at = instant_of(record.get("created_at"))
    native_id = str(record.get("step_index", ""))
    if kind == "USER_INPUT":
        words: list[str] = _REQUEST.findall(text)
        content.texts = words or [text]
        content.attached = [_REQUEST.sub("", text).strip()] if words else []
        is_typed = source in {"USER_EXPLICIT", "USER", ""}
        return Line(role="user", kind="typed" if is_typed else "harness", content=content,
                    native_id=native_id, at=at)  # fmt: skip
    if kind in _ANSWERS:
        content.texts.append(text)
        return Line(role="assistant", content=content, native_id=native_id, at=at)
    if kind in _SILENT:
        return None
    if source == "MODEL" or record.get("tool_calls"):
        content.results.append(text)  # a step of the model that is not an answer is the output of a tool
        return Line(role="tool", content=content, native_id=native_id, at=at)
    if source == "SYSTEM":
        content.texts.append(text)
        return Line(role="system", kind="harness", content=content, native_id=native_id, at=at)
    return UnknownRecord(f"{kind or '(none)'} of {source or '(none)'}")


def _begin(reader: HistoryReader, session: Session) -> None:
    found = _CONVERSATION.search(reader.path)
    session.native_id = "" if found is None else found[1] or found[2]


antigravity: Final = LineFormat(
    name="antigravity",
    claim_of=_claim,
    read=_read,
    begin=_begin,
    known_roots=roots_in(
        "~/.gemini/antigravity-cli",
        "~/.gemini/antigravity",
        "~/.gemini/antigravity-ide",
        files=("brain/*/.system_generated/logs/transcript.jsonl", "conversations/*.*"),
    ),
)
