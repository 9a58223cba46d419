"""The prompts that Claude Code keeps: one turn each, with what was pasted in its place."""

from read_turns import as_lines, claimed, confidence, read

from chatmemory.pastchats.formats.claude.claude_prompts import claude_prompts

PATH = "/home/mei/.claude/history.jsonl"
PASTED = {
    "1": {"id": 1, "type": "text", "content": "Traceback\n  boom"},
    "2": {"id": 2, "contentHash": "ab12"},
}
HISTORY = as_lines(
    [
        {
            "display": "重试几次？",
            "pastedContents": {},
            "timestamp": 1772442720250,
            "project": "/home/mei/relay",
            "sessionId": "s-1",
        },
        {
            "display": "Why [Pasted text #1 +2 lines] and [Pasted text #2 +90 lines]?",
            "pastedContents": PASTED,
            "timestamp": 1772442721000,
            "project": "/home/mei/relay",
            "sessionId": "s-1",
        },
        {
            "display": "/model opus",
            "pastedContents": {},
            "timestamp": 1772442722000,
            "project": "/home/mei/relay",
        },
        {"display": " ", "pastedContents": {}, "timestamp": 1772442723000, "project": "/home/mei/relay"},
    ]
)


def test_each_prompt_is_a_turn_with_its_time_and_folder() -> None:
    first = read(claude_prompts, HISTORY, path=PATH).turns[0]
    assert (first.role, first.kind, first.content, first.project) == (
        "user",
        "typed",
        "重试几次？",
        "/home/mei/relay",
    )
    assert first.timestamp is not None
    assert first.timestamp.isoformat() == "2026-03-02T09:12:00.250000+00:00"


def test_pasted_text_stands_where_it_was_pasted_and_a_placeholder_where_it_is_kept_elsewhere() -> None:
    assert (
        read(claude_prompts, HISTORY).turns[1].content
        == "Why Traceback\n  boom and [Pasted text #2 +90 lines]?"
    )


def test_a_command_is_one_and_nothing_typed_is_no_turn() -> None:
    assert [turn.kind for turn in read(claude_prompts, HISTORY).turns] == ["typed", "typed", "command"]


def test_a_session_is_a_conversation_and_before_there_were_sessions_a_project() -> None:
    found = read(claude_prompts, HISTORY, path=PATH)
    assert found.conversations == ["claude_prompts:s-1", f"claude_prompts:{PATH}#/home/mei/relay"]


def test_damage_and_unknown_records_are_told() -> None:
    found = read(claude_prompts, HISTORY + '{"type":"other"}\n7\n{"display":\n')
    assert (len(found.turns), found.unknown) == (3, ["other", "(none)"])
    assert [issue.code for issue in found.issues] == ["malformed_record"]


def test_it_knows_its_own_by_content_alone() -> None:
    assert confidence(claude_prompts, HISTORY) >= 90
    assert claimed(claude_prompts, as_lines([{"session_id": "s", "ts": 1772442720, "text": "?"}])) is None
