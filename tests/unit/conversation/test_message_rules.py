"""The rules for input: what they allow, and the problems of roles and batches."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from chatmemory.conversation.message_rules import message_problems
from chatmemory.conversation.new_message import NewMessage
from chatmemory.input.rules import (
    MAX_CONTENT_CHARACTERS,
    clean_text,
    instant_problem,
    metadata_problems,
    text_problem,
)


def test_text_that_every_backend_returns_exactly_is_allowed() -> None:
    allowed = ("", "hello", "你好，世界", "👩‍👩‍👧 🇨🇭", "\u202e\x1b[31m\r\n\t")
    assert [text for text in allowed if text_problem(text)] == []
    assert text_problem("x" * MAX_CONTENT_CHARACTERS) is None


def test_cleaned_text_is_allowed_and_keeps_everything_else() -> None:
    assert clean_text("a\0b\ud800好") == "a\ufffdb\ufffd好"
    assert text_problem(clean_text("\0\udfff")) is None


def test_an_instant_with_a_time_zone_is_allowed() -> None:
    assert instant_problem(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=8)))) is None
    assert instant_problem(datetime.max.replace(tzinfo=UTC)) is None


def test_any_json_is_allowed_in_metadata() -> None:
    values: list[Any] = [None, True, 0, -(2**63), 1.5, "", "好", [], [1, [2]], {}, {"a": {"b": [None]}}]
    assert [value for value in values if metadata_problems("$", {"key": value})] == []


def test_whatever_is_given_in_the_place_of_a_role_or_of_a_batch_is_a_problem_like_any_other() -> None:
    def paths(messages: Any) -> list[str]:
        return [problem.path for problem in message_problems(messages)]

    roles: list[Any] = [["user"], {}, b"user", None, 1]
    assert [paths([NewMessage(role, "x")]) for role in roles] == [["$.messages[0].role"]] * len(roles)
    batches = ("text", b"bytes", None, 3, {"role": "user"}, NewMessage("user", "alone"))
    assert [paths(messages) for messages in batches] == [["$.messages"]] * len(batches)
    assert paths([]) == []
    assert paths([NewMessage("summary", "short")]) == ["$.messages[0].metadata"]
