"""A real HTTP server on this machine that answers as a test tells it to, well or badly.

    async with http_server(Reply.completion("a summary"), Reply(status=503)) as server:
        ...  # server.url is the base URL; server.requests holds what came in

The replies are given in turn, the last one again and again; one may be a function of the request.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, final

from attrs import Factory, define, frozen

Misbehaviour = Literal["", "hang", "drip", "hang_up", "truncate"]


@final
@frozen
class Reply:
    """What the server answers.

    Attributes:
        misbehaviour: ``hang``: say nothing.  ``drip``: a byte now and then, without end.  ``hang_up``: close the
            connection instead.  ``truncate``: close it in the middle of the body.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = Factory(dict)
    misbehaviour: Misbehaviour = ""

    @staticmethod
    def json(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> "Reply":
        """Answer with *value*; lone surrogates in it are escaped."""
        return Reply(
            json.dumps(value).encode(), status, {"content-type": "application/json", **(headers or {})}
        )

    @staticmethod
    def completion(content: object, *, finish_reason: str = "stop", **message: object) -> "Reply":
        """Answer as a chat completion does."""
        said = {"role": "assistant", "content": content, **message}
        return Reply.json(
            {
                "object": "chat.completion",
                "choices": [{"index": 0, "message": said, "finish_reason": finish_reason}],
            }
        )


@final
@frozen
class Request:
    """What came in; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Reply | Callable[[Request], Reply]


@final
@define
class HttpServer:
    """The server while it runs."""

    port: int
    replies: tuple[Answer, ...]
    requests: list[Request] = Factory(list)
    connections: int = 0
    left_alone: asyncio.Event = Factory(asyncio.Event)
    asked: asyncio.Event = Factory(asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    request = await _read_request(reader)
                    self.requests.append(request)
                    self.asked.set()
                    answer = self.replies[min(len(self.requests), len(self.replies)) - 1]
                    reply = answer if isinstance(answer, Reply) else answer(request)
                    if not await _send(reply, reader, writer):
                        return
        finally:
            self.connections -= 1
            if not self.connections:
                self.left_alone.set()
            writer.close()


@asynccontextmanager
async def http_server(*replies: Answer) -> AsyncGenerator[HttpServer]:
    """Serve *replies* on a free port; every connection is closed at the end."""
    serving: set[asyncio.Task[None]] = set()
    state = HttpServer(0, replies)

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(state.serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
        tasks = list(serving)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


async def _send(reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Send *reply* and tell whether the connection may serve another request."""
    if reply.misbehaviour == "hang":
        await reader.read()  # until the other side gives up
        return False
    if reply.misbehaviour == "hang_up":
        return False
    length = len(reply.body) + 1_000_000 * (reply.misbehaviour in {"drip", "truncate"})
    headers = {**reply.headers, "content-length": str(length)}
    lines = [f"HTTP/1.1 {reply.status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body)
    await writer.drain()
    while reply.misbehaviour == "drip":
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)  # between two drips
    return reply.misbehaviour != "truncate"
