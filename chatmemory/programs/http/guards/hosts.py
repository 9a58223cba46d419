"""``HostGuard``: answers only under names of this server, so that no other name can be made to lead here.

A page whose name is made to point at this machine after it has loaded (DNS rebinding) is of the same origin as
the server in the eyes of its browser; but its requests still bear that name.  Ports are not compared: a tunnel has its own.
"""

import re
from collections.abc import Iterable
from typing import Final, final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.problems import Refusal, problem_response

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")

HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:\[\]@/?#]+)(?::[0-9]{1,5})?")
"""A name or an address, and perhaps a port."""

REFUSED: Final = Refusal(
    "HostRefusedError",
    "the Host header must be, once, a name of this server: use an address that it listens at, or add the name to server.hosts",
)


@final
class HostGuard:
    """Lets requests pass to *app* whose ``Host`` is of this machine's loopback, or one of *names*."""

    def __init__(self, app: ASGIApp, *, names: Iterable[str] = ()) -> None:
        self.app = app
        self.names = frozenset(map(_written_in_headers, (*LOOPBACK_NAMES, *names)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        is_let_through = scope["type"] != "http" or self._knows(Headers(scope=scope).getlist("host"))
        await (self.app if is_let_through else problem_response(REFUSED))(scope, receive, send)

    def _knows(self, hosts: list[str]) -> bool:
        named = HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        return named is not None and named["name"] in self.names


def _written_in_headers(name: str) -> str:
    name = name.strip().lower()
    return f"[{name}]" if ":" in name and not name.startswith("[") else name
