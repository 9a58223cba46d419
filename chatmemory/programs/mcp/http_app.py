"""``mcp_application``: the server over streamable HTTP, behind the guards of the HTTP API's door.

Every request stands for itself: there is no session that another client could take over, and the token of each request
says what that request may do.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.effect import Runner
from chatmemory.programs.http.access import Access, TokenGuard, grant_of
from chatmemory.programs.http.docs_pages import problems_page
from chatmemory.programs.http.guards.door import MethodRoute, behind_the_door
from chatmemory.programs.http.guards.limits import AtMost, ContentGuard, Places
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.mcp.server import RequestContext, Services, memory_server
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings

PATH: Final = "/mcp"


@asynccontextmanager
async def mcp_application(runtime: Runner[Services], settings: ServerSettings) -> AsyncGenerator[ASGIApp]:
    """Open what answers at ``PATH`` with the services of *runtime*; *settings* say who may do what, and how much at once."""
    manager = StreamableHTTPSessionManager(
        memory_server(runtime, _grant_of, has_pages=True),
        json_response=True,
        stateless=True,
        max_request_body_size=settings.max_body_bytes,
    )
    app: ASGIApp = StreamableHTTPASGIApp(manager)
    app = AtMost(app, places=Places(settings.max_requests))
    app = ContentGuard(app, max_bytes=settings.max_body_bytes, seconds=settings.body_seconds)
    app = TokenGuard(app, Access(settings, runtime))
    routes = [MethodRoute(PATH, "POST", app, methods_here=["POST"])]
    routes += [MethodRoute(path, "GET", page, methods_here=["GET"]) for path, page in problems_page().items()]
    async with manager.run():
        yield behind_the_door(Router(routes, redirect_slashes=False, default=_nothing_there), settings)


def _grant_of(context: RequestContext) -> Grant:
    if context.request is None:
        msg = "a request over HTTP comes with its scope"
        raise TypeError(msg)
    return grant_of(context.request.scope)


async def _nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    await problem_response(Refusal("NotFoundError", f"the server answers at {PATH}"))(scope, receive, send)
