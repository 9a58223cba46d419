"""Who may do what: a request's token, or that it needs none, becomes a ``Grant``, before its body is read."""

import hmac
from collections.abc import Mapping, Sequence
from typing import Final, final

from attrs import evolve
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.guards.answers import CALLER, NO_CALLER
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.grant import Grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings, TokenSettings

CHALLENGE: Final[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="chatmemory"'}
NO_TOKEN: Final = Refusal(
    "UnauthorizedError", "send the token as 'Authorization: Bearer TOKEN'", dict(CHALLENGE)
)
WRONG_TOKEN: Final = Refusal(
    "UnauthorizedError",
    "no such token: see [server] and [server.tokens] in the configuration",
    dict(CHALLENGE),
)
ONLY_LOOKS: Final = Refusal("ForbiddenError", "this token may only look")

GRANT: Final = "chatmemory.grant"
"""Where the scope of a request holds its grant."""

MAIN: Final = "(server.token)"
EVERYBODY: Final = "(everybody)"
"""Names of clients that no table in ``server.tokens`` names: of the token of the server, and where none is needed."""

NOBODY: Final = Grant(name=NO_CALLER, user="", past_chats=False, read_only=True)
"""Whoever asks for what needs no token; no memory is of this user."""


def granted(name: str, token: TokenSettings) -> Grant:
    """Return what a client with *token* may do."""
    return Grant(
        name=name,
        user=token.user,
        app=token.app,
        conversations=token.conversations,
        past_chats=token.past_chats,
        read_only=token.read_only,
    )


@final
class Access:
    """Knows the tokens."""

    def __init__(self, settings: ServerSettings) -> None:
        """Know those of *settings*; without any, everybody who reaches the server has the grant of its user."""
        owner = Grant(name=MAIN, user=settings.user, app=settings.app)
        known = [(settings.token, owner)] if settings.token else []
        known += [(token.token, granted(name, token)) for name, token in settings.tokens.items()]
        self._granted: Sequence[tuple[bytes, Grant]] = [(token.encode(), grant) for token, grant in known]
        self._open: Grant | None = None if known else evolve(owner, name=EVERYBODY)

    def grant(self, authorization: str | None) -> Grant | Refusal:
        """Return what the header ``Authorization`` allows."""
        if self._open is not None:
            return self._open
        scheme, _, sent = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not sent.strip():
            return NO_TOKEN
        token = sent.strip().encode("latin-1", "replace")
        # Every token is compared, in constant time, so that the time of the answer tells nothing.
        matches = [grant for known, grant in self._granted if hmac.compare_digest(known, token)]
        return matches[0] if matches else WRONG_TOKEN


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
        if isinstance(grant, Grant):
            scope[CALLER] = grant.name  # in the scope that the log sees
            if grant.read_only and self.changes:
                grant = ONLY_LOOKS
        if isinstance(grant, Refusal):
            await problem_response(grant)(scope, receive, send)
        else:
            await self.app({**scope, GRANT: grant}, receive, send)


def grant_of(scope: Scope) -> Grant:
    """Return what a request that has passed the guard may do."""
    grant: Grant = scope[GRANT]
    return grant
