"""The HTTP API for tests: in this process without a socket, or as the command ``chatmemory serve`` in one of its own.

async with api(stacks.testing()) as client:
    answer = await client.get("/memories")

with served(tmp_path / "a.db") as server:
    ...  # server.url, server.process
"""

import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, final

import anyio
import httpx
from attrs import frozen

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.programs.http.app import application
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.server_settings import ServerSettings
from chatmemory.settings import MemorySettings, PastChatsSettings, Settings, StoreSettings
from chatmemory_layers.served_past_chats import served_past_chats
from chatmemory_layers.server_facts import server_facts

HERE = "http://127.0.0.1:8642"
IN_MEMORY = StoreSettings(backend="in_memory")
NO_INDEX = Path("/nowhere/past-chats.db")


@asynccontextmanager
async def api(
    stack: Layer[Any, Any],
    settings: ServerSettings | None = None,
    *,
    token: str = "",
    past_chats: Path = NO_INDEX,
) -> AsyncGenerator[httpx.AsyncClient]:
    """Give a client of the application over *stack* and the index *past_chats*, which sends *token* with every request."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    closing = anyio.Event()
    index = PastChatsSettings(path=str(past_chats))
    known = Settings(
        memory=MemorySettings(store=IN_MEMORY, past_chats=index), server=settings or ServerSettings()
    )
    facts = Layer.succeed(ServerFactsTag, server_facts(known))
    async with ManagedRuntime(stack | served_past_chats(index) | facts) as runtime:
        app = application(runtime, known.server, closing=closing)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=headers) as client:
            yield client
        closing.set()


@final
@frozen
class Served:
    """A running server."""

    url: str
    process: "subprocess.Popen[str]"

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])


@contextmanager
def served(store: Path, *options: str, environment: Mapping[str, str] | None = None) -> Generator[Served]:
    """Run ``chatmemory serve`` over the file *store* at a free port, until the end."""
    command = [sys.executable, "-m", "chatmemory_layers.server_main", "serve", "--quiet", "--port", "0"]
    command += ["--store", str(store), "--past-chats", str(store.with_name("past-chats.db")), *options]
    with listening(command, environment=environment) as server:
        yield server


@contextmanager
def listening(
    command: Sequence[str], *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Generator[Served]:
    """Run *command*, which serves, until the end."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=cwd, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("chatmemory is at http://"), first
            yield Served(first.split()[3], process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
