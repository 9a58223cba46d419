"""Outcomes: two classes of our own that are those of ``returns`` as well."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from returns import result
from returns.pipeline import is_successful
from returns.primitives.exceptions import UnwrapFailedError
from returns.result import Result

from chatmemory.effect import Effect, EffectFailed, Failure, Outcome, Success
from tests.for_each import for_each


@for_each("outcome", [Success(False), Failure("no")])
@for_each("ask", [bool, lambda outcome: not outcome, lambda outcome: outcome and 1])
def test_an_outcome_is_neither_true_nor_false(
    ask: Callable[[object], object], outcome: Outcome[bool, str]
) -> None:
    with pytest.raises(TypeError, match=r"neither true nor false.*or_raise.*value_or"):
        ask(outcome)


def test_an_outcome_equals_the_same_outcome_of_returns_from_both_sides() -> None:
    assert Success(1) == result.Success(1)
    assert result.Success(1) == Success(1)
    assert Failure("a") == result.Failure("a")
    assert result.Failure("a") == Failure("a")
    assert len({Success(1), result.Success(1), Failure("a"), result.Failure("a")}) == 2
    different: list[object] = [Success(1), Success(2), Failure(1), Failure(2), 1, None]
    assert all(one != other for place, one in enumerate(different) for other in different[place + 1 :])


def test_an_outcome_is_matched_by_the_classes_of_returns() -> None:
    def told(outcome: Result[int, str]) -> str:
        match outcome:
            case result.Success(value):
                return f"value {value}"
            case result.Failure(error):
                return f"error {error}"
            case _:
                raise AssertionError(outcome)

    assert [told(Success(1)), told(Failure("a"))] == ["value 1", "error a"]


def test_what_returns_makes_of_an_outcome_is_one_of_ours() -> None:
    made: dict[str, tuple[object, object]] = {
        "map": (Success(1).map(str), Success("1")),
        "alt": (Success(1).alt(str), Success(1)),
        "apply": (Success(1).apply(Success(str)), Success("1")),
        "lash": (Success(1).lash(Failure), Success(1)),
        "map of a failure": (Failure("a").map(str), Failure("a")),
        "alt of a failure": (Failure("a").alt(str), Failure("a")),
        "bind of a failure": (Failure("a").bind(Success), Failure("a")),
    }
    assert [way for way, (one, other) in made.items() if one != other] == []
    assert {type(outcome) for outcome, _ in made.values()} == {Success, Failure}
    assert [Success(1).value_or(2), Failure("a").value_or(2)] == [1, 2]
    assert [is_successful(Success(1)), is_successful(Failure("a"))] == [True, False]


def test_an_outcome_reads_and_travels_as_that_of_returns() -> None:
    assert [repr(Success(1)), repr(Failure("a"))] == ["<Success: 1>", "<Failure: a>"]
    for outcome in (Success([1]), Failure("a")):
        for again in (pickle.loads(pickle.dumps(outcome)), copy.deepcopy(outcome)):
            assert again == outcome
            assert type(again) is type(outcome)


def test_a_failure_that_is_unwrapped_says_what_failed_and_ends_the_do_notation_of_returns() -> None:
    with pytest.raises(EffectFailed, match="no such thing") as failed:
        Failure("no such thing").unwrap()
    assert failed.value.error == "no such thing"
    with pytest.raises(UnwrapFailedError):
        Success(1).failure()
    failure: Result[int, str] = Failure("a")
    assert Result.do(a + b for a in Success(1) for b in failure) == Failure("a")


def test_what_returns_made_becomes_ours_on_its_way_through_an_effect() -> None:
    async def of_returns(outcome: Any) -> Any:
        return outcome

    made: list[Outcome[Any, Any]] = [
        Effect.from_result(result.Success(1)).run_sync(),
        Effect.from_result(result.Failure("a")).map(str).run_sync(),
        Effect.from_outcome(lambda: of_returns(result.Success(1))).run_sync(),
        Effect.from_outcome(lambda: of_returns(result.Failure("a"))).alt(str).run_sync(),
    ]
    assert made == [Success(1), Failure("a"), Success(1), Failure("a")]
    assert [isinstance(outcome, Success) for outcome in made] == [True, False, True, False]
    assert [isinstance(outcome, Failure) for outcome in made] == [False, True, False, True]
