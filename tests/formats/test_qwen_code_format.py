"""Qwen Code: records named as Claude Code's, messages as Gemini's."""

from chatmemory.pastchats.formats.agents.qwen_code import qwen_code
from tests.formats.agent_histories import ANSWERED, ASKED, QWEN, TALK, THANKED, at, lines
from tests.read_turns import read


def record(
    native_id: str, parent: str | None, kind: str, *parts: object, **more: object
) -> dict[str, object]:
    about = {"uuid": native_id, "parentUuid": parent, "sessionId": "q1", "timestamp": at(1), "type": kind}
    role = "model" if kind == "assistant" else "user"
    return {**about, "cwd": "/home/lin/shop", "message": {"role": role, "parts": list(parts)}, **more}


def test_a_session_says_who_said_what_where_on_which_branch_and_when() -> None:
    found = read(qwen_code, QWEN)
    assert found.said == list(TALK)
    first = found.kept[0]
    assert (first.conversation_id, first.project) == ("qwen_code:q1", "/home/lin/shop")
    assert first.metadata == {"git_branch": "main"}
    assert first.timestamp is not None


def test_thoughts_calls_results_and_notifications_are_told_apart() -> None:
    found = read(
        qwen_code,
        lines(
            record("a", None, "user", {"text": ASKED}),
            record("b", "a", "assistant", {"text": "Layers?", "thought": True}, {"text": ANSWERED},
                   {"functionCall": {"id": "c1", "name": "read_file", "args": {}}}, model="qwen3-coder"),
            record("c", "b", "tool_result", {"functionResponse": {"id": "c1", "response": {"output": "FROM python"}}}),
            record("d", "c", "user", {"text": "task 1 is done"}, subtype="notification"),
            record("e", "d", "system", systemPayload={"customTitle": "Nightly build"}, subtype="custom_title"),
            record("f", "e", "user", {"text": THANKED}),
            record("g", "f", "hologram"),
        ),
    )  # fmt: skip
    assert found.said == [("user", ASKED), ("assistant", ANSWERED), ("user", THANKED)]
    assert [turn.kind for turn in found.turns] == [
        "typed",
        "thinking",
        "typed",
        "tool_result",
        "harness",
        "typed",
    ]
    assert found.kept[1].metadata["model"] == "qwen3-coder"
    assert found.kept[2].metadata["title"] == "Nightly build"
    assert found.unknown == ["hologram"]
