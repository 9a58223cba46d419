"""Errors are values that say what to do, and whether doing it again is safe."""

import re
from typing import Any, get_args

import attrs

import chatmemory
import chatmemory.errors
from chatmemory.errors import (
    DataValidationError,
    EmbeddingError,
    EmbeddingProblem,
    GenericMemoryError,
    Problem,
    PromptNotFoundError,
    RepositoryError,
    RepositoryProblem,
    ServiceError,
    SkillExecutionError,
    SkillProblem,
    VersionConflictError,
    memory_error,
)
from chatmemory_layers.configuration import setting_paths
from tests.for_each import for_each
from tests.service_errors import SERVICE_ERRORS

STORE: dict[str, Any] = {
    name: RepositoryError("append", name, "a detail") for name in get_args(RepositoryProblem)
}
SKILL: dict[str, Any] = {name: SkillExecutionError("summary", name) for name in get_args(SkillProblem)}
EMBEDDER: dict[str, Any] = {name: EmbeddingError("small", name) for name in get_args(EmbeddingProblem)}


@for_each(
    ("errors", "start"),
    [
        (STORE, "append: {} (a detail): "),
        (SKILL, "skill 'summary': {}: "),
        (EMBEDDER, "embedder 'small': {}: "),
    ],
)
def test_every_problem_comes_with_advice(errors: dict[str, Any], start: str) -> None:
    said = {
        problem: str(error).partition(start.format(problem.replace("_", " ")))
        for problem, error in errors.items()
    }
    assert [problem for problem, (before, _, advice) in said.items() if before or not advice] == []


def test_a_store_of_another_event_loop_names_the_runtime_for_it() -> None:
    assert "ThreadRuntime(layer)" in str(GenericMemoryError(STORE["wrong_loop"]))


def test_every_setting_that_an_advice_names_is_there() -> None:
    advice = " ".join(map(str, (*STORE.values(), *SKILL.values(), *EMBEDDER.values())))
    named = set(re.findall(r"memory(?:\.[a-zA-Z]+)+", advice))
    known = {".".join(path[:depth]) for path in setting_paths() for depth in range(len(path) + 1)}
    assert "memory.extraction" in named
    assert named <= known


def test_only_what_time_or_repair_can_cure_may_be_tried_again() -> None:
    again = [
        {problem for problem, error in errors.items() if error.retry_is_safe}
        for errors in (STORE, SKILL, EMBEDDER)
    ]
    assert again == [
        {"missing", "unavailable", "busy", "full", "no_memory", "outcome_unknown"},
        {"rate_limited", "unavailable", "timeout", "malformed", "empty"},
        {"rate_limited", "unavailable", "timeout", "malformed", "wrong_count", "not_finite"},
    ]
    assert GenericMemoryError(RepositoryError("x", "busy")).retry_is_safe
    # Nothing is indexed under a source: it may be indexed meanwhile.
    assert [error for error in SERVICE_ERRORS if error.retry_is_safe] == [PromptNotFoundError("聊天.json#1")]


def test_every_error_of_a_service_has_an_example() -> None:
    assert {type(error) for error in SERVICE_ERRORS} == set(get_args(ServiceError))


@for_each("error", get_args(ServiceError))
def test_an_error_can_be_imported_by_its_tag_and_stands_in_the_tree(error: type) -> None:
    assert attrs.fields_dict(error)["tag"].default == error.__name__
    assert getattr(chatmemory, error.__name__) is getattr(chatmemory.errors, error.__name__) is error
    assert f"── {error.__name__} " in str(chatmemory.errors.__doc__)


def test_an_error_keeps_its_cause_and_is_compared_without_it_and_a_service_lifts_what_lies_beneath() -> None:
    cause = OSError("disk")
    error = RepositoryError("append", "full", cause=cause)
    assert error.cause is cause
    assert error == RepositoryError("append", "full")
    assert "OSError" not in repr(error)
    conflict = VersionConflictError("c", expected=1, actual=2)
    assert memory_error(error) == GenericMemoryError(error)
    assert memory_error(conflict) is conflict


def test_all_problems_of_an_input_stand_in_one_text() -> None:
    error = DataValidationError((Problem("$.limit", "too small"), Problem("$.view", "unknown view")))
    assert str(error) == "too small @ $.limit; unknown view @ $.view"
