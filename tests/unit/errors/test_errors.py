"""Errors are values that say what to do, and whether doing it again is safe."""

import re
from typing import get_args

import attrs
import pytest

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
from tests.service_errors import SERVICE_ERRORS


@pytest.mark.parametrize("problem", get_args(RepositoryProblem))
def test_every_problem_of_a_store_comes_with_advice(problem: RepositoryProblem) -> None:
    said = str(RepositoryError("append", problem, "a detail"))
    start = f"append: {problem.replace('_', ' ')} (a detail): "
    assert said.startswith(start)
    assert len(said) > len(start)


@pytest.mark.parametrize("problem", get_args(SkillProblem))
def test_every_problem_of_a_skill_comes_with_advice(problem: SkillProblem) -> None:
    said = str(SkillExecutionError("summary", problem))
    start = f"skill 'summary': {problem.replace('_', ' ')}: "
    assert said.startswith(start)
    assert len(said) > len(start)


@pytest.mark.parametrize("problem", get_args(EmbeddingProblem))
def test_every_problem_of_an_embedder_comes_with_advice(problem: EmbeddingProblem) -> None:
    said = str(EmbeddingError("small", problem))
    start = f"embedder 'small': {problem.replace('_', ' ')}: "
    assert said.startswith(start)
    assert len(said) > len(start)


def test_every_setting_that_an_advice_names_is_there() -> None:
    advice = [
        *(str(RepositoryError("x", problem)) for problem in get_args(RepositoryProblem)),
        *(str(SkillExecutionError("x", problem)) for problem in get_args(SkillProblem)),
        *(str(EmbeddingError("x", problem)) for problem in get_args(EmbeddingProblem)),
    ]
    named = set(re.findall(r"memory(?:\.[a-zA-Z]+)+", " ".join(advice)))
    known = {".".join(path[:depth]) for path in setting_paths() for depth in range(len(path) + 1)}
    assert "memory.extraction" in named
    assert named <= known


def test_only_what_time_or_repair_can_cure_may_be_tried_again() -> None:
    again = {
        problem for problem in get_args(RepositoryProblem) if RepositoryError("x", problem).retry_is_safe
    }
    assert again == {"missing", "unavailable", "busy", "full", "no_memory", "outcome_unknown"}
    again = {problem for problem in get_args(SkillProblem) if SkillExecutionError("x", problem).retry_is_safe}
    assert again == {"rate_limited", "unavailable", "timeout", "malformed", "empty"}
    again = {problem for problem in get_args(EmbeddingProblem) if EmbeddingError("x", problem).retry_is_safe}
    assert again == {"rate_limited", "unavailable", "timeout", "malformed", "wrong_count", "not_finite"}
    assert GenericMemoryError(RepositoryError("x", "busy")).retry_is_safe
    # Nothing is indexed under a source: it may be indexed meanwhile.
    assert [error for error in SERVICE_ERRORS if error.retry_is_safe] == [PromptNotFoundError("聊天.json#1")]


def test_every_error_of_a_service_has_an_example() -> None:
    assert {type(error) for error in SERVICE_ERRORS} == set(get_args(ServiceError))


@pytest.mark.parametrize("error", get_args(ServiceError))
def test_an_error_can_be_imported_by_its_tag_and_stands_in_the_tree(error: type) -> None:
    assert attrs.fields_dict(error)["tag"].default == error.__name__
    assert getattr(chatmemory, error.__name__) is getattr(chatmemory.errors, error.__name__) is error
    assert f"── {error.__name__} " in str(chatmemory.errors.__doc__)


def test_an_error_keeps_its_cause_and_is_compared_without_it() -> None:
    cause = OSError("disk")
    error = RepositoryError("append", "full", cause=cause)
    assert error.cause is cause
    assert error == RepositoryError("append", "full")
    assert "OSError" not in repr(error)


def test_the_service_lifts_what_lies_beneath_and_leaves_conflicts_alone() -> None:
    beneath = RepositoryError("append", "busy")
    conflict = VersionConflictError("c", expected=1, actual=2)
    assert memory_error(beneath) == GenericMemoryError(beneath)
    assert memory_error(conflict) is conflict


def test_all_problems_of_an_input_stand_in_one_text() -> None:
    error = DataValidationError((Problem("$.limit", "too small"), Problem("$.view", "unknown view")))
    assert str(error) == "too small @ $.limit; unknown view @ $.view"
