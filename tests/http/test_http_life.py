"""How a server begins and ends: it opens no door that it may not, and loses nothing that it has acknowledged."""

import asyncio
import random
import signal
import socket
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from chatmemory.effect import Failure, Success
from chatmemory_layers.server.listening import open_listener, url_of
from chatmemory_layers.server.serving import CANCEL_SECONDS, DRAIN_SECONDS
from tests.for_each import for_each
from tests.http.served import Client, Server, behind_the_door, served
from tests.patience import PATIENCE_SECONDS
from tests.reliability.store import open_store

HOST = "Host: localhost"
POST = ("POST /conversations/c HTTP/1.1", HOST, "Content-Type: application/json")
WRITERS = 4


@pytest.fixture
def taken() -> Generator[int]:
    """A port at which another server listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def why_not(host: str, port: int = 0, *, needs_token: bool = False) -> str:
    match open_listener(host, port, needs_token=needs_token):
        case Failure(error):
            return str(error)
        case Success(listener):
            listener.close()
            return ""


@for_each("host", ["0.0.0.0", "::", "0", "192.0.2.7", "::ffff:0.0.0.0", "224.0.0.1"])
def test_an_address_that_others_reach_needs_a_token(host: str) -> None:
    assert why_not(host).startswith(
        "server.host: other machines reach this address, so clients need a token: set"
    )


def test_no_socket_is_opened_for_an_address_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    assert "need a token" in why_not("0.0.0.0")


def test_an_address_that_others_reach_is_served_with_a_token() -> None:
    assert why_not("0.0.0.0", needs_token=True) == ""


def test_a_name_that_leads_to_others_too_is_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 0)) for ip in ("127.0.0.1", "192.0.2.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    assert "need a token" in why_not("printer.local")


@for_each("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    listener = open_listener(host, 0, needs_token=False).unwrap()
    with listener:
        assert url_of(listener) == f"http://{_literal(listener)}:{listener.getsockname()[1]}/"
        assert listener.getsockname()[1] > 0


def _literal(listener: socket.socket) -> str:
    host = listener.getsockname()[0]
    return f"[{host}]" if ":" in host else host


def test_what_cannot_be_listened_at_is_said_in_one_line(taken: int) -> None:
    assert why_not("") == "server.host: name an address: 127.0.0.1, or 0.0.0.0 for all of them"
    assert why_not("no such name").startswith("server.host: no address 'no such name': ")
    assert why_not("a" * 64 + ".example").startswith("server.host: no address ")
    assert why_not("127.0.0.1", taken) == (
        f"server.port: {taken} of 127.0.0.1 is taken: stop the other server, or choose another port"
    )
    assert why_not("192.0.2.7", needs_token=True).startswith(
        "server.host: cannot listen at 192.0.2.7 port 0: "
    )


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_after_what_it_has_begun(tmp_path: Path, sign: signal.Signals) -> None:
    with behind_the_door(tmp_path) as server:
        with server.connected() as idle, server.connected() as begun, server.connected() as running:
            idle.send("GET / HTTP/1.1", HOST)
            assert idle.answer().status == 200
            begun.socket.sendall(b"GET / HT")
            running.send("GET /until-closing HTTP/1.1", HOST)
            assert server.asked("GET / HTTP/1.1", HOST).status == 200  # the others have arrived
            server.process.send_signal(sign)
            assert idle.is_closed()
            assert begun.is_closed()
            assert running.answer().status == 200
        assert server.process.wait(PATIENCE_SECONDS) == 0


def test_a_stream_is_told_to_end(tmp_path: Path) -> None:
    with behind_the_door(tmp_path) as server, server.connected() as stream:
        stream.send("GET /stream HTTP/1.1", HOST)
        while b"begun" not in stream.incoming.readline():
            pass
        assert server.terminated()[0] == 0
        assert b"data: closing" in stream.incoming.read()


def test_whoever_follows_a_conversation_does_not_hold_up_the_end(tmp_path: Path) -> None:
    body = '{"messages": [{"role": "user", "content": "再见"}]}'.encode()
    with served(tmp_path / "memory.db") as server, server.connected() as follower:
        lines = ("POST /conversations/c/messages HTTP/1.1", *POST[1:], f"Content-Length: {len(body)}")
        assert server.asked(*lines, body=body).status == 201
        follower.send("GET /conversations/c/events?newerThan=0 HTTP/1.1", HOST)
        while "再见".encode() not in follower.incoming.readline():
            pass
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_SECONDS) == 0


async def test_what_never_ends_is_ended_within_5_seconds_and_may_tidy_up_before_the_store_is_closed(
    tmp_path: Path,
) -> None:
    assert DRAIN_SECONDS + CANCEL_SECONDS < 5
    with (
        behind_the_door(tmp_path) as server,
        server.connected() as endless,
        server.connected() as slow,
        server.connected() as tidying,
    ):
        endless.send("GET /waiting HTTP/1.1", HOST)
        slow.send(*POST, "Content-Length: 9")
        tidying.send("GET /tidying HTTP/1.1", HOST)
        assert server.asked("GET / HTTP/1.1", HOST).status == 200
        assert server.terminated()[0] == 0
    async with open_store(str(tmp_path / "memory.db")) as memory:
        (message,) = await memory.get_messages("tidied").or_raise()
        assert message.content == "收拾好了"


def test_a_second_signal_ends_the_server_at_once(tmp_path: Path) -> None:
    with behind_the_door(tmp_path) as server, server.connected() as endless:
        endless.send("GET /waiting HTTP/1.1", HOST)
        assert server.asked("GET / HTTP/1.1", HOST).status == 200
        server.process.send_signal(signal.SIGTERM)
        with suppress(OSError):
            while True:  # until it accepts nothing more
                server.asked("GET / HTTP/1.1", HOST)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_SECONDS) == -signal.SIGTERM


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
async def test_no_acknowledged_write_is_lost(tmp_path: Path, sign: signal.Signals) -> None:
    acknowledged: list[str] = []
    enough = random.randint(1, 100)
    with behind_the_door(tmp_path) as server:
        writers = [threading.Thread(target=write, args=(server, n, acknowledged)) for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < enough:
            assert any(writer.is_alive() for writer in writers)
            await asyncio.sleep(0.001)
        server.process.send_signal(sign)
        for writer in writers:
            writer.join()
        assert server.process.wait(PATIENCE_SECONDS) == (0 if sign == signal.SIGTERM else -sign)
    async with open_store(str(tmp_path / "memory.db")) as memory:
        stored = {message.content for message in await memory.get_messages("c").or_raise()}
    assert acknowledged
    assert stored >= set(acknowledged)


def write(server: Server, writer: int, acknowledged: list[str]) -> None:
    """Add messages one after another, until the server is gone."""
    client: Client | None = None
    number = 0
    with suppress(OSError, IndexError):  # the connection ends, perhaps in the middle of an answer
        client = server.connect()
        while True:
            body = f'{{"text": "第 {number} 句，{writer}"}}'.encode()
            client.send(*POST, f"Content-Length: {len(body)}", body=body)
            if client.answer().status == 201:
                acknowledged.append(f"第 {number} 句，{writer}")
            number += 1
    if client is not None:
        client.close()
