"""``TokenGuard``: what the client's token allows, found out before a body is read."""

from typing import Final, final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.access import Access, Grant
from chatmemory.programs.http.problems import Refusal, problem_response

GRANT: Final = "chatmemory.grant"
"""Where the scope of a request holds its grant."""

ONLY_LOOKS: Final = Refusal("ForbiddenError", "this token may only look")


def grant_of(scope: Scope) -> Grant:
    """Return what a request may do that has passed the guard."""
    grant: Grant = scope[GRANT]
    return grant


@final
class TokenGuard:
    """Gives requests to *app* with their grant; who has none is refused, and who may only look if *app* changes something."""

    def __init__(self, app: ASGIApp, access: Access, *, changes: bool = False) -> None:
        self.app = app
        self.access = access
        self.changes = changes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        grant = self.access.grant(Headers(scope=scope).get("authorization"))
        if isinstance(grant, Grant) and grant.read_only and self.changes:
            grant = ONLY_LOOKS
        if isinstance(grant, Refusal):
            await problem_response(grant)(scope, receive, send)
        else:
            await self.app({**scope, GRANT: grant}, receive, send)
