"""``with_cures_for_clients``: replaces advice about Python functions by advice that a client in any language can follow."""

from attrs import evolve

from chatmemory.errors import DataValidationError, Problem
from chatmemory.input.rules import CURE_OF_TEXT


def with_cures_for_clients(error: DataValidationError) -> DataValidationError:
    """Return *error* with advice for a client of a server, which cannot call Python functions."""
    return evolve(error, problems=tuple(_for_clients(problem) for problem in error.problems))


def _for_clients(problem: Problem) -> Problem:
    if not problem.message.endswith(CURE_OF_TEXT):
        return problem
    what = problem.message.removesuffix(CURE_OF_TEXT)
    return evolve(problem, message=f"{what}leave it out, or put U+FFFD in its place")
