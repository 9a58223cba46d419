"""``chatmemory bench``: suites read from their public shapes, four ways of searching measured, and own questions begun."""

import io
import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from chatmemory.programs.bench.measuring import COLUMNS, OURS, WAYS, figures
from chatmemory.programs.bench.own_questions import BenchConversation, BenchQuestion, BenchTurn, NoSuiteError
from chatmemory.programs.bench.public_suites import read_suite, without
from tests.commands.typed import Typed
from tests.for_each import for_each

LOCOMO: Final = {"conv-1/0": {"D2:1"}, "conv-1/1": {"D1:2", "D1:3"}, "conv-1/2": {"D2:3"}}
SAMPLES: Final = Path(__file__).parents[1] / "data" / "bench"


@for_each(
    ("place", "name", "turns", "answers"),
    [
        ("locomo.json", "LoCoMo", 6, LOCOMO),
        ("realtalk", "REALTALK", 2, {"Chat_1_Ana_Ben/0": {"D1:1"}}),
        ("longmemeval.json", "LongMemEval", 4, {"q1": {"1.s2#0"}}),
        ("beam", "BEAM", 4, {"1/information_extraction/0": {"2"}}),
        ("memdaily", "MemDaily", 2, {"0_simple/7/0": {"0"}}),
        ("own.jsonl", "own questions", 2, {"c1/3": {"t1"}}),
    ],
)
def test_a_suite_is_known_by_shape(place: str, name: str, turns: int, answers: dict[str, set[str]]) -> None:
    suite = read_suite(SAMPLES / place)
    assert suite.name == name
    assert sum(len(one.turns) for one in suite.conversations) == turns
    asked = [question for one in suite.conversations for question in one.questions]
    assert {question.id: set(question.answers) for question in asked} == answers
    assert len(suite.sha256) == 64


def test_what_is_said_when_and_by_whom_is_read() -> None:
    (conversation,) = read_suite(SAMPLES / "locomo.json").conversations
    turn = conversation.turns[3]
    assert turn.said == "Ben: I adopted a greyhound called Pixel. [shares a dog on a sofa]"
    assert (turn.session, turn.at) == ("2", datetime(2023, 6, 20, 9, tzinfo=UTC))
    (chat,) = read_suite(SAMPLES / "beam").conversations
    assert chat.turns[0].text == "My budget tracker runs on Flask 2.3."
    (told,) = read_suite(SAMPLES / "memdaily").conversations
    assert told.turns[0].at == datetime(2024, 3, 5, 10, tzinfo=UTC)


