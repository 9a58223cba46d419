"""``Answering``: an operation as an ASGI application, which reads a request into a ``Call`` and answers with its outcome.

Query parameters and the body become classes by ``structure.py``, as everywhere in the project; an invalid request fails
with all of its problems.

``with_request_paths``: a path in a problem is the one of the request.  A service reports ``$.older_than``,
the argument of its method; the client sent ``?olderThan=``, so the answer says ``$.query.olderThan``.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, final
from urllib.parse import unquote

import anyio
import attrs
from attrs import evolve
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from chatmemory.access.principal import acting_as
from chatmemory.conversation.messages import Conversation, MessagePage
from chatmemory.effect import Effect, Failure, Outcome, Runner, Success
from chatmemory.errors import DataValidationError, GenericMemoryError, Problem
from chatmemory.input.structure import read_json, structure_parameters, unstructure
from chatmemory.input.structuring import key_of
from chatmemory.longterm.memories import Memory
from chatmemory.programs.http.access import NOBODY, grant_of
from chatmemory.programs.http.guards.answers import asked_by, log
from chatmemory.programs.http.large_answers import written
from chatmemory.programs.http.operation import Call, Empty, EventStream, Operation
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.first_answer import answered_once
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import ApiError, with_cures_for_clients

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

_DOTS: Final = re.compile(r"\A=(=*\.{1,2})\Z")

VERSIONED: Final = (Conversation, MessagePage, Memory)
"""Answers with a version, which a later write sends in ``If-Match``."""

UNCHANGED_WITH_ITS_VERSION: Final = (Conversation, MessagePage)
"""Answers that change only with their version.  A memory is not one: counting its use or pinning it keeps its version."""

A_VERSION: Final = r'"[0-9]{1,9}"'
"""The pattern of an ``ETag``: the version of a conversation or a memory."""

A_KEY: Final = r"[!-~]{1,255}"
"""The pattern of an ``Idempotency-Key``."""


@final
class Answering:
    """Answers one operation."""

    def __init__(self, operation: Operation, runtime: Runner[Any], closing: anyio.Event) -> None:
        self._operation = operation
        self._runtime = runtime
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        grant = NOBODY if self._operation.is_open else grant_of(scope)
        with acting_as(grant.principal):
            match await _read_call(self._operation, request, grant, self._closing):
                case Success(call):
                    outcome = await self._runtime.run(self._asked(call))
                    if isinstance(outcome, Success):
                        response = await _answer(self._operation, request, outcome.unwrap())
                    else:
                        response = problem_response(self._told(scope, outcome.failure()))
                case Failure(error):
                    response = problem_response(error)
            await response(scope, receive, send)

    def _asked(self, call: Call[Any, Any]) -> Effect[Any, ApiError, Any]:
        """Return the effect of *call*; with an idempotency key its value is the first answer, as JSON."""
        asked = self._operation.handler(call)
        if call.key is None:
            return asked
        operation, version = self._operation, call.expected_version
        return answered_once(
            call.grant,
            (operation.name, *call.path.values(), call.key),
            unstructure([call.query, call.body] if version is None else [call.query, call.body, version]),
            asked,
            kind=operation.signature.answer,
            memory_id=call.path.get("memoryId"),
        )

    def _told(self, scope: Scope, error: ApiError) -> ApiError:
        """Return *error* for the client.

        The kind of a failure below the services is logged for the operator, without its text, which may quote what
        somebody said.
        """
        if isinstance(error, GenericMemoryError):
            log.warning("%s: %s: %s", asked_by(scope), error.reason.tag, error.reason.problem)
        return with_request_paths(error, self._operation) if isinstance(error, DataValidationError) else error


async def _answer(operation: Operation, request: Request, value: Any) -> Response:
    if isinstance(value, EventStream):
        if request.method == "HEAD":  # the answer has headers but no body
            return Response(media_type="text/event-stream")
        return StreamingResponse(value.events, media_type="text/event-stream")
    headers: dict[str, str] = {}
    if isinstance(value, str):  # the JSON of a first answer
        if operation.signature.answer in VERSIONED:
            headers["ETag"] = f'"{json.loads(value)["version"]}"'
        return Response(value, status_code=operation.status, headers=headers, media_type="application/json")
    if isinstance(value, VERSIONED):
        headers["ETag"] = f'"{value.version}"'
        is_known = request.headers.getlist("if-none-match") == [headers["ETag"]]
        if is_known and operation.method == "GET" and isinstance(value, UNCHANGED_WITH_ITS_VERSION):
            return Response(status_code=304, headers=headers)
    return Response(
        await written(value), status_code=operation.status, headers=headers, media_type="application/json"
    )


async def _read_call(
    operation: Operation, request: Request, grant: Grant, closing: anyio.Event
) -> Outcome[Call[Any, Any], DataValidationError]:
    """Parse the parts of *request* that *operation* needs; fail with all problems at once."""
    problems: list[Problem] = []
    kinds = operation.signature
    call = Call(
        grant=grant,
        path=_path(request.path_params, problems),
        query=_unless(_query(request.scope["query_string"], kinds.query), problems),  # type: ignore[arg-type]  # mypy takes no class for Hashable
        body=await _body(request, kinds.body, problems),
        expected_version=_expected_version(operation, request, problems),
        key=_key(operation, request, problems),
        last_event=None
        if (stream := operation.stream) is None
        else _header(request, "Last-Event-ID", stream.ids, "the id of an event", problems),
        closing=closing,
    )
    return Failure(DataValidationError(tuple(problems))) if problems else Success(call)


def _path(raw: Mapping[str, str], problems: list[Problem]) -> Mapping[str, str]:
    """Decode each segment by itself, because an id may contain a slash.

    Browsers resolve a segment of one or two dots, even if it is encoded, so clients put ``=`` before such ids:
    ``=.`` is ``.``, and ``==.`` is ``=.``.
    """
    path: dict[str, str] = {}
    for name, segment in raw.items():
        try:
            path[name] = _DOTS.sub(r"\1", unquote(segment, errors="strict"))
        except UnicodeDecodeError:
            problems.append(Problem(f"$.path.{name}", "not UTF-8 after percent-decoding"))
    return path


@lru_cache(maxsize=256)
def _query(query: bytes, kind: type[Any]) -> Outcome[Any, DataValidationError]:
    """Parse a query string; the results are cached, because clients repeat a few queries and the results are immutable."""
    parameters = QueryParams(query)
    read = structure_parameters(dict(parameters), kind)
    names = [name for name, _ in parameters.multi_items()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not twice:
        return read
    problems = [Problem(f"$.query.{name}", "given more than once") for name in twice]
    _unless(read, problems)
    return Failure(DataValidationError(tuple(problems)))


async def _body(request: Request, kind: type[Any], problems: list[Problem]) -> Any:
    if kind is type(None):
        return None
    text = await request.body()
    if kind is Empty and not text:
        return Empty()
    read = read_json(text, kind)
    if isinstance(read, Failure):
        error = read.failure()
        read = Failure(
            evolve(error, problems=tuple(evolve(one, path=f"$.body{one.path[1:]}") for one in error.problems))
        )
    return _unless(read, problems)


def _unless(read: Outcome[Any, DataValidationError], problems: list[Problem]) -> Any:
    if isinstance(read, Success):
        return read.unwrap()
    problems.extend(read.failure().problems)
    return None


def _expected_version(operation: Operation, request: Request, problems: list[Problem]) -> int | None:
    sent = _header(request, "If-Match", A_VERSION, 'the ETag of a read, such as "12"', problems)
    if sent is None:
        return None
    if not operation.takes_version:
        problems.append(Problem("$.headers.If-Match", f"{operation.name} does not use it: leave it out"))
        return None
    return int(sent.strip('"'))


def _key(operation: Operation, request: Request, problems: list[Problem]) -> str | None:
    if not operation.changes:
        return None
    expected = "1 to 255 visible ASCII characters, without spaces"
    return _header(request, "Idempotency-Key", A_KEY, expected, problems)


def _header(request: Request, name: str, pattern: str, expected: str, problems: list[Problem]) -> str | None:
    values = request.headers.getlist(name)
    if not values:
        return None
    if len(values) == 1 and re.fullmatch(pattern, values[0]):
        return values[0]
    problems.append(Problem(f"$.headers.{name}", f"expected {expected}, once"))
    return None


def with_request_paths(error: DataValidationError, operation: Operation) -> DataValidationError:
    """Return *error*, which a service found, with paths that name places in the request of *operation*."""
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
