"""``RequestLog``: one line per request for the operator, and never what was asked or said.

Ids stand in paths, and words in queries, so a line names the route and not the path.
"""

import logging
from time import perf_counter
from typing import Final, final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_ROUTE: Final = "(no route)"

log = logging.getLogger("chatmemory.http")


def route_of(scope: Scope) -> str:
    """Return method and template of the route that *scope* took: ``GET /memories/{memoryId}``."""
    return f"{scope.get('method', scope['type'])} {getattr(scope.get('route'), 'path', NO_ROUTE)}"


@final
class RequestLog:
    """Logs what *app* answers: method, route, status, milliseconds, and bytes of the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and log it."""
        if scope["type"] != "http" or not log.isEnabledFor(logging.INFO):
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        status, body_bytes = "(no answer)", 0

        async def send_and_note(message: Message) -> None:
            nonlocal status, body_bytes
            if message["type"] == "http.response.start":
                status = str(message["status"])
            else:
                body_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            milliseconds = (perf_counter() - began) * 1000
            log.info("%s %s %.1f ms %d bytes", route_of(scope), status, milliseconds, body_bytes)
