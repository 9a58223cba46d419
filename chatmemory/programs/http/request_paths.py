"""``with_request_paths``: rewrites the paths in problems of a service to the names that the client used.

A service reports ``$.older_than``, the argument of its method; the client sent ``?olderThan=``, so the answer says
``$.query.olderThan``.
"""

import re
from collections.abc import Mapping
from typing import Final

import attrs
from attrs import evolve

from chatmemory.errors import DataValidationError, Problem
from chatmemory.input.structuring import key_of
from chatmemory.programs.http.operation import Operation
from chatmemory.programs.operations.refusal import with_cures_for_clients

_OTHER_PLACES: Final[Mapping[str, str]] = {
    "namespace.app": "$.query.app",
    "expected_version": "$.headers.If-Match",
    "summary_message_id": "$.path.messageId",
    "changes": "$.body",
    "replacement": "$.body.memory",
}
"""The names in a request of arguments that have another name in the service."""

_FIRST: Final = re.compile(r"\$\.(namespace\.app|\w+)(.*)", re.DOTALL)
_THEIRS: Final = re.compile(r"\.(?:metadata|value)\b")
"""After these names, a path contains keys of the client's own JSON, which stay unchanged."""


def with_request_paths(error: DataValidationError, operation: Operation) -> DataValidationError:
    """Return *error* with paths that name places in the request.

    Args:
        error: the problems that the service found.
        operation: the operation that was requested.
    """
    places, told = _places(operation), with_cures_for_clients(error)
    return evolve(told, problems=tuple(_with_request_path(problem, places) for problem in told.problems))


def _places(operation: Operation) -> Mapping[str, str]:
    """Return the place in a request of each argument of a service."""
    query, body, *_ = operation.signature
    places = dict(_OTHER_PLACES)
    for part, kind in (("query", query), ("body", body)):
        if attrs.has(kind):
            places |= {field.name: f"$.{part}.{key_of(field.name)}" for field in attrs.fields(kind)}
    for name in operation.path_parameters:
        places[_snake(name)] = f"$.path.{name}"
    return places


def _with_request_path(problem: Problem, places: Mapping[str, str]) -> Problem:
    found = _FIRST.fullmatch(problem.path)
    if found is None or found[1] not in places:
        return problem
    inside = _THEIRS.search(found[2])
    end = inside.start() if inside else len(found[2])
    path = places[found[1]] + key_of(found[2][:end]) + found[2][end:]
    message = re.sub(
        r"\b[a-z]+(?:_[a-z]+)+\b",
        lambda word: places[word[0]].rpartition(".")[2] if word[0] in places else word[0],
        problem.message,
    )
    return Problem(path, message)


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
