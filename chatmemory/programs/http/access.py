"""``Access``: finds the ``Grant`` of a request from its token, before its body is read; ``TokenGuard`` refuses the others.

``WrongTokens`` delays the answers to wrong tokens of one address, more each time, up to two seconds.  A valid token never
waits.  Clients may share an address, for example behind a proxy, so none is refused because of others.
"""

import hmac
import logging
from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Final, Never, final

from attrs import evolve
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.effect import Effect, Runner
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.programs.http.guards.answers import CALLER, NO_CALLER
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.grant import Grant, main_grant, token_grant
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import AcceptedToken, ServerSettings, token_hash

FIRST_SECONDS: Final = 0.02
"""The delay for the second wrong token; the first may be a mistake.  Each further one waits twice as long."""

LONGEST_SECONDS: Final = 2.0
"""The longest delay: shorter than the time that a server has to finish its requests when it shuts down."""

DOUBLINGS: Final = 20
"""The most doublings to compute; the longest delay is reached before."""

REMEMBERED_SECONDS: Final = 600.0
"""An address is forgotten this long after its last wrong token."""

MOST_ADDRESSES: Final = 1_000
"""The most addresses to count for; if there are more, the one that was quiet for longest is forgotten."""

MOST_WAITING: Final = 100
"""The most delayed answers at once, because each keeps a connection open; further ones are not delayed."""

IPV6_CLIENT_BITS: Final = 64
"""All IPv6 addresses that begin with the same bits belong to one client."""

CHALLENGE: Final[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="chatmemory"'}
INVALID: Final[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="chatmemory", error="invalid_token"'}
NO_TOKEN: Final = Refusal("UnauthorizedError", "send the token as 'Authorization: Bearer TOKEN'", CHALLENGE)
WRONG_TOKEN: Final = Refusal(
    "UnauthorizedError",
    "no such token: see [server] and [server.tokens] in the configuration",
    INVALID,
)
READ_ONLY: Final = Refusal("ForbiddenError", "this token may only read")

GRANT: Final = "chatmemory.grant"
"""The key in the scope of a request under which its grant is stored."""

MAIN: Final = "(server.token)"
EVERYBODY: Final = "(everybody)"
"""Names of clients without a table in ``server.tokens``: with the main token, and without a token if none is needed."""

NOBODY: Final = Grant(name=NO_CALLER, user="", conversations=(), past_chats=False, read_only=True)
"""The grant of a request for an operation that needs no token; no memory belongs to this user."""

log = logging.getLogger("chatmemory.http")


@final
class Access:
    """Finds the grant of a token by the token's hash.

    Without tokens in *settings*, every client has the grant of the server's user.  *runtime* provides the clock, for
    the expiry of tokens and the delay after wrong ones.
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
        """Return the grant of a request, or the refusal if its token is missing, wrong or expired.

        *authorizations* are the values of its ``Authorization`` headers; more than one is refused.  Wrong tokens from
        the *address* of the client are logged, and their answers delayed.
        """
        if self._open is not None:
            return self._open
        scheme, _, sent = authorizations[0].partition(" ") if len(authorizations) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not sent.strip():
            return NO_TOKEN
        sent_hash = token_hash(sent.strip())
        # All tokens are compared in constant time, so that the response time reveals nothing about them.
        matches = [match for match in self._known if hmac.compare_digest(match[0].hash, sent_hash)]
        if not matches:
            return await self._refuse(address)
        ((token, grant),) = matches
        if token.expires is not None and token.is_expired((await self._time()).now()):
            log.warning(
                "the token of %s has expired (%s), and came from %s", grant.name, token.expires, address
            )
            return Refusal(
                "UnauthorizedError",
                f"this token has expired ({token.expires}): ask for a new one, made with 'chatmemory token NAME'",
                INVALID,
            )
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


@final
class TokenGuard:
    """Passes requests to *app* with their grant; refuses those without one, and read-only ones if *app* *changes* data."""

    def __init__(self, app: ASGIApp, access: Access, *, changes: bool = False) -> None:
        self.app = app
        self.access = access
        self.changes = changes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address, _ = scope.get("client") or ("(no address)", None)
        grant = await self.access.grant(Headers(scope=scope).getlist("authorization"), address)
        if isinstance(grant, Grant):
            scope[CALLER] = grant.name  # in the outer scope, which the log reads
            if grant.read_only and self.changes:
                grant = READ_ONLY
        if isinstance(grant, Refusal):
            await problem_response(grant)(scope, receive, send)
        else:
            await self.app({**scope, GRANT: grant}, receive, send)


def grant_of(scope: Scope) -> Grant:
    """Return the grant of a request that has passed the guard."""
    grant: Grant = scope[GRANT]
    return grant


@final
class WrongTokens:
    """Counts wrong tokens by address, and delays their answers."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, float]] = {}  # the address that was quiet for longest is first
        self._waiting = 0

    def count(self, address: str, now: float) -> int:
        """Count a wrong token at *now*, in seconds, and return how many came from *address* without a long pause."""
        client = _client(address)
        before, last = self._counts.pop(client, (0, now))
        count = before + 1 if now - last < REMEMBERED_SECONDS else 1
        self._counts[client] = (count, now)
        if len(self._counts) > MOST_ADDRESSES:
            del self._counts[next(iter(self._counts))]
        return count

    async def wait(self, count: int, clock: Clock) -> None:
        """Sleep for the delay of wrong token number *count*."""
        if count == 1 or self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            await clock.sleep(min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(count - 2, DOUBLINGS)))
        finally:
            self._waiting -= 1


def _client(address: str) -> str:
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:  # a name, or a socket without an address
        return address
    if known.version == 4 or known.ipv4_mapped:  # noqa: PLR2004  of the protocol
        return address
    return str(ip_network((known, IPV6_CLIENT_BITS), strict=False))
