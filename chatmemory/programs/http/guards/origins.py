"""``OriginGuard``: refuses what pages of other origins send; this server has no CORS header for anybody.

A browser says in ``Origin`` and ``Sec-Fetch-Site`` where a request comes from, and pages cannot forge either.
Programs send neither, and pass.
"""

from typing import Final, final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.problems import Refusal, problem_response

PAGE: Final = "/"
OWN_SITES: Final = frozenset({"same-origin", "none"})
"""``none``: a person typed the address, or opened a bookmark."""

REFUSED: Final = Refusal(
    "OriginRefusedError",
    "this request comes from a page of another origin: open the page that this server has itself, or ask from a program",
)


@final
class OriginGuard:
    """Lets requests pass to *app* that come from its own page, or from no page at all.

    A link of another site to the page is followed: the browser shows what it gets, and that site sees nothing of it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        is_let_through = scope["type"] != "http" or _is_own(scope, Headers(scope=scope))
        await (self.app if is_let_through else problem_response(REFUSED))(scope, receive, send)


def _is_own(scope: Scope, headers: Headers) -> bool:
    host = headers.get("host", "").lower()
    if not {f"http://{host}", f"https://{host}"}.issuperset(headers.getlist("origin")):
        return False
    return OWN_SITES.issuperset(headers.getlist("sec-fetch-site")) or _follows_a_link(scope, headers)


def _follows_a_link(scope: Scope, headers: Headers) -> bool:
    return (
        scope["method"] == "GET"
        and scope["path"] == PAGE
        and headers.getlist("sec-fetch-mode") == ["navigate"]
        and headers.getlist("sec-fetch-dest") == ["document"]  # not "iframe"
    )
