"""Wrappers around answers: ``RequestLog``, ``HeaderGuard``, ``UnforeseenGuard`` and ``Compressed``.

The log is for the operator and never shows what was requested or said.  Paths contain ids, queries contain words, and an
exception may quote what somebody said.  So a log line shows only the route, and of an error only its type and place.

Compression can reveal a secret (BREACH) if a foreign page makes a browser send requests with the user's credentials, has
its own words repeated next to the secret, and sees the length of the answer.  This is not possible here: no answer
contains a token, no browser adds the header with the token by itself, and pages of other origins are refused.
"""

import asyncio
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
"""The key in the scope of a request under which the name of its token is stored."""
NO_CALLER: Final = "(nobody)"
"""The name for a request without a known token, or that needs none."""

UNFORESEEN: Final = Refusal("InternalError", "the server made a mistake; its log says where")
STOPPED: Final = Refusal(
    "InternalError", "the server stopped: see whether the change was made before you repeat it"
)

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
"""A shorter answer fits into one packet, so compression would not make it faster."""
COMPRESSION_LEVEL: Final = 5
"""From 1 to 9.  At 5, 200 KB of the page become 60 KB in 12 ms; 9 needs 50 % more time for 2 % less."""

log = logging.getLogger("chatmemory.http")


def route_of(scope: Scope) -> str:
    """Return the method and the path template of the route of *scope*, for example ``GET /memories/{memoryId}``."""
    return f"{scope['method']} {getattr(scope.get('route'), 'path', NO_ROUTE)}"


def caller_of(scope: Scope) -> str:
    """Return the name of the token that the request of *scope* came with."""
    name: str = scope.get(CALLER, NO_CALLER)
    return name


def asked_by(scope: Scope) -> str:
    """Return the route and the caller of *scope*, for example ``GET /memories/{memoryId} by phone``."""
    return f"{route_of(scope)} by {caller_of(scope)}"


@final
class RequestLog:
    """Logs each answer of *app*: method, route, status, name of the client's token, milliseconds, and bytes of the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not log.isEnabledFor(logging.INFO):
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
    """Adds ``HEADERS`` to the answers of *app*, except those that an answer already has."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", ())
                names = {name.lower() for name, _ in own}
                message["headers"] = [*own, *(header for header in HEADERS if header[0] not in names)]
            await send(message)

        await self.app(scope, receive, send_with_headers)


@final
class UnforeseenGuard:
    """Answers with ``UNFORESEEN`` when *app* raises, and with ``STOPPED`` when the closing server cancels the request.

    If the answer has begun, the server closes the connection instead.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def send_and_notice(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_notice)
        except Exception as error:  # noqa: BLE001  any unexpected exception
            log.error("%s: %s", asked_by(scope), described(error))  # noqa: TRY400  a traceback shows the text
            if not has_begun:
                await problem_response(UNFORESEEN)(scope, receive, send)
        except asyncio.CancelledError:
            # Only the closing server cancels a request, which ends here: raised again, it would be logged as a mistake.
            if not has_begun:
                await problem_response(STOPPED)(scope, receive, send)


@final
class Compressed:
    """Compresses the answers of *app*; not for streams, whose first events would wait for later ones.

    Answers of 128 KiB and more are compressed in a thread, so that other requests do not wait.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._compressing = GZipMiddleware(
            app, minimum_size=LEAST_COMPRESSED_BYTES, compresslevel=COMPRESSION_LEVEL
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to *app*, and compress its answer if the client accepts gzip."""
        # Without this check the middleware would cost 12 us for each answer that it does not compress.
        takes_gzip = any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])
        await (self._compressing if takes_gzip else self.app)(scope, receive, send)


def described(error: BaseException) -> str:
    """Return the type and place of *error*, and of the exceptions in a group, without their text."""
    frames = extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    name = f"{type(error).__module__}.{type(error).__qualname__}{place}"
    if isinstance(error, BaseExceptionGroup):
        grouped = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return f"{name} ({'; '.join(map(described, grouped))})"
    return name
