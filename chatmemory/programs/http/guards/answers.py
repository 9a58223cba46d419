"""What stands around answers: ``RequestLog``, ``HeaderGuard``, ``UnforeseenGuard`` and ``Compressed``.

The log is for the operator and never shows what was asked or said.  Ids stand in paths, words in queries, and an
exception may quote what somebody said: a line names the route, and an error its type and place.

Compression can give a secret away (BREACH) where somebody else's page makes a browser ask with the credentials of its
user, has words of its own repeated beside the secret, and sees how long the answer is.  Here no answer holds a token; a
token stands in a header that no browser adds by itself; and a page of another origin is refused, whatever it asks.
"""

import logging
from time import perf_counter
from traceback import extract_tb
from typing import Final, cast, final

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.refusal import Refusal

NO_ROUTE: Final = "(no route)"
CALLER: Final = "chatmemory.caller"
"""Where the scope of a request holds the name of the token that it came with."""
NO_CALLER: Final = "(nobody)"
"""Of a request that came without a known token, or needed none."""

UNFORESEEN: Final = Refusal("InternalError", "the server made a mistake; its log says where")

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS: Final = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),  # for browsers that do not know frame-ancestors
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

LEAST_COMPRESSED_BYTES: Final = 1_400
"""What fits one packet takes as long uncompressed."""
COMPRESSION_LEVEL: Final = 5
"""Of 1 to 9: 200 KB of the page become 60 KB in 12 ms; 9 takes half as long again, for 2 % less."""

log = logging.getLogger("chatmemory.http")


def route_of(scope: Scope) -> str:
    """Return method and template of the route that *scope* took: ``GET /memories/{memoryId}``."""
    return f"{scope.get('method', scope['type'])} {getattr(scope.get('route'), 'path', NO_ROUTE)}"


def caller_of(scope: Scope) -> str:
    """Return the name of the token that the request of *scope* came with."""
    name: str = scope.get(CALLER, NO_CALLER)
    return name


def asked_by(scope: Scope) -> str:
    """Return route and caller of *scope*: ``GET /memories/{memoryId} by phone``."""
    return f"{route_of(scope)} by {caller_of(scope)}"


@final
class RequestLog:
    """Logs what *app* answers: method, route, status, the name of the client's token, milliseconds, and bytes of the body."""

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
            log.info(
                "%s %s by %s %.1f ms %d bytes",
                route_of(scope),
                status,
                caller_of(scope),
                milliseconds,
                body_bytes,
            )


@final
class HeaderGuard:
    """Adds ``HEADERS`` to the answers of *app*, except headers that an answer already has."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", ())
                names = {name.lower() for name, _ in own}
                message["headers"] = [*own, *(header for header in HEADERS if header[0] not in names)]
            await send(message)

        await self.app(scope, receive, send_with_headers)


@final
class UnforeseenGuard:
    """Answers for *app* when it raises; an answer that has begun stays incomplete, and the server cuts the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, whatever happens."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def send_and_notice(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_notice)
        except Exception as error:  # noqa: BLE001  whatever nobody expected
            log.error("%s: %s", asked_by(scope), described(error))  # noqa: TRY400  a traceback shows the text
            if not has_begun:
                await problem_response(UNFORESEEN)(scope, receive, send)


@final
class Compressed:
    """Gives the answers of *app* compressed; not for streams, whose beginning would wait for what follows.

    What takes long, from 128 KiB on, is done in a thread while others are answered.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._compressing = GZipMiddleware(
            app, minimum_size=LEAST_COMPRESSED_BYTES, compresslevel=COMPRESSION_LEVEL
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        # The middleware takes 12 us of each answer that it leaves as it is.
        takes_gzip = any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])
        await (self._compressing if takes_gzip else self.app)(scope, receive, send)


def described(error: BaseException) -> str:
    """Return type and place of *error*, and of what is grouped in it, without its text."""
    frames = extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    name = f"{type(error).__module__}.{type(error).__qualname__}{place}"
    if isinstance(error, BaseExceptionGroup):
        grouped = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return f"{name} ({'; '.join(map(described, grouped))})"
    return name
