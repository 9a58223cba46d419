"""A small application behind all guards of the server, over a real store; the first line that it prints is its address.

python -m tests.http.programs.guarded_server STORE [head_seconds=0.5] [body_seconds=0.5] [places=2] ...
"""

import asyncio
import logging
import resource
import socket
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
from attrs import frozen
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Scope

from chatmemory import ChatMemory, ChatMemoryService, Failure, ManagedRuntime, NewMessage, Success
from chatmemory.input.structure import read_json
from chatmemory.programs.http.guards.limits import AtMost, ContentGuard, FreeMemory, StreamLimit
from chatmemory.programs.http.guards.requests import guarded
from chatmemory.programs.http.problems import problem_response
from chatmemory.settings.server_settings import ServerSettings
from chatmemory_layers.server.http_connection import ConnectionLimits
from chatmemory_layers.server.listening import open_listener, url_of
from chatmemory_layers.server.serving import serve
from chatmemory_layers.stacks import embedded
from tests.patience import PATIENCE_SECONDS

SLOW_SECONDS = 1.0  # longer than the limits of time that tests set


@frozen
class Said:
    text: str


class Endpoints:
    """What is asked in the tests."""

    def __init__(self, memory: ChatMemory, closing: anyio.Event) -> None:
        self.memory = memory
        self.closing = closing
        self.go = anyio.Event()

    async def page(self, _: Request) -> Response:
        return PlainTextResponse("你好")

    async def add(self, request: Request) -> Response:
        match read_json(await request.body(), Said):
            case Failure(error):
                return problem_response(error)
            case Success(said):
                conversation_id = request.path_params["conversation"]
                match await self.memory.add_messages(conversation_id, [NewMessage("user", said.text)]):
                    case Success(report):
                        return JSONResponse({"version": report.version}, status_code=201)
                    case Failure(error):
                        return problem_response(error)

    async def waiting(self, _: Request) -> Response:
        await self.go.wait()
        return PlainTextResponse("done")

    async def let_go(self, _: Request) -> Response:
        self.go.set()
        return PlainTextResponse("went")

    async def slow(self, _: Request) -> Response:
        await anyio.sleep(SLOW_SECONDS)
        return PlainTextResponse("done")

    async def until_closing(self, _: Request) -> Response:
        await self.closing.wait()
        return PlainTextResponse("done")

    async def stream(self, _: Request) -> Response:
        async def events():
            yield "data: begun\n\n"
            await self.closing.wait()
            yield "data: closing\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    async def long(self, request: Request) -> Response:
        return PlainTextResponse("x" * int(request.query_params["bytes"]))

    async def tidying(self, _: Request) -> Response:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                await self.memory.add_messages("tidied", [NewMessage("user", "收拾好了")]).or_raise()

    async def mistake(self, _: Request) -> Response:
        raise RuntimeError("secret words")

    async def late_mistake(self, _: Request) -> Response:
        async def pieces():
            yield "half of the "
            raise RuntimeError("secret words")

        return StreamingResponse(pieces())


def limited(app: ASGIApp, body_seconds: float, room_bytes: float) -> ASGIApp:
    content = ContentGuard(app, max_bytes=1_000_000, seconds=body_seconds, memory=FreeMemory(int(room_bytes)))
    return guarded(content, ServerSettings(hosts="memory.example, fe80::7"))


def routes(endpoints: Endpoints, places: int) -> list[Route]:
    requests = anyio.Semaphore(places)
    return [
        Route("/", endpoints.page),
        Route("/conversations/{conversation}", AtMost(_app(endpoints.add), slots=requests), methods=["POST"]),
        Route("/waiting", AtMost(_app(endpoints.waiting), slots=requests)),
        Route("/go", endpoints.let_go),
        Route("/until-closing", endpoints.until_closing),
        Route("/slow", AtMost(_app(endpoints.slow), slots=requests)),
        Route("/stream", StreamLimit(_app(endpoints.stream), slots=places, client_of=_client)),
        Route("/long", AtMost(_app(endpoints.long), slots=requests)),
        Route("/tidying", endpoints.tidying),
        Route("/mistake/{secret}", endpoints.mistake),
        Route("/late-mistake", endpoints.late_mistake),
    ]


def _client(scope: Scope) -> str:
    return Headers(scope=scope).get("authorization", "")


def _app(endpoint) -> ASGIApp:
    return Route("/", endpoint, methods=["GET", "POST"]).app


async def main(store: str, *words: str) -> None:
    given = {name: float(value) for name, _, value in (word.partition("=") for word in words)}
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    if "open_files" in given:  # unless the server asks the system for more
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(given["open_files"]), most))
    limits = ConnectionLimits(
        head_seconds=given.get("head_seconds", PATIENCE_SECONDS),
        answer_seconds=given.get("answer_seconds", PATIENCE_SECONDS),
        connections=int(given.get("connections", 2_000)),
    )
    closing = anyio.Event()
    listener = open_listener("127.0.0.1", 0, needs_token=False).unwrap()
    if "send_bytes" in given:  # what the system keeps for a client that takes nothing
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(given["send_bytes"]))
    async with ManagedRuntime(embedded(Path(store))) as runtime:
        endpoints = Endpoints(await runtime.service(ChatMemoryService), closing)
        router = Router(routes(endpoints, int(given.get("places", 64))))
        app = limited(
            router, given.get("body_seconds", PATIENCE_SECONDS), given.get("room_bytes", 64_000_000)
        )
        sys.stdout.write(f"{url_of(listener)}\n")
        sys.stdout.flush()
        await serve(app, listener, closing=closing, limits=limits)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