def test_a_suite_is_hashed_audited_and_parted_at_newlines_alone(tmp_path: Path) -> None:
    copy = tmp_path / "locomo.json"
    copy.write_bytes((SAMPLES / "locomo.json").read_bytes())
    assert read_suite(copy).sha256 == read_suite(SAMPLES / "locomo.json").sha256
    copy.write_text(copy.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert read_suite(copy).sha256 != read_suite(SAMPLES / "locomo.json").sha256
    suite = read_suite(SAMPLES / "locomo.json")
    assert (suite.questions, without(suite, {"conv-1/1", "conv-9/9"}).questions) == (3, 2)
    file = tmp_path / "own.jsonl"
    turn = '{"conversation": "c", "turn": "t", "text": "one\u2028two\x85three"}'
    asked = '{"conversation": "c", "question": "which?", "answers": ["t"]}'
    file.write_text(f"{turn}\r\n{asked}\n", encoding="utf-8")
    ((said,),) = [one.turns for one in read_suite(file).conversations]
    assert said.text == "one\u2028two\x85three"


@for_each(
    ("name", "text", "problem"),
    [
        ("a.json", "[1]", "none of LoCoMo|damaged"),
        ("a.json", "{", "damaged"),
        ("a.json", '[{"sample_id": "c", "conversation": {}, "qa": []}]', "no question"),
        ("a.jsonl", '{"conversation": "c"}', "line 1 is neither"),
        (
            "a.jsonl",
            '{"conversation": "c", "turn": "t", "text": "x", "at": "2026-01-01T00:00:00"}',
            "time zone",
        ),
        ("a.jsonl", '{"conversation": "c", "question": "q", "answers": ["t9"]}', "no turn 't9'"),
    ],
)
def test_what_is_no_suite_is_refused_by_a_reason(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(NoSuiteError, match=problem):
        read_suite(tmp_path / name)


def test_a_damaged_folder_of_beam_is_refused_with_a_reason(tmp_path: Path) -> None:
    copy = tmp_path / "beam"
    shutil.copytree(SAMPLES / "beam", copy)
    for questions in ("(", '{"kind": [1]}', '{"kind": [{}]}', "[]"):
        (copy / "1" / "probing_questions.json").write_text(questions, encoding="utf-8")
        with pytest.raises(NoSuiteError, match="beam: damaged"):
            read_suite(copy)


def test_figures_count_turns_and_sessions() -> None:
    turns = tuple(BenchTurn(id=f"{number}", session=f"{number // 2}", text="x") for number in range(8))
    question = BenchQuestion(id="q", text="q", answers=frozenset({"1", "7"}))
    conversation = BenchConversation("c", turns, (question,))
    assert figures(conversation, question, ["1", "7"]) == (1, 1, pytest.approx(1), 1, 1)
    found = figures(conversation, question, ["4", "0", "1"])
    assert found[:2] == (0.5, 0.5)
    assert 0 < found[2] < 1
    assert found[3:] == (0, 1)
    assert figures(conversation, question, []) == (0, 0, 0, 0, 0)


def test_four_ways_are_measured_with_intervals_and_leave_nothing(typed: Typed, tmp_path: Path) -> None:
    output = tmp_path / "tables.md"
    ended = typed.run(f"bench {SAMPLES / 'locomo.json'} {SAMPLES / 'own.jsonl'} --json -o {output}")
    assert ended.code == 0, ended.err
    suites: list[dict[str, Any]] = json.loads(ended.out)["suites"]
    assert [suite["name"] for suite in suites] == ["LoCoMo", "own questions"]
    for suite in suites:
        assert [row["way"] for row in suite["rows"]] == list(WAYS)
        for row in suite["rows"]:
            assert [*row["figures"]] == list(COLUMNS)
            assert all(one["low"] <= one["mean"] <= one["high"] for one in row["figures"].values())
    ours = next(row for row in suites[0]["rows"] if row["way"] == OURS)
    assert ours["figures"]["R@5"]["mean"] == 100
    tables = output.read_text(encoding="utf-8")
    assert "### LoCoMo" in tables
    assert f"| {OURS} | 100.0 (100.0-100.0) |" in tables
    assert suites[0]["sha256"][:16] in tables
    assert not Path(typed.place).exists()


def test_an_audited_suite_is_measured_beside_the_raw_one(typed: Typed, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('["conv-1/1"]', encoding="utf-8")
    ended = typed.run(f"bench {SAMPLES / 'locomo.json'} --audit {wrong} --json")
    told = [(suite["name"], suite["questions"]) for suite in json.loads(ended.out)["suites"]]
    assert told == [("LoCoMo, raw", 3), ("LoCoMo, audited", 2)]
    wrong.write_text('{"conv-1/1": 1}', encoding="utf-8")
    assert typed.run(f"bench {SAMPLES / 'locomo.json'} --audit {wrong}").code == 2
    wrong.write_text('["conv-1/0", "conv-1/1", "conv-1/2"]', encoding="utf-8")
    nothing = typed.run(f"bench {SAMPLES / 'locomo.json'} --audit {wrong}")
    assert nothing.code == 2
    assert "leaves no question" in nothing.err


def exported(turn: str, role: str, content: str) -> str:
    of = {"type": "chatmemory.pastchats.prompt", "conversation_id": "codex:1", "session": "s"}
    said = {"speaker": None, "role": role, "timestamp": "2026-03-02T10:00:00+00:00", "content": content}
    return json.dumps({**of, **said, "content_hash": turn * 64}, ensure_ascii=False)


def test_a_first_file_of_own_questions_is_begun_from_past_chats(typed: Typed, tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    said = [
        ("a", "user", "测试需要哪个端口，数据库在哪里？"),
        ("b", "assistant", "6380."),
        ("c", "user", "ok?"),
    ]
    turns.write_text("\n".join(exported(*one) for one in said) + "\n", encoding="utf-8")
    begun = typed.run(f"bench --begin {turns}")
    lines = [json.loads(line) for line in begun.out.splitlines()]
    assert [line.get("turn") for line in lines] == ["a" * 16, "b" * 16, "c" * 16, None]
    assert lines[-1] == {"conversation": "codex:1", "question": said[0][2], "answers": []}
    lines[-1]["answers"] = ["b" * 16]
    labelled = tmp_path / "own.jsonl"
    labelled.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    assert read_suite(labelled).questions == 1


def test_a_first_file_that_cannot_be_written_is_told(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def write(self, _: str, /) -> int:
            raise OSError(28, "No space left on device")

    turns = tmp_path / "turns.jsonl"
    turns.write_text(exported("a", "assistant", "6380.") + "\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", Full())
    assert typed.run(f"bench --begin {turns}").code == 1


def test_wrong_usage_is_told(typed: Typed) -> None:
    own, locomo = SAMPLES / "own.jsonl", SAMPLES / "locomo.json"
    for arguments in (
        "",
        f"--begin {own} {own}",
        f"{own} -o x.txt",
        f"{own} -o no/x.md",
        f"--begin {own}",
        f"{locomo}/no",
    ):
        ended = typed.run(f"bench {arguments}")
        assert (ended.code, bool(ended.err)) == (2, True), arguments
