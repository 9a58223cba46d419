"""Qwen Code: records named as Claude Code's, messages as Gemini's."""

from chatmemory.pastchats.formats.agents.qwen_code import qwen_code
from tests.formats.large_history import at, lines
from tests.formats.small_histories import ANSWERED, ASKED, THANKED
from tests.read_turns import read


def record(number: int, kind: str, *parts: object, **more: object) -> dict[str, object]:
    links = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "q1"}
    message = {"role": "model" if kind == "assistant" else "user", "parts": list(parts)}
    return {**links, "timestamp": at(1), "type": kind, "cwd": "/home/lin/shop", "message": message, **more}


def test_thoughts_calls_results_and_notifications_are_told_apart() -> None:
    thought, call = {"text": "Layers?", "thought": True}, {"id": "c1", "name": "read_file", "args": {}}
    result = {"id": "c1", "response": {"output": "FROM python"}}
    history = lines(
        record(0, "user", {"text": ASKED}),
        record(1, "assistant", thought, {"text": ANSWERED}, {"functionCall": call}, model="qwen3-coder"),
        record(2, "tool_result", {"functionResponse": result}),
        record(3, "user", {"text": "task 1 is done"}, subtype="notification"),
        record(4, "system", systemPayload={"customTitle": "Nightly build"}, subtype="custom_title"),
        record(5, "user", {"text": THANKED}),
        record(6, "hologram"),
    )
    found = read(qwen_code, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED), ("user", THANKED)]
    kinds = ["typed", "thinking", "typed", "tool_result", "harness", "typed"]
    assert [turn.kind for turn in found.turns] == kinds
    assert found.kept[1].metadata["model"] == "qwen3-coder"
    assert found.kept[2].metadata["title"] == "Nightly build"
    assert found.unknown == ["hologram"]
