"""``AtMost``: so many at once, and no more: who comes too late is told to come again, at once.

Nobody waits in line here: requests that run at once share one event loop, which is line enough.
"""

from typing import Final, final

from starlette.types import ASGIApp, Receive, Scope, Send

from chatmemory.programs.http.problems import Refusal, problem_response

REFUSED: Final = Refusal("OverloadedError", "too many requests at once: try again soon")


@final
class Places:
    """How many more may begin; *count* at first."""

    def __init__(self, count: int) -> None:
        self.free = count


@final
class AtMost:
    """Lets a request pass to *app* while one of the *places* is free, which several applications may share."""

    def __init__(self, app: ASGIApp, *, places: Places) -> None:
        self.app = app
        self.places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.places.free <= 0:
            await problem_response(REFUSED)(scope, receive, send)
            return
        self.places.free -= 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.places.free += 1
