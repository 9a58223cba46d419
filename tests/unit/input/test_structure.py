"""The door for JSON: strict, complete in its complaints, and exact both ways."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from chatmemory import Failure, MemoryUpdate, NewMemory, NewMessage, Outcome, Success
from chatmemory.conversation.messages import AddReport, ChatMessage, HistoryReport, MessagePage
from chatmemory.errors import (
    DataValidationError,
    GenericMemoryError,
    Problem,
    RepositoryError,
    SkillExecutionError,
)
from chatmemory.errors.caller_errors import LONGEST_TEXT
from chatmemory.input.structure import read_json, structure, unstructure, write_json
from chatmemory.input.structuring import MOST_PROBLEMS
from tests.for_each import for_each

NOON = datetime(2025, 3, 14, 12, 0, 0, 250_000, tzinfo=UTC)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
instants = st.datetimes(timezones=st.just(UTC))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
roles = st.sampled_from(["user", "assistant", "system", "tool"])
new_messages = st.builds(
    NewMessage,
    role=roles,
    content=text,
    id=st.none() | text,
    timestamp=st.none() | instants,
    metadata=st.none() | st.dictionaries(text, json_values, max_size=3),
)


@given(new_messages)
def test_a_new_message_comes_back_from_json_exactly(message: NewMessage) -> None:
    assert read_json(write_json(message), NewMessage) == Success(message)


@for_each(
    "reason",
    [RepositoryError("read", "busy", "锁"), SkillExecutionError("s", "timeout", retry_after_seconds=0.1)],
)
def test_a_report_and_the_failure_in_it_come_back_from_json_exactly(
    reason: RepositoryError | SkillExecutionError,
) -> None:
    history = HistoryReport("failed", ("s1",), GenericMemoryError(reason))
    report = AddReport(("m1",), ("m0",), 2, history)
    assert read_json(write_json(report), AddReport) == Success(report)


def test_names_are_camel_case_in_json_and_chinese_stays_readable() -> None:
    covered = ChatMessage("m1", 1, "user", "你好", NOON, covered_by="s1")
    page = MessagePage((covered,), version=3, older=None, newer=1)
    message = {
        "id": "m1",
        "seq": 1,
        "role": "user",
        "content": "你好",
        "timestamp": "2025-03-14T12:00:00.250000+00:00",
        "metadata": None,
        "coveredBy": "s1",
    }
    whole = unstructure(page)
    assert whole == {"messages": [message], "version": 3, "older": None, "newer": 1, "isWhole": True}
    assert "九五折" in write_json(NewMessage("user", "九五折", metadata={"语言": "中文"}))


def test_all_problems_are_told_at_once_with_their_paths() -> None:
    batch = [
        {"role": "user", "content": 1, "rol": "user"},
        {"role": "usr", "content": "x", "timestamp": "2024-01-01T10:00:00"},
        {"role": "user", "metadata": {"scores": [1, 2]}},
        "hello",
        {"role": "user", "content": "x", "timestamp": "yesterday", "id": 7, "metadata": []},
    ]
    assert structure(batch, tuple[NewMessage, ...], path="$.messages") == Failure(
        DataValidationError(
            (
                Problem("$.messages[0].content", "expected text, not 1"),
                Problem("$.messages[0].rol", "unknown key: did you mean 'role'?"),
                Problem(
                    "$.messages[1].role",
                    "expected one of 'user', 'assistant', 'system', 'tool', 'summary', not 'usr': did you mean 'user'?",
                ),
                Problem(
                    "$.messages[1].timestamp",
                    "a time without time zone names no instant: end it with Z, or with an offset such as +08:00",
                ),
                Problem("$.messages[2].content", "required field missing"),
                Problem("$.messages[3]", "expected named fields, not 'hello'"),
                Problem("$.messages[4].id", "expected text, not 7"),
                Problem("$.messages[4].timestamp", "no ISO 8601 instant: 'yesterday'"),
                Problem("$.messages[4].metadata", "expected a JSON object, not list"),
            )
        )
    )


def problem_of(outcome: Outcome[object, DataValidationError]) -> Problem:
    (problem,) = outcome.failure().problems
    return problem


@for_each("data", ["abc", {"role": "user", "content": "x"}, None, 3])
def test_a_list_is_asked_for_where_a_list_belongs(data: object) -> None:
    problem = problem_of(structure(data, tuple[NewMessage, ...]))
    assert problem.path == "$"
    assert problem.message.startswith("expected a list, not ")


@for_each("wrong", [True, "1", 1.5, None])
def test_nothing_is_converted_on_a_guess(wrong: object) -> None:
    data = {"stored": [], "duplicates": [], "version": wrong, "history": {"status": "idle"}}
    assert problem_of(structure(data, AddReport)).path == "$.version"


@for_each("damaged", ["", "{", '{"role": NaN}', "[" * 100_000, b"\xff\xfe\xfa"])
def test_what_is_no_json_is_a_typed_failure(damaged: str | bytes) -> None:
    assert problem_of(read_json(damaged, NewMessage)).message.startswith("no JSON: ")


def test_an_exception_never_leaves_the_process() -> None:
    error = RepositoryError("read", "unexpected", cause=OSError("password=hunter2"))
    assert "hunter2" not in write_json(GenericMemoryError(error))
    assert structure({"operation": "read", "problem": "busy", "cause": "x"}, RepositoryError) == Failure(
        DataValidationError((Problem("$.cause", "unknown key"),))
    )


@given(json_values)
def test_a_field_of_any_json_takes_it_as_it_is(value: object) -> None:
    fact = {"key": "偏好", "value": value, "category": "preference", "confidence": 0.9}
    read = structure({"shouldStore": True, "memories": [fact]}, MemoryUpdate).unwrap()
    assert read.memories[0].value == value
    assert unstructure(read) == {"shouldStore": True, "memories": [fact]}


def test_of_too_many_problems_the_first_are_told_one_by_one() -> None:
    read = read_json(f"[{'1,' * 100_000}1]", tuple[NewMessage, ...])
    *members, last = read.failure().problems
    assert [problem.path for problem in members] == [f"$[{index}]" for index in range(MOST_PROBLEMS)]
    assert last == Problem("$", f"too many problems: nothing behind [{MOST_PROBLEMS - 1}] was looked at")
    unknown = {f"key{number}": 1 for number in range(100_000)}
    asked = structure({"role": "user", "content": "好", **unknown}, NewMessage)
    assert len(asked.failure().problems) == MOST_PROBLEMS + 1
    assert asked.failure().problems[-1] == Problem("$", "99950 more unknown keys")


@for_each("asked", [{"k" * 900_000: 1}, {"category": "k" * 900_000}, {"createdAt": "k" * 900_000}])
def test_a_name_or_a_text_without_measure_is_neither_repeated_nor_compared(
    asked: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("difflib.get_close_matches", pytest.fail)
    problem = problem_of(structure({"content": "好", **asked}, NewMemory))
    assert 0 < len(problem.path) <= LONGEST_TEXT
    assert 0 < len(problem.message) <= LONGEST_TEXT
    assert "..." in str(problem)


def test_half_a_character_in_a_name_is_shown_as_it_is_escaped_and_any_number_is_a_problem_like_others() -> (
    None
):
    read = read_json(r'{"role": "user", "content": "好", "\ud83e": 1}', NewMessage)
    assert read == Failure(DataValidationError((Problem(r"$.\ud83e", "unknown key"),)))
    long = read_json(f'{{"content": "好", "confidence": {"9" * 400}}}', NewMemory)
    assert problem_of(long).path == "$.confidence"
