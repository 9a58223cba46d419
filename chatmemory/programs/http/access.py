"""Who may do what: a request's token, or that it needs none, becomes a ``Grant``, before its body is read."""

import hmac
import logging
from collections.abc import Mapping, Sequence
from typing import Final, Never, final

from attrs import evolve
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.effect import Effect, Runner
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.programs.http.guards.answers import CALLER, NO_CALLER
from chatmemory.programs.http.guards.wrong_tokens import WrongTokens
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.grant import Grant, main_grant, token_grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings
from chatmemory.settings.token_hash import AcceptedToken, token_hash

CHALLENGE: Final[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="chatmemory"'}
INVALID: Final[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="chatmemory", error="invalid_token"'}
NO_TOKEN: Final = Refusal(
    "UnauthorizedError", "send the token as 'Authorization: Bearer TOKEN'", dict(CHALLENGE)
)
WRONG_TOKEN: Final = Refusal(
    "UnauthorizedError",
    "no such token: see [server] and [server.tokens] in the configuration",
    dict(INVALID),
)
ONLY_LOOKS: Final = Refusal("ForbiddenError", "this token may only look")

GRANT: Final = "chatmemory.grant"
"""Where the scope of a request holds its grant."""

MAIN: Final = "(server.token)"
EVERYBODY: Final = "(everybody)"
"""Names of clients that no table in ``server.tokens`` names: of the token of the server, and where none is needed."""

NOBODY: Final = Grant(name=NO_CALLER, user="", conversations=(), past_chats=False, read_only=True)
"""Whoever asks for what needs no token; no memory is of this user."""

log = logging.getLogger("chatmemory.http")


@final
class Access:
    """Knows the tokens, by their hashes.

    Args:
        settings: which tokens there are; without any, everybody who reaches the server has the grant of its user.
        runtime: has the clock by which tokens expire and wrong ones wait.
    """

    def __init__(self, settings: ServerSettings, runtime: Runner[Never]) -> None:
        owner = main_grant(settings, name=MAIN)
        known = [
            (accepted, evolve(token_grant(name, token, settings), ends_at=accepted.ends_at))
            for name, token in settings.tokens.items()
            for accepted in token.accepted
        ]
        if settings.token:
            known.append((AcceptedToken(token_hash(settings.token)), owner))
        self._known: Sequence[tuple[AcceptedToken, Grant]] = known
        self._open: Grant | None = None if known else evolve(owner, name=EVERYBODY)
        self._runtime = runtime
        self._clock: Clock | None = None
        self._wrong_tokens = WrongTokens()

    async def grant(self, authorizations: Sequence[str], address: str) -> Grant | Refusal:
        """Return what the headers ``Authorization`` of a client at *address* allow: of two, neither is believed."""
        if self._open is not None:
            return self._open
        scheme, _, sent = authorizations[0].partition(" ") if len(authorizations) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not sent.strip():
            return NO_TOKEN
        sent_hash = token_hash(sent.strip())
        # Every token is compared, in constant time, so that the time of the answer tells nothing.
        matches = [match for match in self._known if hmac.compare_digest(match[0].hash, sent_hash)]
        if not matches:
            return await self._refuse(address)
        ((token, grant),) = matches
        if token.expires is not None and token.is_expired((await self._time()).now()):
            log.warning(
                "the token of %s has expired (%s), and came from %s", grant.name, token.expires, address
            )
            return _expired(token)
        return grant

    async def _refuse(self, address: str) -> Refusal:
        clock = await self._time()
        count = self._wrong_tokens.count(address, clock.monotonic())
        log.warning("wrong token from %s: number %d", address, count)
        await self._wrong_tokens.wait(count, clock)
        return WRONG_TOKEN

    async def _time(self) -> Clock:
        if self._clock is None:
            self._clock = (await self._runtime.run(Effect.service(ClockTag))).unwrap()
        return self._clock


def _expired(token: AcceptedToken) -> Refusal:
    return Refusal(
        "UnauthorizedError",
        f"this token has expired ({token.expires}): ask for another, which 'chatmemory token NAME' makes",
        dict(INVALID),
    )


@final
class TokenGuard:
    """Gives requests to *app* with their grant; who has none is refused, and who may only look if *app* changes something."""

    def __init__(self, app: ASGIApp, access: Access, *, changes: bool = False) -> None:
        self.app = app
        self.access = access
        self.changes = changes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        address, _ = scope.get("client") or ("(no address)", None)
        grant = await self.access.grant(Headers(scope=scope).getlist("authorization"), address)
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
