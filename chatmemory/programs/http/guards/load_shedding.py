"""``GivingWay``: so many answers without an end at once; for a new one the oldest of the greediest client ends.

Who was ended comes back, with what it saw last; who opens ever more streams takes the places from itself, and from nobody
else for ever.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final, final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatmemory.programs.http.problems import Refusal, problem_response

REFUSED: Final = Refusal("OverloadedError", "too many streams at once: try again soon")


@final
class GivingWay:
    """Lets every request pass to *app*, of which *places* are answered at once.

    Args:
        app: answers without an end.
        places: how many are answered at once.
        client_of: tells whose a request is.
    """

    def __init__(self, app: ASGIApp, *, places: int, client_of: Callable[[Scope], Hashable]) -> None:
        self.app = app
        self.places = places
        self.client_of = client_of
        self._taken: dict[anyio.CancelScope, Hashable] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, until another needs the place."""
        if len(self._taken) >= self.places:
            self._make_room()
        has_begun = False

        async def send_and_notice(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        with anyio.CancelScope() as place:
            self._taken[place] = self.client_of(scope)
            try:
                await self.app(scope, receive, send_and_notice)
            finally:
                self._taken.pop(place, None)
        if place.cancelled_caught and has_begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif place.cancelled_caught:
            await problem_response(REFUSED)(scope, receive, send)

    def _make_room(self) -> None:
        ((greediest, _),) = Counter(self._taken.values()).most_common(1)
        oldest = next(place for place, client in self._taken.items() if client == greediest)
        del self._taken[oldest]
        oldest.cancel()
