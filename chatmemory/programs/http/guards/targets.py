"""``TargetGuard``: refuses paths and queries that say nothing certain.

What is decoded with replacement characters would be another id than the one that was meant.
"""

import re
from typing import Final, final
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.problems import Refusal, problem_response

WELL_FORMED: Final = re.compile(rb"(?:[^%]|%[0-9A-Fa-f]{2})*", re.DOTALL)

REFUSED: Final = Refusal(
    "MalformedRequestError",
    "path and query must be percent-encoded UTF-8, as encodeURIComponent writes it, and the path must begin with a slash",
)


@final
class TargetGuard:
    """Lets requests pass to *app* whose path and query are percent-encoded UTF-8."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        is_let_through = scope["type"] != "http" or (
            scope["raw_path"].startswith(b"/")
            and _is_certain(scope["raw_path"])
            and _is_certain(scope["query_string"])
        )
        await (self.app if is_let_through else problem_response(REFUSED))(scope, receive, send)


def _is_certain(encoded: bytes) -> bool:
    if encoded.isascii() and b"%" not in encoded:
        return True
    try:
        unquote_to_bytes(encoded).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return WELL_FORMED.fullmatch(encoded) is not None
