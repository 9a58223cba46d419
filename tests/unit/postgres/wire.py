"""``Wire``: stands between a client and the server, and can fall silent or be cut, as networks do."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SOCKET = ".s.PGSQL.5432"


class Wire:
    """One address in front of a server.

    Attributes:
        flows: cleared, nothing is carried in either direction.
        silent_at: cease to flow once either end has said this, unheard.
        cut_behind: cut every connection once a client has sent this and the server has answered, unheard.
    """

    def __init__(self, dsn: str, folder: str) -> None:
        parts = urlsplit(dsn)
        self._server = str(Path(parse_qs(parts.query)["host"][0]) / SOCKET)
        self.dsn = f"postgresql://postgres:@{parts.path}?host={folder}"
        self.flows = asyncio.Event()
        self.flows.set()
        self.silent_at: bytes | None = None
        self.cut_behind: bytes | None = None
        self._is_cutting = False
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(self._server)
        self._ends |= {writer, server_writer}
        for work in (self._requests(reader, server_writer), self._answers(server_reader, writer)):
            self._tasks.add(asyncio.create_task(work))

    async def close(self) -> None:
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        for end in self._ends:
            end.close()
        self._ends.clear()
        self._is_cutting = False

    async def _requests(self, client: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await self._heard(client):
                self._is_cutting |= self.cut_behind is not None and self.cut_behind in data
                server.write(data)
        server.close()

    async def _answers(self, server: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await self._heard(server):
                if self._is_cutting:
                    self.cut_behind = None
                    self.cut()
                else:
                    client.write(data)
        client.close()

    async def _heard(self, source: asyncio.StreamReader) -> bytes:
        data = await source.read(65536)
        if self.silent_at is not None and self.silent_at in data:
            self.flows.clear()
        await self.flows.wait()
        return data


@asynccontextmanager
async def wire_to(dsn: str) -> AsyncGenerator[Wire]:
    """Lend a wire to the server of *dsn*."""
    with tempfile.TemporaryDirectory(prefix="cm-wire-", dir="/tmp") as folder:
        wire = Wire(dsn, folder)
        server = await asyncio.start_unix_server(wire.serve, str(Path(folder) / SOCKET))
        try:
            yield wire
        finally:
            server.close()
            await wire.close()


@asynccontextmanager
async def hurried(wire: Wire | None = None) -> AsyncGenerator[None]:
    """Let the clock of the event loop run ahead, but not while *wire* flows: no limit on an answer takes real time."""
    loop = asyncio.get_running_loop()
    clock, ahead = loop.time, 0.0

    async def hurry() -> None:
        nonlocal ahead
        while True:
            await asyncio.sleep(0)
            ahead += 0.0 if wire and wire.flows.is_set() else 1.0

    # Never set back: a loop's clock is monotonic, and this loop ends with its test.
    setattr(loop, "time", lambda: clock() + ahead)  # noqa: B010  mypy takes it for a method
    hurrying = asyncio.create_task(hurry())
    try:
        yield
    finally:
        hurrying.cancel()
