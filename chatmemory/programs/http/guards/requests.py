"""The outer guards of the server: ``guarded`` puts them around an application; ``MethodRoute`` routes to an operation.

If several paths match a request, the first route that takes its method answers.  ``RequestGuard`` refuses a request because
of its path or headers in these cases:

- The path or the query is not percent-encoded UTF-8: decoded with replacement characters, it would name another id.
- The ``Host`` is not a name of this server.  This stops DNS rebinding: after a foreign page has loaded, its name is made
  to point to this machine, so the browser takes both for one origin, but its requests still have the foreign name.
- The request comes from a page of another origin.  Browsers send ``Origin`` and ``Sec-Fetch-Site``, and pages cannot
  forge them.  Programs send neither, so they pass.  The server sends no CORS headers.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final, final
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.guards.answers import HeaderGuard, RequestLog, UnforeseenGuard
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.refusal import Refusal
from chatmemory.settings.server_settings import ServerSettings

WELL_FORMED: Final = re.compile(rb"(?:[^%]|%[0-9A-Fa-f]{2})*", re.DOTALL)

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")

HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:\[\]@/?#]+)(?::[0-9]{1,5})?")
"""A name or an address, with an optional port.  The port is not compared, because a tunnel has its own."""

PAGES: Final = frozenset({"/", "/docs", "/docs/problems"})
OWN_SITES: Final = frozenset({"same-origin", "none"})
"""``none`` means that a person typed the address or opened a bookmark."""

MALFORMED: Final = Refusal(
    "MalformedRequestError",
    "path and query must be percent-encoded UTF-8, as encodeURIComponent writes it, and the path must begin with a slash",
)
WRONG_HOST: Final = Refusal(
    "HostRefusedError",
    "send one Host header, with a name of this server: use an address that it listens on, or add the name to server.hosts",
)
WRONG_ORIGIN: Final = Refusal(
    "OriginRefusedError",
    "this request comes from a page of another origin: open this server's own page, or send the request from a program",
)


def guarded(app: ASGIApp, settings: ServerSettings) -> ASGIApp:
    """Return *app* inside the guards that every request passes: log, headers, unexpected errors, ``RequestGuard``.

    The log is outermost, so that refused requests are logged too.  Every answer gets the headers, including errors.
    The server passes only HTTP requests: ``serving.py`` turns off WebSockets and the events of a lifespan.
    """
    return RequestLog(HeaderGuard(UnforeseenGuard(RequestGuard(app, names=settings.names))))


@final
class RequestGuard:
    """Lets a request pass to *app* if it is well formed, sent to a name of this server, and not sent by a page of another origin.

    *names* are those of this server, in addition to those of the loopback address.
    """

    def __init__(self, app: ASGIApp, *, names: Iterable[str]) -> None:
        self.app = app
        self.names = frozenset(map(_written_in_headers, (*LOOPBACK_NAMES, *names)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope, Headers(scope=scope))
        await (self.app if refusal is None else problem_response(refusal))(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        path: bytes = scope["raw_path"]
        if not (path.startswith(b"/") and _is_certain(path) and _is_certain(scope["query_string"])):
            return MALFORMED
        hosts = headers.getlist("host")
        named = HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if named is None or named["name"] not in self.names:
            return WRONG_HOST
        return None if _is_own(scope, headers) else WRONG_ORIGIN


@final
class MethodRoute(Route):
    """Routes one method of a path to *app*; other methods are refused with the list of the allowed ones."""

    def __init__(self, path: str, method: str, app: ASGIApp, *, methods_here: Collection[str]) -> None:
        """Route requests with *method* at *path* to *app*.

        The names of parameters in *path* are in braces; *methods_here* are all methods that it has.
        """
        super().__init__(path, app, methods=[method])
        allowed = ", ".join(sorted(methods_here))
        refusal = Refusal("MethodNotAllowedError", f"use {allowed} here", {"Allow": allowed})
        self._refused = problem_response(refusal)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse its method; the router also calls this for a method without a route."""
        scope["route"] = self  # for the log; older releases of starlette do not set it
        is_taken = scope["method"] in (self.methods or ())
        await (self.app if is_taken else self._refused)(scope, receive, send)


@final
class RawPaths:
    """Passes requests to *app* with the path as it was sent, so that an id with an encoded slash stays one segment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "path": scope["raw_path"].decode("latin-1")}, receive, send)


def _is_certain(encoded: bytes) -> bool:
    if encoded.isascii() and b"%" not in encoded:
        return True
    try:
        unquote_to_bytes(encoded).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return WELL_FORMED.fullmatch(encoded) is not None


def _is_own(scope: Scope, headers: Headers) -> bool:
    host = headers.get("host", "").lower()
    if not {f"http://{host}", f"https://{host}"}.issuperset(headers.getlist("origin")):
        return False
    return OWN_SITES.issuperset(headers.getlist("sec-fetch-site")) or _follows_a_link(scope, headers)


def _follows_a_link(scope: Scope, headers: Headers) -> bool:
    """Return whether the request follows a link of another site to a page: only the browser's user sees this page."""
    return (
        scope["method"] == "GET"
        and scope["path"] in PAGES
        and headers.getlist("sec-fetch-mode") == ["navigate"]
        and headers.getlist("sec-fetch-dest") == ["document"]  # not "iframe"
    )


def _written_in_headers(name: str) -> str:
    name = name.strip().lower()
    return f"[{name}]" if ":" in name and not name.startswith("[") else name
