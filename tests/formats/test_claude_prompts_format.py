"""The prompts that Claude Code keeps: one turn each, with what was pasted in its place."""

from typing import Any

from chatmemory.pastchats.formats.claude.claude_prompts import claude_prompts
from tests.formats.exported import certainty
from tests.formats.large_history import lines
from tests.read_turns import claimed, read

PATH = "/home/mei/.claude/history.jsonl"
PASTED = {
    "1": {"id": 1, "type": "text", "content": "Traceback\n  boom"},
    "2": {"id": 2, "contentHash": "ab12"},
}


def prompt(second: int, display: str, pasted: Any = None, **session: str) -> dict[str, Any]:
    about = {"timestamp": 1772442720250 + 1000 * second, "project": "/home/mei/relay"}
    return {"display": display, "pastedContents": pasted or {}, **about, **session}


HISTORY = lines(
    prompt(0, "重试几次？", sessionId="s-1"),
    prompt(1, "Why [Pasted text #1 +2 lines] and [Pasted text #2 +90 lines]?", PASTED, sessionId="s-1"),
    prompt(2, "/model opus"),
    prompt(3, " "),
)


def test_each_prompt_is_a_turn_with_its_time_and_folder_and_nothing_typed_is_none() -> None:
    found = read(claude_prompts, HISTORY, path=PATH)
    # Text stands where it was pasted, and a placeholder where it is kept elsewhere.
    assert [(turn.kind, turn.content) for turn in found.turns] == [
        ("typed", "重试几次？"),
        ("typed", "Why Traceback\n  boom and [Pasted text #2 +90 lines]?"),
        ("command", "/model opus"),
    ]
    assert {(turn.role, turn.project) for turn in found.turns} == {("user", "/home/mei/relay")}
    assert str(found.turns[0].timestamp) == "2026-03-02 09:12:00.250000+00:00"
    # Before there were sessions, a project was a conversation.
    assert found.conversations == ["claude_prompts:s-1", f"claude_prompts:{PATH}#/home/mei/relay"]


def test_damage_and_unknown_records_are_told() -> None:
    found = read(claude_prompts, HISTORY + '{"type":"other"}\n7\n{"display":\n')
    assert (len(found.turns), found.unknown) == (3, ["other", "(none)"])
    assert [issue.code for issue in found.issues] == ["malformed_record"]


def test_it_knows_its_own_by_content_alone() -> None:
    assert certainty(claude_prompts, HISTORY) >= 90
    assert claimed(claude_prompts, lines({"session_id": "s", "ts": 1772442720, "text": "?"})) is None
