"""A client takes so much of the server and no more: slow ones, many of them, and those who vanish leave it to the others."""

import resource
import socket
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from signal import SIGTERM
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import Effect, Layer
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.settings.server_settings import ServerSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http.served import HOST, POST, Answer, Client, Server, eventually, guarded_server
from tests.http_api import api
from tests.patience import PATIENCE_SECONDS

GET = "GET / HTTP/1.1"
BEGUN = (b"", b"GET / HTTP/1.1", "\r\n".join([*POST, "Content-Length: 9", "", ""]).encode())
"""What a slow client has sent."""
SLOW_CLIENTS = 1_000
DROPPED = 50


def dripped(client: Client, pieces: Iterable[bytes]) -> None:
    """Send *pieces*, one each 50 ms, until the server does not take them."""
    stopped = threading.Event()

    def drip() -> None:
        try:
            for piece in pieces:
                client.socket.sendall(piece)
                if stopped.wait(0.05):
                    return
        except OSError:
            return

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert client.answer().problem == "408 RequestTimeoutError"
        assert client.is_closed()
    finally:
        stopped.set()
        thread.join()


def test_a_head_that_is_not_complete_in_time_is_not_waited_for(tmp_path: Path) -> None:
    with guarded_server(tmp_path, head_seconds=0.3) as server:
        with server.connected() as silent:
            assert silent.answer().problem == "408 RequestTimeoutError"
        with server.connected() as slow:
            dripped(slow, [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", *[b"x"] * 1_000])
        with server.connected() as empty_lines:
            dripped(empty_lines, [b"\r\n"] * 1_000)


def test_the_next_head_has_no_more_time_than_the_first(tmp_path: Path) -> None:
    with guarded_server(tmp_path, head_seconds=1) as server, server.connected() as client:
        client.send(GET, HOST)
        assert client.answer().status == 200
        dripped(client, [b"GET / HTTP/1.1\r\nX: ", *[b"x"] * 1_000])


def test_a_body_that_drips_or_is_shorter_than_announced_is_not_waited_for(tmp_path: Path) -> None:
    with guarded_server(tmp_path, body_seconds=0.3) as server, server.connected() as client:
        client.send(*POST, "Content-Length: 1000")
        dripped(client, [b"x"] * 1_000)
        answer = server.asked(*POST, "Content-Length: 99", body='{"text": "你好"}'.encode())
        assert answer.problem == "408 RequestTimeoutError"


@pytest.fixture
def many_files() -> Generator[None]:
    """Let the tests open a socket for each of many clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * SLOW_CLIENTS)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_thousand_slow_clients_do_not_stop_a_fast_one(tmp_path: Path) -> None:
    lazy = guarded_server(tmp_path, head_seconds=60, body_seconds=60, open_files=256)
    with lazy as server, ExitStack() as stack:
        slow = [stack.enter_context(server.connected()) for _ in range(SLOW_CLIENTS)]
        for number, client in enumerate(slow):
            client.socket.sendall(BEGUN[number % len(BEGUN)])
        for _ in range(20):
            assert server.post("/conversations/c", {"text": "快"}).status == 201
        assert all(map(is_open, slow))


def is_open(client: Client) -> bool:
    client.socket.setblocking(False)
    try:
        return client.socket.recv(1) != b""
    except BlockingIOError:
        return True


def test_the_connection_that_is_idle_for_longest_gives_way_to_a_new_one(tmp_path: Path) -> None:
    with guarded_server(tmp_path, connections=3) as server, ExitStack() as stack:
        busy, first, second = (stack.enter_context(server.connected()) for _ in range(3))
        busy.send("GET /waiting HTTP/1.1", HOST)
        for client in (first, second, first):  # it is the second now that waits for longest
            client.send(GET, HOST)
            assert client.answer().status == 200
        assert server.asked("GET /go HTTP/1.1", HOST).status == 200
        assert second.is_closed()
        assert busy.answer().status == 200
        first.send(GET, HOST)
        assert first.answer().status == 200


@for_each("size", [50_000, 5_000_000])
def test_an_answer_that_nobody_takes_is_not_kept_for_ever(tmp_path: Path, size: int) -> None:
    with (
        guarded_server(tmp_path, answer_seconds=0.3, send_bytes=4096, places=1) as server,
        server.connected(receive_bytes=4096) as client,
    ):
        client.send(f"GET /long?bytes={size} HTTP/1.1", HOST)
        assert client.incoming.readline().startswith(b"HTTP/1.1 200")
        assert server.asked("GET /slow HTTP/1.1", HOST).status == 200  # which takes 1 s
        assert len(client.incoming.read()) < size


def test_more_requests_at_once_than_there_are_places_are_told_to_come_again(tmp_path: Path) -> None:
    with guarded_server(tmp_path, places=2) as server, ExitStack() as stack:
        running = [stack.enter_context(server.connected()) for _ in range(2)]
        for client in running:
            client.send("GET /waiting HTTP/1.1", HOST)
        refused = eventually(lambda: asked_for_nothing(server), 503)
        assert refused.problem == "503 OverloadedError"
        assert refused.headers["retry-after"] == "1"
        assert server.asked("GET /go HTTP/1.1", HOST).status == 200
        assert [client.answer().status for client in running] == [200, 200]
        assert server.asked("GET /waiting HTTP/1.1", HOST).status == 200


def asked_for_nothing(server: Server) -> Answer:
    return server.asked(*POST, "Content-Length: 2", body=b"{}")


END = b"\n\r\n0\r\n\r\n"
"""Of a stream that has ended before anything more was said."""


def test_streams_have_places_of_their_own_which_nobody_holds_against_the_others(tmp_path: Path) -> None:
    with guarded_server(tmp_path, places=3) as server, ExitStack() as streams:

        def stream(name: str) -> Client:
            client = streams.enter_context(server.connected())
            client.send("GET /stream HTTP/1.1", HOST, f"Authorization: {name}")
            while b"begun" not in client.incoming.readline():
                pass
            return client

        other, first, second, third = map(stream, ("other", "greedy", "greedy", "greedy"))
        newest = stream("newest")
        for ended in (first, second):
            assert ended.incoming.read(len(END)) == END
            ended.send(GET, HOST)
            assert ended.answer().status == 200
        assert server.post("/conversations/c", {"text": "你好"}).status == 201
        server.process.send_signal(SIGTERM)
        for client in (other, third, newest):
            assert b"data: closing" in client.incoming.read()


def test_bodies_that_arrive_at_once_have_so_much_room_together(tmp_path: Path) -> None:
    with guarded_server(tmp_path, room_bytes=1_000) as server, server.connected() as slow:
        slow.send(*POST, "Content-Length: 901", body=b"x" * 900)
        other = (*POST, "Content-Length: 200")
        refused = eventually(lambda: server.asked(*other, body=b"x" * 200), 503)
        assert refused.problem == "503 OverloadedError"
        assert asked_for_nothing(server).status == 422
        slow.socket.sendall(b"x")
        assert slow.answer().status == 422
        assert server.asked(*other, body=b"x" * 200).status == 422


def test_clients_that_vanish_leave_nothing_locked(tmp_path: Path) -> None:
    whole = "\r\n".join([*POST, "Content-Length: 15", "", '{"text": "走了"}']).encode()
    with guarded_server(tmp_path, places=2) as server:
        for number in range(DROPPED):
            with server.connected() as client:
                # Reset, not closed.
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.socket.sendall(whole[: len(whole) * (number + 1) // DROPPED])
        # 503: the last of them are still being answered.
        eventually(lambda: server.post("/conversations/c", {"text": "还在"}), 201)


def test_half_a_body_is_no_body_even_if_it_is_json(tmp_path: Path) -> None:
    with guarded_server(tmp_path) as server:
        with server.connected() as client:
            client.send(*POST, "Content-Length: 99", body='{"text": "半句"}'.encode())
        until = time.monotonic() + PATIENCE_SECONDS
        while "(no answer)" not in server.logged():
            assert time.monotonic() < until, server.logged()
        assert server.post("/conversations/c", {"text": "整句"}).json == {"version": 1}


def test_the_log_names_routes_and_no_ids_and_a_mistake_of_the_server_is_told_to_nobody(
    tmp_path: Path,
) -> None:
    with guarded_server(tmp_path) as server:
        assert server.post("/conversations/secret-id?secret=1", {"text": "秘密"}).status == 201
        assert server.asked(GET, HOST).status == 200
        assert server.asked("secret").status == 400
        answer = server.asked("GET /mistake/secret-id?q=secret HTTP/1.1", HOST)
        assert answer.problem == "500 InternalError"
        with server.connected() as client:
            client.send("GET /late-mistake HTTP/1.1", HOST)
            assert b"half of the" in client.incoming.read()
        _, log = server.terminated()
    first, second, third = log.splitlines()[:3]
    assert first.startswith("POST /conversations/{conversation} 201 ")
    assert first.endswith(" ms 13 bytes")
    assert second.startswith("GET / 200 ")
    assert third == "(no request) 400"
    assert "RuntimeError at " in log
    assert "GET /mistake/{secret} 500 " in log
    assert "secret " not in answer.body.decode() + log
    assert "secret-id" not in log
    assert "Traceback" not in log


async def test_an_endpoint_that_hangs_holds_up_nobody_who_does_not_ask_it() -> None:
    asked = list[object]()

    def extract_for_ever(content: object, **_: object) -> Effect[Any, Any]:
        asked.append(content)
        return Effect.never()

    stack = stacks.testing().replace(Layer.mock(LongTermMemoryService, extract=extract_for_ever))
    async with api(stack, ServerSettings(max_requests=2)) as client, anyio.create_task_group() as waiting:
        extract = partial(client.post, "/memory/extract", json={"content": "我喜欢茶"})
        for _ in range(2):
            waiting.start_soon(extract)
        with anyio.fail_after(PATIENCE_SECONDS):
            while len(asked) < 2:
                await anyio.lowlevel.checkpoint()
            assert (await extract()).status_code == 503
        assert (await client.get("/conversations")).status_code == 200
        assert (await client.get("/health")).status_code == 200
        waiting.cancel_scope.cancel()
