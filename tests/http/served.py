"""A real server in a process of its own, and raw connections to it: what no client library would send.

with guarded_server(folder) as server, server.connected() as client:
    client.send("GET / HTTP/1.1", "Host: localhost")
    assert client.answer().status == 200
"""

import json
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final, final
from urllib.parse import urlsplit

from attrs import define, frozen

from tests.forked import Forked
from tests.patience import PATIENCE_SECONDS

CHATMEMORY: Final = Path(sys.executable).with_name("chatmemory")
"""The command."""
FOR_ALL_TESTS: Final = 3600.0
HOST: Final = "Host: localhost"
JSON: Final = "Content-Type: application/json"
POST: Final = ("POST /conversations/c HTTP/1.1", HOST, JSON)
"""Adds a message to ``guarded_server``; the length of the body is missing."""


@final
@frozen
class Answer:
    """What the server sent; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The tag of a problem document."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return f"{self.status} {self.json['tag']}"


@final
class Client:
    """One connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.incoming = connection.makefile("rb")

    def send(self, *lines: str, body: bytes = b"") -> None:
        """Send a head of *lines* and *body*, as far as the server takes it; a Content-Length is yours to give."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def answer(self, *, has_body: bool = True) -> Answer:
        """Read the next answer, whole.

        Raises:
            ConnectionResetError: the server has closed the connection without one.
        """
        first = self.incoming.readline()
        if not first:
            raise ConnectionResetError
        status = int(first.split()[1])
        headers: dict[str, str] = {}
        while line := self.incoming.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = self.incoming.read(int(headers.get("content-length", "0"))) if has_body else b""
        return Answer(status, headers, body)

    def is_closed(self) -> bool:
        """Wait for the end of the connection, and tell whether it came without a word."""
        try:
            return self.incoming.read() == b""
        except ConnectionResetError:
            return True


@final
@define
class Server:
    """The process, and where it listens."""

    process: Forked
    url: str
    log: Path
    greeting: str

    @contextmanager
    def connected(self, *, receive_bytes: int | None = None) -> Generator[Client]:
        """Connect; the system takes no more than *receive_bytes* that the client does not read."""
        at = urlsplit(self.url)
        with socket.socket() as connection:
            connection.settimeout(PATIENCE_SECONDS)
            if receive_bytes is not None:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            connection.connect((at.hostname, at.port))
            client = Client(connection)
            with client.incoming:
                yield client

    def asked(self, *lines: str, body: bytes = b"") -> Answer:
        """Send one request on a connection of its own, and return the answer."""
        with self.connected() as client:
            client.send(*lines, body=body)
            return client.answer()

    def post(self, path: str, value: object) -> Answer:
        body = json.dumps(value).encode()
        return self.asked(f"POST {path} HTTP/1.1", HOST, JSON, f"Content-Length: {len(body)}", body=body)

    def terminated(self) -> tuple[int, str]:
        """End it as an operator does; return its exit code and what it logged."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS), self.logged()

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8")


def eventually(ask: Callable[[], Answer], status: int) -> Answer:
    """Ask again and again until the answer has *status*."""
    until = time.monotonic() + PATIENCE_SECONDS
    while (answer := ask()).status != status:
        assert time.monotonic() < until, answer
    return answer


@contextmanager
def started(
    *command: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Generator[Server]:
    """Run *command*, whose first line names its address; it is killed at the end if it still runs."""
    with (
        NamedTemporaryFile("w", encoding="utf-8") as file,  # a full pipe would stop the server
        Forked(
            *command,
            cwd=cwd,
            environment=environment,
            errors_to=Path(file.name),
            longest_seconds=FOR_ALL_TESTS,
        ) as process,
    ):
        greeting = process.stdout.readline()
        address = re.search(r"http://\S+", greeting)
        server = Server(process, address.group() if address else "", Path(file.name), greeting)
        assert address, server.logged()
        yield server


@contextmanager
def served(
    store: Path,
    *options: str | Path,
    environment: Mapping[str, str] | None = None,
    program: Sequence[str | Path] = (CHATMEMORY,),
) -> Generator[Server]:
    """Run ``chatmemory serve`` over the file *store* at a free port, and end it as an operator does.

    Another *program* may prepare something and then be the command.
    """
    command = ("serve", "--port", "0", "--store", store, "--past-chats", store.with_name("past-chats.db"))
    with started(*program, *command, *options, environment=environment) as server:
        assert f"(store: sqlite, {store}; Ctrl-C ends it)" in server.greeting
        yield server
        server.terminated()


def guarded_server(folder: Path, **limits: float) -> AbstractContextManager[Server]:
    """Serve the small application of ``programs/guarded_server.py`` over a store in *folder*."""
    words = [f"{name}={value}" for name, value in limits.items()]
    program = (sys.executable, "-m", "tests.http.programs.guarded_server", folder / "memory.db")
    return started(*program, *words)
