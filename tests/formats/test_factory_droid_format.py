"""Droid of Factory: its sessions, and the stream that ``droid exec`` prints."""

from typing import Any

from chatmemory.pastchats.formats.agents.factory_droid import factory_droid
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from tests.formats.histories import format_of
from tests.formats.large_history import at, lines, text
from tests.formats.small_histories import ANSWERED, ASKED
from tests.read_turns import read


def streamed(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s1", **fields}


def message(number: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    said = {"role": role, "content": list(content)}
    return {"type": "message", "id": f"m{number}", "timestamp": at(number), "message": said}


def test_a_stream_of_droid_exec_is_droids_and_says_its_answer_once() -> None:
    stream = lines(
        streamed("system", subtype="init", cwd="/home/lin/shop", tools=["Read"], model="m"),
        streamed("message", role="user", id="m1", text=ASKED, timestamp=1780308000000),
        streamed("tool_call", id="c1", toolName="Read", parameters={}, timestamp=1780308001000),
        streamed("tool_result", id="r1", toolId="c1", isError=False, value="FROM python"),
        streamed("message", role="assistant", id="m2", text=ANSWERED),
        streamed("completion", finalText=ANSWERED, numTurns=1),
    )
    assert format_of(TextReader("x.jsonl", {"x.jsonl": stream})).name == "factory_droid"
    found = read(factory_droid, stream)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.conversations == ["factory_droid:s1"]
    assert [turn.content for turn in found.turns if turn.role == "tool"] == ["FROM python"]


def test_reminders_tools_and_unknown_records_are_told_apart() -> None:
    reminder = "<system-reminder>\nToday is Monday.\n</system-reminder>\n"
    history = lines(
        {"type": "session_start", "id": "d2", "title": "t"},
        message(1, "user", *text(reminder + ASKED)),
        message(
            2, "assistant", *text(ANSWERED), {"type": "tool_use", "id": "c1", "name": "Execute", "input": {}}
        ),
        message(3, "user", {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}),
        {"type": "todo_state", "todos": []},
        {"type": "hologram"},
    )
    found = read(factory_droid, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "Execute", "id": "c1"}]
    assert [turn.kind for turn in found.turns] == ["typed", "harness", "typed", "tool_result"]
    assert found.unknown == ["hologram"]
