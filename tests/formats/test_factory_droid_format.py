"""Droid of Factory: its sessions, and the stream that ``droid exec`` prints."""

from chatmemory.pastchats.formats.agents.factory_droid import factory_droid
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.formats.agent_histories import ANSWERED, ASKED, DROID, TALK, at, lines, text
from tests.formats.histories import format_of
from tests.read_turns import read

STREAM = lines(
    {"type": "system", "subtype": "init", "cwd": "/home/lin/shop", "session_id": "s1", "tools": ["Read"], "model": "m"},
    {"type": "message", "role": "user", "id": "m1", "text": ASKED, "timestamp": 1780308000000, "session_id": "s1"},
    {"type": "tool_call", "id": "c1", "toolName": "Read", "parameters": {}, "timestamp": 1780308001000, "session_id": "s1"},
    {"type": "tool_result", "id": "r1", "toolId": "c1", "isError": False, "value": "FROM python", "session_id": "s1"},
    {"type": "message", "role": "assistant", "id": "m2", "text": ANSWERED, "session_id": "s1"},
    {"type": "completion", "finalText": ANSWERED, "numTurns": 1, "session_id": "s1"},
)  # fmt: skip


def test_a_session_says_who_said_what_where_and_when() -> None:
    found = read(factory_droid, DROID)
    assert found.said == list(TALK)
    first = found.kept[0]
    assert (first.conversation_id, first.native_id, first.project) == (
        "factory_droid:d1",
        "m0",
        "/home/lin/shop",
    )
    assert first.timestamp is not None
    assert first.metadata["title"] == "Nightly build"


def test_a_stream_of_droid_exec_is_droids_and_says_its_answer_once() -> None:
    reader = TextReader("x.jsonl", {"x.jsonl": STREAM})
    assert format_of(reader).name == "factory_droid"
    found = read(factory_droid, STREAM)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.conversations == ["factory_droid:s1"]
    assert [turn.content for turn in found.turns if turn.role == "tool"] == ["FROM python"]


def test_reminders_tools_and_unknown_records_are_told_apart() -> None:
    reminder = "<system-reminder>\nToday is Monday.\n</system-reminder>\n"
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    call = {"type": "tool_use", "id": "c1", "name": "Execute", "input": {}}
    found = read(
        factory_droid,
        lines(
            {"type": "session_start", "id": "d2", "title": "t"},
            {"type": "message", "id": "m1", "timestamp": at(1), "message": {"role": "user", "content": text(reminder + ASKED)}},
            {"type": "message", "id": "m2", "timestamp": at(2), "message": {"role": "assistant", "content": [*text(ANSWERED), call]}},
            {"type": "message", "id": "m3", "timestamp": at(3), "message": {"role": "user", "content": [result]}},
            {"type": "todo_state", "todos": []},
            {"type": "hologram"},
        ),
    )  # fmt: skip
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "Execute", "id": "c1"}]
    assert [turn.kind for turn in found.turns] == ["typed", "harness", "typed", "tool_result"]
    assert found.unknown == ["hologram"]
