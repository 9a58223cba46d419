"""Kimi: messages between records of its own."""

from chatmemory.pastchats.formats.agents.kimi_cli import kimi_cli
from tests.formats.agent_histories import ANSWERED, ASKED, KIMI, TALK, lines, text
from tests.read_turns import read


def test_a_context_says_who_said_what_and_loses_no_answer() -> None:
    found = read(kimi_cli, KIMI, path="/home/lin/.kimi/sessions/0a1b/k1/context.jsonl")
    assert found.said == list(TALK)
    assert found.conversations == ["kimi_cli:k1"]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["Layers?"]


def test_calls_results_and_unknown_roles_are_told_apart() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "Shell", "arguments": "{}"}}
    found = read(
        kimi_cli,
        lines(
            {"role": "_checkpoint", "id": 0},
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": text(ANSWERED), "tool_calls": [call]},
            {"role": "tool", "content": text("ok"), "tool_call_id": "c1"},
            {"role": "narrator", "content": "?"},
        ),
    )
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "Shell", "id": "c1"}]
    assert found.unknown == ["role narrator"]
