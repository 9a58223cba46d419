"""The rules for input: every problem is named, with its place, and nothing else is refused."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from chatmemory.conversation.message_rules import message_problems
from chatmemory.conversation.new_message import NewMessage
from chatmemory.errors import Problem
from chatmemory.input.rules import (
    MAX_CONTENT_CHARACTERS,
    MAX_ID_CHARACTERS,
    clean_text,
    id_problem,
    instant_problem,
    limit_problems,
    metadata_problems,
    text_problem,
)


@pytest.mark.parametrize(
    "text", ["", "hello", "你好，世界", "👩‍👩‍👧 🇨🇭", "\u202e\x1b[31m\r\n\t", "x" * MAX_CONTENT_CHARACTERS]
)
def test_any_other_text_is_allowed(text: str) -> None:
    assert text_problem(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\0b", "NUL at character 1: clean_text() replaces it"),
        ("好\ud800", "lone surrogate at character 1: clean_text() replaces it"),
        (b"bytes", "expected text, not bytes"),
        ("x" * (MAX_CONTENT_CHARACTERS + 1), "16777217 characters are more than 16777216"),
    ],
)
def test_what_no_backend_could_return_exactly_is_refused(text: Any, problem: str) -> None:
    assert text_problem(text) == problem


def test_cleaned_text_is_allowed_and_keeps_everything_else() -> None:
    assert clean_text("a\0b\ud800好") == "a\ufffdb\ufffd好"
    assert text_problem(clean_text("\0\udfff")) is None


@pytest.mark.parametrize("text", ["c", "a b", "%", "_", "对话一", "x" * MAX_ID_CHARACTERS])
def test_an_id_is_any_short_text(text: str) -> None:
    assert id_problem(text) is None


@pytest.mark.parametrize("text", ["", "x" * (MAX_ID_CHARACTERS + 1), "a\0", "\udc80", 7, None])
def test_no_id_is_empty_long_or_unstorable(text: Any) -> None:
    assert id_problem(text) is not None


@pytest.mark.parametrize("limit", [-1, 2**31, True, 1.0, "5", None])
def test_a_limit_is_a_number_of_messages(limit: Any) -> None:
    assert limit_problems("$.limit", limit)
    assert not limit_problems("$.limit", 0)


def test_an_instant_has_a_time_zone_and_a_place_in_utc() -> None:
    assert instant_problem(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=8)))) is None
    assert "without time zone" in str(instant_problem(datetime(2026, 1, 1)))  # noqa: DTZ001  one of the problems  the point
    assert "outside the years" in str(
        instant_problem(datetime.min.replace(tzinfo=timezone(timedelta(hours=8))))
    )
    assert instant_problem(datetime.max.replace(tzinfo=UTC)) is None


JSON_VALUES: list[Any] = [None, True, 0, -(2**63), 1.5, "", "好", [], [1, [2]], {}, {"a": {"b": [None]}}]


@pytest.mark.parametrize("value", JSON_VALUES)
def test_any_json_may_stand_in_metadata(value: Any) -> None:
    assert metadata_problems("$", {"key": value}) == []
    assert json.loads(json.dumps({"key": value})) == {"key": value}


@pytest.mark.parametrize(
    ("metadata", "problems"),
    [
        ([1], [Problem("$", "expected a JSON object, not list")]),
        ({1: "a"}, [Problem("$", "key 1: expected text, not int")]),
        ({"a": {"b": {1, 2}}}, [Problem("$.a.b", "set is no JSON value")]),
        ({"a": [1.0, float("nan")]}, [Problem("$.a[1]", "nan is no JSON number")]),
        ({"a": b"x"}, [Problem("$.a", "bytes is no JSON value")]),
        ({"a": "\0"}, [Problem("$.a", "NUL at character 0: clean_text() replaces it")]),
        ({"a": 1 << 2000}, [Problem("$.a", "an integer of more than 1024 bits")]),
    ],
)
def test_metadata_that_json_could_not_return_is_refused(metadata: Any, problems: list[Problem]) -> None:
    assert metadata_problems("$", metadata) == problems


def test_deep_metadata_is_refused_without_recursion() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert metadata_problems("$", {"a": deep}) == [Problem("$", "nested deeper than 100 levels")]


def test_all_problems_of_a_batch_are_named_at_once() -> None:
    messages: list[Any] = [
        NewMessage("user", "fine"),
        NewMessage("robot", "a\0", id="", timestamp=datetime(2026, 1, 1)),  # noqa: DTZ001  one of the problems
        {"role": "user", "content": "hello"},
        NewMessage("summary", "short"),
    ]
    assert [problem.path for problem in message_problems(messages)] == [
        "$.messages[1].role",
        "$.messages[1].content",
        "$.messages[1].id",
        "$.messages[1].timestamp",
        "$.messages[2]",
        "$.messages[3].metadata",
    ]


@pytest.mark.parametrize("role", [["user"], {}, b"user", None, 1])
def test_a_role_that_is_no_text_is_a_problem_like_any_other(role: Any) -> None:
    assert [problem.path for problem in message_problems([NewMessage(role, "x")])] == ["$.messages[0].role"]


@pytest.mark.parametrize(
    "messages", ["text", b"bytes", None, 3, {"role": "user"}, NewMessage("user", "alone")]
)
def test_a_batch_is_a_sequence(messages: Any) -> None:
    assert [problem.path for problem in message_problems(messages)] == ["$.messages"]


def test_an_empty_batch_breaks_no_rule() -> None:
    assert message_problems([]) == []
