"""``MethodRoute``: one method at one path, and ``RawPaths``, by which routes go.

Where several paths fit a request, the first that takes its method answers.
"""

from collections.abc import Collection
from typing import final

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.problems import Refusal, problem_response


@final
class MethodRoute(Route):
    """Leads to *app*; what no route takes is told which methods the path has."""

    def __init__(self, path: str, method: str, app: ASGIApp, *, methods_here: Collection[str]) -> None:
        """Lead requests with *method* at *path* to *app*."""
        super().__init__(path, app, methods=[method])
        allowed = ", ".join(sorted(methods_here))
        refusal = Refusal("MethodNotAllowedError", f"use {allowed} here", {"Allow": allowed})
        self._refused = problem_response(refusal)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse: the router comes here with another method when no route takes it."""
        scope["route"] = self  # for the log; older releases of starlette do not set it
        is_taken = scope["method"] in (self.methods or ())
        await (self.app if is_taken else self._refused)(scope, receive, send)


@final
class RawPaths:
    """Routes by the path as it was sent: an id with a percent-encoded slash stays one segment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        await self._app({**scope, "path": scope["raw_path"].decode("latin-1")}, receive, send)
