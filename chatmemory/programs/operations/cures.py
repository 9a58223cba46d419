"""``with_cures_for_clients``: problems whose cure a client can follow, whatever its language; a service names a function of Python."""

from attrs import evolve

from chatmemory.errors import DataValidationError, Problem
from chatmemory.input.rules import CURE_OF_TEXT


def with_cures_for_clients(error: DataValidationError) -> DataValidationError:
    """Return *error* in words for a client of a server."""
    return evolve(error, problems=tuple(_for_clients(problem) for problem in error.problems))


def _for_clients(problem: Problem) -> Problem:
    if not problem.message.endswith(CURE_OF_TEXT):
        return problem
    what = problem.message.removesuffix(CURE_OF_TEXT)
    return evolve(problem, message=f"{what}leave it out, or put U+FFFD in its place")
