"""``HttpConnection``: the connection of one client of the server, with limits for its time and memory.

uvicorn limits the time that a connection waits between two requests.  ``HttpConnection`` adds the other limits: a head that
is late or too large, an answer that the client does not read, and too many connections at once.
Bodies are bounded by ``chatmemory.programs.http.guards.limits``.  ``WholeAnswer`` sends the head of an answer together with
the data after it.
"""

import asyncio
import logging
from http import HTTPStatus
from typing import Any, Final, cast, final

from attrs import frozen
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from chatmemory.programs.http.guards.answers import HEADERS
from chatmemory.programs.http.problems import problem_response
from chatmemory.programs.operations.refusal import Refusal

log = logging.getLogger("chatmemory.http")

LEAVING_SECONDS: Final = 1.0
"""How long a client may read the last answer of a connection; closing the connection at once could destroy that answer."""

ANNOUNCING_A_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})


@final
@frozen(kw_only=True)
class ConnectionLimits:
    """The limits for a client of the server.

    Attributes:
        head_seconds: from the first byte of a request, or the opening of the connection, to the end of its headers.
        head_bytes: the size of the request line and the headers.
        answer_seconds: how long the client may take to read what was sent.
        connections: how many may be open at once; beyond that, those that have been idle for longest are closed.
    """

    head_seconds: float = 3.0
    head_bytes: int = 16_384
    answer_seconds: float = 30.0
    connections: int = 2_000


class _RefusedHeadError(Exception):
    """Ends the parsing of a request."""


@final
class HttpConnection(HttpToolsProtocol):
    """Serves one connection within *limits*."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: ConnectionLimits,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.limits = limits
        self.idle_since = self.loop.time()
        self._head_bytes = 0
        self._is_in_head = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Return whether no request of this connection is being answered."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # uvicorn sets it with the first request
        return cycle is None or cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to serve; another connection may be closed for it."""
        transport.set_write_buffer_limits(high=0)  # to be told of every byte that the client has not read yet
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > self.limits.connections:
            self._drop_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and cancel all timers."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._stop_head_timer()
        self._stop_answer_timer()

    def data_received(self, data: bytes) -> None:
        """Read *data*, if the head is not too large."""
        super().data_received(data)
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.head_bytes:
                self.send_400_response("")
        if self.is_idle:  # the beginning of a head, or line ends before it
            self._expect_head()

    def on_message_begin(self) -> None:
        """Record that the head of a request begins."""
        self._is_in_head = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to answer; refuse a head that is too large, a target without a path, or an upgrade request with a body.

        httptools reads nothing after a head that asks for an upgrade (as Java's client does for HTTP/2).
        """
        self._is_in_head = False
        self._stop_head_timer()
        head_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if head_bytes > self.limits.head_bytes or not self.url.startswith(b"/"):
            raise _RefusedHeadError
        wants_upgrade = self.parser is not None and self.parser.should_upgrade()
        if wants_upgrade and any(name in ANNOUNCING_A_BODY for name, _ in self.headers):
            raise _RefusedHeadError
        super().on_headers_complete()
        self._answer = self.cycle.transport = WholeAnswer(self.transport, self.loop)
        if wants_upgrade:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Wait for the next request, unless this one was answered before it was read."""
        self._answer.flush()
        is_unread = not self.pipeline and self.cycle.more_body
        self.idle_since = self.loop.time()
        super().on_response_complete()
        if is_unread:
            self._close_soon()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  *msg* does not say what to do
        """Refuse data that is not an HTTP/1.1 request."""
        if self.is_idle:
            most = f"{self.limits.head_bytes:,} bytes of headers"
            text = f"send HTTP/1.1 with a path as its target, at most {most}, and no Upgrade of a request with a body"
            self._refuse(Refusal("MalformedRequestError", text))
        elif self.cycle.more_body:  # the request breaks off here
            self.transport.abort()
        else:  # earlier requests are still answered
            self.cycle.keep_alive = False
            self.flow.pause_reading()

    def pause_writing(self) -> None:
        """Start the timer: the client does not read what was sent."""
        super().pause_writing()
        self._stop_answer_timer()
        self._answer_timer = self.loop.call_later(self.limits.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client has read everything."""
        super().resume_writing()
        self._stop_answer_timer()

    def _expect_head(self) -> None:
        if self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self.limits.head_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.is_idle and not self.transport.is_closing():
            text = f"the head of a request must arrive within {self.limits.head_seconds:g} s"
            self._refuse(Refusal("RequestTimeoutError", text))

    def _drop_idle(self) -> None:
        idle: list[HttpConnection] = [
            connection
            for connection in cast("set[asyncio.Protocol]", self.connections)
            if isinstance(connection, HttpConnection)
            and connection.is_idle
            and not connection.transport.is_closing()
        ]
        min(idle, key=lambda connection: connection.idle_since).transport.abort()  # this one at the last

    def _refuse(self, refusal: Refusal) -> None:
        response = problem_response(refusal)
        status = HTTPStatus(response.status_code)
        log.info("(no request) %d", status)
        lines = [f"HTTP/1.1 {status} {status.phrase}".encode()]
        lines += [
            b"%s: %s" % header for header in (*response.raw_headers, *HEADERS, (b"connection", b"close"))
        ]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self._close_soon()

    def _close_soon(self) -> None:
        """Send the buffered bytes, read nothing more, and close soon."""
        if self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        self._stop_head_timer()
        self.flow.pause_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._head_timer = self.loop.call_later(LEAVING_SECONDS, self.transport.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_answer_timer(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None


@final
class WholeAnswer(asyncio.Transport):
    """The transport of one answer; it holds the head until more is written, for at most one turn of the loop.

    uvicorn writes a head as soon as it is known, and then the body: two system calls and two packets for every answer.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._head: bytes | bytearray | memoryview | None = None
        self._turn: asyncio.Handle | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send *data*.  The first call passes the head, which is held back and sent together with the next data."""
        if self._turn is None:
            self._head = data
            self._turn = self._loop.call_soon(self.flush)
        elif self._head is None:
            self._transport.write(data)
        else:
            self._turn.cancel()
            # Not writelines(): before Python 3.12.9 and 3.13.2 it never asks to pause (CVE-2024-12254).
            self._transport.write(b"".join((self._head, data)))
            self._head = None

    def flush(self) -> None:
        """Send the head without waiting for more."""
        if self._turn is not None and self._head is not None:
            self._turn.cancel()
            self._transport.write(self._head)
            self._head = None

    def is_closing(self) -> bool:
        """Return whether the connection is closing."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Send what is held back and close the connection."""
        self.flush()
        self._transport.close()
