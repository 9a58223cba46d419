"""Kimi: messages between records of its own."""

from chatmemory.pastchats.formats.agents.kimi_cli import kimi_cli
from tests.formats.large_history import lines, text
from tests.formats.small_histories import ANSWERED, ASKED
from tests.read_turns import read


def test_thoughts_calls_results_and_unknown_roles_are_told_apart() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "Shell", "arguments": "{}"}}
    thought = {"type": "think", "think": "Layers?"}
    history = lines(
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [thought, *text(ANSWERED)], "tool_calls": [call]},
        {"role": "tool", "content": text("ok"), "tool_call_id": "c1"},
        {"role": "narrator", "content": "?"},
    )
    found = read(kimi_cli, history)
    assert found.said == [("user", ASKED), ("assistant", ANSWERED)]
    assert [turn.content for turn in found.turns if turn.kind == "thinking"] == ["Layers?"]
    assert found.kept[1].metadata["tool_calls"] == [{"name": "Shell", "id": "c1"}]
    assert found.unknown == ["role narrator"]
