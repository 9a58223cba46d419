"""How a server begins and ends: it listens where it may, and finishes the requests that it has begun."""

import signal
import socket
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from chatmemory.effect import Failure, Success
from chatmemory_layers.server.listening import open_listener, url_of
from chatmemory_layers.server.serving import CANCEL_SECONDS, DRAIN_SECONDS
from tests.for_each import for_each
from tests.http.served import CHATMEMORY, HOST, POST, guarded_server, served
from tests.patience import PATIENCE_SECONDS
from tests.reliability.store import open_store


def why_not(host: str, port: int = 0, *, needs_token: bool = False) -> str:
    match open_listener(host, port, needs_token=needs_token):
        case Failure(error):
            return str(error)
        case Success(listener):
            listener.close()
            return ""


def test_an_address_that_others_reach_needs_a_token_or_no_socket_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert why_not("0.0.0.0", needs_token=True) == ""
    monkeypatch.setattr(socket, "socket", None)
    for host in ("0.0.0.0", "::", "0", "192.0.2.7", "::ffff:0.0.0.0", "224.0.0.1"):
        told = why_not(host)
        assert told.startswith(
            "server.host: other machines reach this address, so clients need a token: set"
        ), host
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 0)) for ip in ("127.0.0.1", "192.0.2.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    assert "need a token" in why_not("printer.local")  # a name that leads to others too


@for_each("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    with open_listener(host, 0, needs_token=False).unwrap() as listener:
        address, port, *_ = listener.getsockname()
        assert url_of(listener) == f"http://{f'[{address}]' if ':' in address else address}:{port}/"
        assert port > 0


def test_what_cannot_be_listened_at_is_said_in_one_line() -> None:
    assert why_not("") == "server.host: name an address: 127.0.0.1, or 0.0.0.0 for all of them"
    assert why_not("no such name").startswith("server.host: no address 'no such name': ")
    assert why_not("a" * 64 + ".example").startswith("server.host: no address ")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert why_not("127.0.0.1", port) == (
            f"server.port: {port} of 127.0.0.1 is taken: stop the other server, or choose another port"
        )
    told = why_not("192.0.2.7", needs_token=True)
    assert told.startswith("server.host: cannot listen at 192.0.2.7 port 0: ")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_after_what_it_has_begun(tmp_path: Path, sign: signal.Signals) -> None:
    with guarded_server(tmp_path) as server:
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


async def test_what_never_ends_is_ended_within_5_seconds_and_may_tidy_up_before_the_store_is_closed(
    tmp_path: Path,
) -> None:
    assert DRAIN_SECONDS + CANCEL_SECONDS < 5
    with (
        guarded_server(tmp_path) as server,
        server.connected() as endless,
        server.connected() as slow,
        server.connected() as tidying,
    ):
        endless.send("GET /waiting HTTP/1.1", HOST)
        slow.send(*POST, "Content-Length: 9")
        tidying.send("GET /tidying HTTP/1.1", HOST)
        assert server.asked("GET / HTTP/1.1", HOST).status == 200
        code, told = server.terminated()
        assert (code, "Traceback" in told) == (0, False), told
        assert b"see whether" in slow.answer().body
    async with open_store(str(tmp_path / "memory.db")) as memory:
        (message,) = await memory.get_messages("tidied").or_raise()
        assert message.content == "收拾好了"


def test_a_second_signal_ends_the_server_at_once(tmp_path: Path) -> None:
    with guarded_server(tmp_path) as server, server.connected() as endless:
        endless.send("GET /waiting HTTP/1.1", HOST)
        assert server.asked("GET / HTTP/1.1", HOST).status == 200
        server.process.send_signal(signal.SIGTERM)
        with suppress(OSError):
            while True:  # until it accepts nothing more
                server.asked("GET / HTTP/1.1", HOST)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_SECONDS) == -signal.SIGTERM


# --- The command ---


def test_an_index_that_was_named_and_is_not_there_is_missed_aloud(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.db"
    with served(tmp_path / "agent.db", "--past-chats", missing) as server:
        assert f"there is no {missing} yet" in server.logged()
        assert "<!doctype html>" in httpx.get(server.url).text.lower()


def test_ctrl_c_is_quiet_while_the_server_waits_for_its_store(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with closing(sqlite3.connect(tmp_path / "agent.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        command = [CHATMEMORY, "serve", "--store", tmp_path / "agent.db", "--port", str(port)]
        # A process that is started where Ctrl-C is not heard would not hear it either.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        signal.signal(signal.SIGINT, before)
        with process:
            while not (_is_listening(port) and _has_open(process, tmp_path / "agent.db")):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE_SECONDS) == (b"", b"")
            assert process.returncode == 130


def _has_open(process: subprocess.Popen[bytes], path: Path) -> bool:
    """Tell whether the process has opened the file, as far as the system tells; then it has loaded everything, too.

    An import can swallow Ctrl-C: Python ignores what is raised while it drops a weak reference to a module's lock.
    """
    files = Path(f"/proc/{process.pid}/fd")
    if not files.exists():
        return True
    for file in files.iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if file.resolve() == path.resolve():
                return True
    return False


def _is_listening(port: int) -> bool:
    with closing(socket.socket()) as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
