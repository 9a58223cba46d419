"""``UnforeseenGuard``: an exception that nobody expected becomes an answer that tells nothing of it.

Its text may hold what somebody said, so the log gets its type and its place alone.
"""

import logging
from traceback import extract_tb
from typing import Final, cast, final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatmemory.programs.http.guards.request_log import route_of
from chatmemory.programs.http.problems import Refusal, problem_response

REFUSED: Final = Refusal("InternalError", "the server made a mistake; its log says where")

log = logging.getLogger("chatmemory.http")


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
            log.error("%s: %s", route_of(scope), described(error))  # noqa: TRY400  a traceback shows the text
            if not has_begun:
                await problem_response(REFUSED)(scope, receive, send)


def described(error: BaseException) -> str:
    """Return type and place of *error*, and of what is grouped in it, without its text."""
    frames = extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    name = f"{type(error).__module__}.{type(error).__qualname__}{place}"
    if isinstance(error, BaseExceptionGroup):
        grouped = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return f"{name} ({'; '.join(map(described, grouped))})"
    return name
