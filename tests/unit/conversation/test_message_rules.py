"""The rules for input: every problem is named, with its place, and nothing else is refused."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from chatmemory.conversation.message_rules import message_problems
from chatmemory.conversation.new_message import NewMessage
from chatmemory.errors import Problem
from chatmemory.input.rules import (
    MAX_CONTENT_CHARACTERS,
    clean_text,
    instant_problem,
    metadata_problems,
    text_problem,
)

UNSTORABLE: dict[Any, str] = {
    "a\0b": "NUL at character 1: clean_text() replaces it",
    "好\ud800": "lone surrogate at character 1: clean_text() replaces it",
    b"bytes": "expected text, not bytes",
}


def test_text_that_no_backend_could_return_exactly_is_refused_and_no_other() -> None:
    assert {text: text_problem(text) for text in UNSTORABLE} == UNSTORABLE
    allowed = ("", "hello", "你好，世界", "👩‍👩‍👧 🇨🇭", "\u202e\x1b[31m\r\n\t")
    assert [text for text in allowed if text_problem(text)] == []
    assert text_problem("x" * MAX_CONTENT_CHARACTERS) is None
    too_long = text_problem("x" * (MAX_CONTENT_CHARACTERS + 1))
    assert too_long == "16777217 characters are more than 16777216"


def test_cleaned_text_is_allowed_and_keeps_everything_else() -> None:
    assert clean_text("a\0b\ud800好") == "a\ufffdb\ufffd好"
    assert text_problem(clean_text("\0\udfff")) is None


def test_an_instant_has_a_time_zone_and_a_place_in_utc() -> None:
    assert instant_problem(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=8)))) is None
    assert "without time zone" in str(instant_problem(datetime(2026, 1, 1)))  # noqa: DTZ001  one of the problems  the point
    assert "outside the years" in str(
        instant_problem(datetime.min.replace(tzinfo=timezone(timedelta(hours=8))))
    )
    assert instant_problem(datetime.max.replace(tzinfo=UTC)) is None


NOT_JSON: list[tuple[Any, Problem]] = [
    ({"a": {"b": {1, 2}}}, Problem("$.a.b", "set is no JSON value")),
    ({"a": [1.0, float("nan")]}, Problem("$.a[1]", "nan is no JSON number")),
    ({"a": b"x"}, Problem("$.a", "bytes is no JSON value")),
    ({"a": 1 << 2000}, Problem("$.a", "an integer of more than 1024 bits")),
]


def test_any_json_may_stand_in_metadata_and_nothing_else() -> None:
    values: list[Any] = [None, True, 0, -(2**63), 1.5, "", "好", [], [1, [2]], {}, {"a": {"b": [None]}}]
    assert [value for value in values if metadata_problems("$", {"key": value})] == []
    found = [(metadata, metadata_problems("$", metadata)) for metadata, _ in NOT_JSON]
    assert found == [(metadata, [problem]) for metadata, problem in NOT_JSON]


def test_whatever_is_given_in_the_place_of_a_role_or_of_a_batch_is_a_problem_like_any_other() -> None:
    def paths(messages: Any) -> list[str]:
        return [problem.path for problem in message_problems(messages)]

    roles: list[Any] = [["user"], {}, b"user", None, 1]
    assert [paths([NewMessage(role, "x")]) for role in roles] == [["$.messages[0].role"]] * len(roles)
    batches = ("text", b"bytes", None, 3, {"role": "user"}, NewMessage("user", "alone"))
    assert [paths(messages) for messages in batches] == [["$.messages"]] * len(batches)
    assert paths([]) == []
    assert paths([NewMessage("summary", "short")]) == ["$.messages[0].metadata"]
