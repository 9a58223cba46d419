"""``application``: the operations as an ASGI application."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import anyio
from returns.result import Failure, Success
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.contracts import ChatContextService, ChatMemoryService, LongTermMemoryService
from chatmemory.effect import ManagedRuntime
from chatmemory.programs.http.access import Access, Grant
from chatmemory.programs.http.answering import answer
from chatmemory.programs.http.context import CONTEXT
from chatmemory.programs.http.conversations import CONVERSATIONS
from chatmemory.programs.http.extraction import EXTRACTION
from chatmemory.programs.http.memories import MEMORIES
from chatmemory.programs.http.operation import Operation
from chatmemory.programs.http.problems import Refusal, problem_response
from chatmemory.programs.http.reading import read_call

Services: TypeAlias = ChatMemoryService | LongTermMemoryService | ChatContextService
"""What the operations ask for."""

OPERATIONS: Final[Sequence[Operation]] = (*CONVERSATIONS, *EXTRACTION, *MEMORIES, *CONTEXT)

Respond: TypeAlias = Callable[[Operation, Request], Any]


def application(runtime: ManagedRuntime[Services], access: Access, closing: anyio.Event) -> ASGIApp:
    """Answer requests with the services of *runtime*.

    Args:
        runtime: open for as long as requests come in.
        access: who may do what.
        closing: set it when the server is about to end, so that answers without an end of their own end.
    """

    async def respond(operation: Operation, request: Request) -> Response:
        grant = _grant(access, operation, request)
        if isinstance(grant, Refusal):
            return problem_response(grant)
        match await read_call(operation, request, grant, closing):
            case Success(call):
                return answer(operation, request, await runtime.run(operation.handler(call)))
            case Failure(error):
                return problem_response(error)

    by_path: Mapping[str, dict[str, Operation]] = defaultdict(dict)
    for operation in OPERATIONS:
        by_path[operation.path][operation.method] = operation
    routes = [Route(path, _Path(operations, respond)) for path, operations in by_path.items()]
    return _RawPaths(Router(routes, redirect_slashes=False, default=_nothing_there))


def _grant(access: Access, operation: Operation, request: Request) -> Grant | Refusal:
    grant = access.grant(request.headers.get("authorization"))
    if isinstance(grant, Grant) and grant.read_only and operation.changes:
        return Refusal("ForbiddenError", "this token may only look")
    return grant


@final
class _Path:
    """Answers at one path, by method."""

    def __init__(self, operations: Mapping[str, Operation], respond: Respond) -> None:
        self._operations = operations
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        operation = self._operations.get(method)
        if operation is None:
            allowed = ", ".join(self._operations)
            refusal = Refusal("MethodNotAllowedError", f"use {allowed} here", {"Allow": allowed})
            response = problem_response(refusal)
        else:
            response = await self._respond(operation, Request(scope, receive))
        await response(scope, receive, send)


@final
class _RawPaths:
    """Routes by the path as it was sent: an id with a percent-encoded slash stays one segment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "path": scope["raw_path"].decode("latin-1")}, receive, send)


async def _nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    nothing = Refusal("NotFoundError", "see /openapi.json for what there is")
    await problem_response(nothing)(scope, receive, send)
