"""Limits: ``ContentGuard`` limits the body of a request, ``AtMost`` and ``StreamLimit`` the number of requests at once.

A body is read completely before its handler begins, so a slow client only occupies its own connection.  There is no
queue: requests over the limit are refused, because those that run already wait for each other in one event loop.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final, final

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.refusal import Refusal

WRITING_METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
JSON: Final = re.compile(r'application/json(\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)

NO_JSON: Final = Refusal("UnsupportedMediaTypeError", "send Content-Type: application/json, in UTF-8")
ENCODED: Final = Refusal("UnsupportedMediaTypeError", "send the body as it is, without Content-Encoding")
NO_MEMORY: Final = Refusal("OverloadedError", "too many bodies arrive at once: try again soon")
TOO_MANY: Final = Refusal("OverloadedError", "too many requests at once: try again soon")
TOO_MANY_STREAMS: Final = Refusal("OverloadedError", "too many streams at once: try again soon")


@final
class FreeMemory:
    """The memory that is left for all arriving bodies together, in bytes."""

    def __init__(self, free_bytes: int = 64_000_000) -> None:
        self.free_bytes = free_bytes


@final
class ContentGuard:
    """Reads the whole body of a request, at most *max_bytes*, within *seconds*, and passes it to *app* in one piece.

    *memory*, for arriving bodies, may be shared by several guards.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, seconds: float, memory: FreeMemory) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.seconds = seconds
        self.memory = memory
        text = f"a body may have at most {max_bytes:,} bytes: send less at a time"
        self._too_large = Refusal("ContentTooLargeError", text)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to *app*, or refuse it; a refused body is not read further, and the connection is closed."""
        headers = Headers(scope=scope)
        refusal = self._refusal(scope["method"], headers)
        if refusal is None and ("content-length" in headers or "transfer-encoding" in headers):
            body = await self._read(receive)
            if body is None:
                return
            if isinstance(body, Refusal):
                refusal = body
            else:
                receive = _received(body, receive)
        await (self.app if refusal is None else problem_response(refusal))(scope, receive, send)

    def _refusal(self, method: str, headers: Headers) -> Refusal | None:
        types = headers.getlist("content-type")
        if method in WRITING_METHODS and not (len(types) == 1 and JSON.fullmatch(types[0].strip())):
            return NO_JSON
        if "content-encoding" in headers:
            return ENCODED
        announced = headers.get("content-length", "")
        is_too_large = announced.isdecimal() and int(announced) > self.max_bytes
        return self._too_large if is_too_large else None

    async def _read(self, receive: Receive) -> bytes | Refusal | None:
        """Return the body, or why it is refused; None: the client went away before it was complete."""
        body = bytearray()
        held_bytes = 0
        try:
            with anyio.fail_after(self.seconds):
                more_body = True
                while more_body:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    more_body = message.get("more_body", False)
                    self.memory.free_bytes -= len(body) - held_bytes
                    held_bytes = len(body)
                    if held_bytes > self.max_bytes:
                        return self._too_large
                    if self.memory.free_bytes < 0:
                        return NO_MEMORY
        except TimeoutError:
            return Refusal("RequestTimeoutError", f"the whole body must arrive within {self.seconds:g} s")
        finally:
            self.memory.free_bytes += held_bytes
        return bytes(body)


def _received(body: bytes, receive: Receive) -> Receive:
    """Return a function that returns *body* at its first call, and calls *receive* after that."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return first.pop() if first else await receive()

    return given


@final
class AtMost:
    """Passes a request to *app* if one of *slots* is free; several applications may share them.

    Otherwise the request is refused at once, and the client is asked to try again.
    """

    def __init__(self, app: ASGIApp, *, slots: anyio.Semaphore) -> None:
        self.app = app
        self.slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self.slots.acquire_nowait()
        except anyio.WouldBlock:
            await problem_response(TOO_MANY)(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        finally:
            self.slots.release()


@final
class StreamLimit:
    """Keeps at most *slots* streams of *app* open; if all are in use, a new stream closes another one.

    It closes the oldest stream of the client that has the most.  That client reconnects with the id of the last event
    that it saw.  So a client that opens more and more streams closes its own, and no client is locked out
    forever.  *client_of* returns the client of a request.
    """

    def __init__(self, app: ASGIApp, *, slots: int, client_of: Callable[[Scope], Hashable]) -> None:
        self.app = app
        self.slots = slots
        self.client_of = client_of
        self._taken: dict[anyio.CancelScope, Hashable] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(self._taken) >= self.slots:
            self._free_slot()
        has_begun = False

        async def send_and_notice(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        with anyio.CancelScope() as slot:
            self._taken[slot] = self.client_of(scope)
            try:
                await self.app(scope, receive, send_and_notice)
            finally:
                self._taken.pop(slot, None)
        if slot.cancelled_caught and has_begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif slot.cancelled_caught:
            await problem_response(TOO_MANY_STREAMS)(scope, receive, send)

    def _free_slot(self) -> None:
        ((greediest, _),) = Counter(self._taken.values()).most_common(1)
        oldest = next(slot for slot, client in self._taken.items() if client == greediest)
        del self._taken[oldest]
        oldest.cancel()
