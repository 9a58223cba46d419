"""The door of the server: ``behind_the_door`` puts guards before an application, and ``MethodRoute`` leads to an operation.

Where several paths fit a request, the first route that takes its method answers.  ``DoorGuard`` refuses a request for what its first lines say:

- a path or a query that is not percent-encoded UTF-8: decoded with replacement characters, it would name another id;
- a name that is not this server's.  A page whose name is made to point at this machine after it has loaded (DNS
  rebinding) is of the server's origin in the eyes of its browser, but its requests still bear that name;
- a page of another origin.  A browser says in ``Origin`` and ``Sec-Fetch-Site`` where a request comes from, and pages
  cannot forge either.  Programs send neither, and pass; this server has no CORS header for anybody.
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
"""A name or an address, and perhaps a port, which is not compared: a tunnel has its own."""

PAGES: Final = frozenset({"/", "/docs", "/docs/problems"})
OWN_SITES: Final = frozenset({"same-origin", "none"})
"""``none``: a person typed the address, or opened a bookmark."""

MALFORMED: Final = Refusal(
    "MalformedRequestError",
    "path and query must be percent-encoded UTF-8, as encodeURIComponent writes it, and the path must begin with a slash",
)
WRONG_HOST: Final = Refusal(
    "HostRefusedError",
    "the Host header must be, once, a name of this server: use an address that it listens at, or add the name to server.hosts",
)
WRONG_ORIGIN: Final = Refusal(
    "OriginRefusedError",
    "this request comes from a page of another origin: open the page that this server has itself, or ask from a program",
)


def behind_the_door(app: ASGIApp, settings: ServerSettings) -> ASGIApp:
    """Return *app* behind the guards that each request passes: log, headers, unforeseen errors, ``DoorGuard``.

    The log is outermost, so that refused requests are logged too.  Each answer gets the headers, also that of an error.

    Args:
        app: answers the requests that pass.
        settings: name the server.
    """
    return RequestLog(HeaderGuard(UnforeseenGuard(DoorGuard(app, names=settings.names))))


@final
class DoorGuard:
    """Lets a request pass to *app* if it is well formed, sent to a name of this server, and not sent by a page of another origin.

    Args:
        app: answers the requests that pass.
        names: of this server, besides those of this machine's loopback.
    """

    def __init__(self, app: ASGIApp, *, names: Iterable[str] = ()) -> None:
        self.app = app
        self.names = frozenset(map(_written_in_headers, (*LOOPBACK_NAMES, *names)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to *app*, or refuse it."""
        refusal = self._refusal(scope, Headers(scope=scope)) if scope["type"] == "http" else None
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
    """Routes one method of a path to *app*; a method without a route is refused with the list of those that have one."""

    def __init__(self, path: str, method: str, app: ASGIApp, *, methods_here: Collection[str]) -> None:
        """Route requests with *method* at *path* to *app*.

        Args:
            path: with the names of its parameters in braces.
            method: the method of this route.
            app: answers.
            methods_here: all methods that *path* has.
        """
        super().__init__(path, app, methods=[method])
        allowed = ", ".join(sorted(methods_here))
        refusal = Refusal("MethodNotAllowedError", f"use {allowed} here", {"Allow": allowed})
        self._refused = problem_response(refusal)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse its method: the router also calls this for a method that no route takes."""
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
    """Tell whether a link of another site leads to a page: the browser shows it, and that site sees nothing of it."""
    return (
        scope["method"] == "GET"
        and scope["path"] in PAGES
        and headers.getlist("sec-fetch-mode") == ["navigate"]
        and headers.getlist("sec-fetch-dest") == ["document"]  # not "iframe"
    )


def _written_in_headers(name: str) -> str:
    name = name.strip().lower()
    return f"[{name}]" if ":" in name and not name.startswith("[") else name
