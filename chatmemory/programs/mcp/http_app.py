"""``mcp_application``: the MCP server over streamable HTTP, behind the same guards as the HTTP API.

Requests are independent of each other: there is no session that another client could take over, and the token of each
request decides what that request may do.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import Router
from starlette.types import ASGIApp

from chatmemory.effect import Runner
from chatmemory.programs.http.access import Access, TokenGuard, grant_of
from chatmemory.programs.http.docs_pages import problems_page
from chatmemory.programs.http.guards.limits import AtMost, ContentGuard, FreeMemory
from chatmemory.programs.http.guards.requests import MethodRoute, guarded
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.mcp.server import RequestContext, Services, memory_server
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings

PATH: Final = "/mcp"
NOTHING_THERE: Final = Refusal("NotFoundError", f"the server answers at {PATH}")


@asynccontextmanager
async def mcp_application(runtime: Runner[Services], settings: ServerSettings) -> AsyncGenerator[ASGIApp]:
    """Open an ASGI application that serves MCP at ``PATH``; it is closed when the block ends.

    It answers with the services of *runtime*, which must stay open as long as the application.
    """
    manager = StreamableHTTPSessionManager(
        memory_server(runtime, _grant_of, has_pages=True),
        json_response=True,
        stateless=True,
        max_request_body_size=settings.max_body_bytes,
    )
    app: ASGIApp = StreamableHTTPASGIApp(manager)
    app = AtMost(app, slots=anyio.Semaphore(settings.max_requests))
    app = ContentGuard(
        app, max_bytes=settings.max_body_bytes, seconds=settings.body_seconds, memory=FreeMemory()
    )
    app = TokenGuard(app, Access(settings, runtime))
    routes = [MethodRoute(PATH, "POST", app, methods_here=["POST"])]
    routes += [MethodRoute(path, "GET", page, methods_here=["GET"]) for path, page in problems_page().items()]
    nothing_there = problem_response(NOTHING_THERE)
    async with manager.run():
        yield guarded(Router(routes, redirect_slashes=False, default=nothing_there), settings)


def _grant_of(context: RequestContext) -> Grant:
    if context.request is None:
        raise TypeError("a request over HTTP comes with its scope")
    return grant_of(context.request.scope)
