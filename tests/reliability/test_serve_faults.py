"""A server that is killed, or whose disk or database goes and comes back, stores each acknowledged write exactly once."""

import asyncio
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Final, final

import httpx
import pytest
from attrs import Factory, define, frozen

from chatmemory import Namespace
from tests.http.served import CHATMEMORY, Server, served, started
from tests.patience import PATIENCE_SECONDS
from tests.reliability.numbered import full_view
from tests.reliability.own_postgres import own_postgres
from tests.reliability.store import open_memories, open_store
from tests.reliability.turns import disagreements, true_now
from tests.thorough import IS_THOROUGH, rounds, thorough

pytestmark = pytest.mark.usefixtures("everybody")

CLIENTS: Final = 32
KILLS: Final = rounds(1, thorough=15)
LIFE_SECONDS: Final = (
    2.0 if IS_THOROUGH else 0.5
)  # of a server, until it is killed at any moment; with the thorough kills, half a minute
DISK_BYTES: Final = 12_000_000
BALLAST_BYTES: Final = 6_000_000
LONG_TEXT: Final = 3000


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of ``DISK_BYTES``."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder)
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        why_not = mounted.stderr.strip() if mounted.returncode else ""
    except FileNotFoundError as error:
        why_not = str(error)
    if why_not:
        pytest.skip(f"no small file system can be made here: {why_not}")
    yield folder
    subprocess.run(("umount", folder), check=True)


async def test_writes_that_are_repeated_across_kills_are_stored_exactly_once(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    clients = WritingClients(CLIENTS)
    async with asyncio.TaskGroup() as group:
        for life in range(KILLS):
            with served(store, "--quiet") as server:
                clients.find(server)
                if life == 0:
                    group.create_task(clients.write())
                await clients.have_written.wait()
                await asyncio.sleep(LIFE_SECONDS)
                clients.lose()
                server.process.kill()
                server.process.wait()
        with served(store, "--quiet") as server:
            clients.find(server)
            await clients.end()
            await clients.check_keys()
    await clients.check_store(str(store))
    assert clients.refusals[""] >= KILLS  # each kill came in the middle of something


@pytest.mark.parametrize(
    "is_log_kept",
    [pytest.param(False, id="the file grows", marks=thorough), pytest.param(True, id="the log grows")],
)
async def test_a_disk_that_was_full_takes_writes_again(small_disk: Path, is_log_kept: bool) -> None:
    store, ballast = small_disk / "memory.db", small_disk / "ballast"
    ballast.write_bytes(b"x" * BALLAST_BYTES)
    clients = WritingClients(CLIENTS, length=LONG_TEXT)
    with served(store, "--quiet") as server, closing(sqlite3.connect(store)) as reader:
        if is_log_kept:  # by somebody who reads for long
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM chat_message").fetchone()
        clients.url = server.url
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as http:
            async with asyncio.TaskGroup() as group:
                group.create_task(clients.write())
                await clients.are_refused.wait()
                assert clients.refusals
                assert all(": full (" in told for told in clients.refusals)
                read = [
                    await http.get("/readiness"),
                    await http.get("/conversations/c0/messages"),
                    await http.get("/memories"),
                    await http.post("/memories/recall", json={"query": "满"}),
                ]
                assert [answer.status_code for answer in read] == [200, 200, 200, 200]
                before = clients.count
                ballast.unlink()
                clients.find(server)
                await clients.end()
            assert clients.count >= before + CLIENTS
        await clients.check_keys()
        reader.close()
        server.process.kill()
        server.process.wait()
    await clients.check_store(str(store))


async def test_a_database_that_is_started_again_takes_writes_again(tmp_path: Path) -> None:
    with own_postgres() as database:
        dsn = database.get_uri()
        settings = tmp_path / "chatmemory.toml"
        settings.write_text(f'[memory.store]\nbackend = "postgres"\n[memory.store.postgres]\ndsn = "{dsn}"\n')
        serve = (CHATMEMORY, "serve", "--port", "0", "--quiet")
        command = (*serve, "--config", settings, "--past-chats", tmp_path / "past-chats.db")
        clients = WritingClients(CLIENTS)
        with started(*command) as server:
            clients.url = server.url
            async with asyncio.TaskGroup() as group:
                group.create_task(clients.write())
                await clients.have_written.wait()
                database.stop()
                await clients.are_refused.wait()
                database.ensure_postgres_running()
                clients.find(server)
                await clients.end()
            await clients.check_keys()
            server.terminated()
        await clients.check_store(dsn)


CONVERSATIONS: Final = 4
TEXTS: Final = 2  # of one write
IMPATIENT: Final = 2  # how often a client sends each third write at once, as if it had lost patience
CREATED, UNAVAILABLE = 201, 503


@final
@frozen
class Write:
    client: int
    number: int

    @property
    def key(self) -> str:
        return f"{self.client}-{self.number}"

    @property
    def is_of_messages(self) -> bool:
        return self.number % 2 == 0

    @property
    def path(self) -> str:
        to = f"/conversations/{conversation_of(self.client)}/messages"
        return to if self.is_of_messages else "/memories"

    def texts(self, length: int) -> list[str]:
        return [f"{self.key}/{part} 第 {self.number} 句 ".ljust(length, "满") for part in range(TEXTS)]

    def body(self, length: int) -> dict[str, Any]:
        if self.is_of_messages:
            return {"messages": [{"role": "user", "content": text} for text in self.texts(length)]}
        return {"memories": [{"content": text} for text in self.texts(length)], "dedup": "none"}


@final
@define(eq=False)
class WritingClients:
    """So many clients of one server, wherever it listens at the time."""

    clients: int
    url: str = ""
    length: int = 0  # characters of each text, at least
    going: asyncio.Event = Factory(asyncio.Event)  # who was not served waits for it
    have_written: asyncio.Event = Factory(asyncio.Event)  # as much is acknowledged as there are clients
    are_refused: asyncio.Event = Factory(asyncio.Event)  # nobody is served
    is_over: asyncio.Event = Factory(asyncio.Event)  # everything that was begun is acknowledged
    is_enough: bool = False
    waiting: int = 0
    acknowledged: list[list[Write]] = Factory(lambda self: [[] for _ in range(self.clients)], takes_self=True)
    refusals: Counter[str] = Factory(Counter)  # "": a connection that broke

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged))

    def done(self, clients: range) -> list[Write]:
        return [write for client in clients for write in self.acknowledged[client]]

    def find(self, server: Server) -> None:
        self.url = server.url
        self.going.set()

    def lose(self) -> None:
        self.going.clear()

    async def write(self) -> None:
        """Write from all clients until it is enough; whatever was begun is acknowledged then."""
        limits = httpx.Limits(max_connections=None)
        async with (
            httpx.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits) as http,
            asyncio.TaskGroup() as group,
        ):
            for client in range(self.clients):
                group.create_task(self._write_on(http, client))
        self.is_over.set()

    async def end(self) -> None:
        self.is_enough = True
        await self.is_over.wait()

    async def asked(self, http: httpx.AsyncClient, write: Write, body: dict[str, Any]) -> httpx.Response:
        return await http.post(self.url + write.path[1:], json=body, headers={"Idempotency-Key": write.key})

    async def check_keys(self) -> None:
        """Assert that the server knows the last key of each client: for the same body alone, and nothing is done twice."""
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            for write in (write for done in self.acknowledged for write in done[-2:]):
                again = await self.asked(http, write, write.body(self.length))
                assert again.status_code == CREATED, again.text
                report = again.json()
                if write.is_of_messages:
                    assert (len(report["stored"]), report["duplicates"]) == (TEXTS, [])
                else:
                    assert [one["outcome"] for one in report["outcomes"]] == ["stored"] * TEXTS
                other = await self.asked(http, write, write.body(self.length + 100))
                assert other.json()["tag"] == "IdempotencyKeyReusedError", other.text

    async def check_store(self, address: str) -> None:
        """Assert that the store holds each acknowledged write exactly once, whole and in order, and nothing else."""
        async with open_store(address) as memory:
            for number in range(CONVERSATIONS):
                conversation_id = conversation_of(number)
                stored = [message.content for message in await full_view(memory, conversation_id)]
                its_clients = range(number, self.clients, CONVERSATIONS)
                said = [write.texts(self.length) for write in self.done(its_clients) if write.is_of_messages]
                places = {text: place for place, text in enumerate(stored)}
                assert Counter(stored) == Counter(text for batch in said for text in batch)
                for first, last in said:
                    assert places[last] == places[first] + 1
        async with open_memories(address) as memories:
            kept = await true_now(memories, Namespace("default"))
        remembered = [write for write in self.done(range(self.clients)) if not write.is_of_messages]
        expected = Counter(text for write in remembered for text in write.texts(self.length))
        assert Counter(one.content for one in kept.values()) == expected
        assert await disagreements(address) == []

    async def _write_on(self, http: httpx.AsyncClient, client: int) -> None:
        for number in count():
            if self.is_enough:
                return
            write = Write(client, number)
            while not await self._is_served(http, write):
                self.waiting += 1
                if self.waiting == self.clients:
                    self.are_refused.set()
                await self.going.wait()
                self.waiting -= 1
            self.acknowledged[client].append(write)
            if self.count >= self.clients:
                self.have_written.set()

    async def _is_served(self, http: httpx.AsyncClient, write: Write) -> bool:
        at_once = 1 if write.number % 3 else IMPATIENT
        return all(await asyncio.gather(*(self._is_acknowledged(http, write) for _ in range(at_once))))

    async def _is_acknowledged(self, http: httpx.AsyncClient, write: Write) -> bool:
        try:
            answer = await self.asked(http, write, write.body(self.length))
        except httpx.TransportError:
            self.refusals[""] += 1
            return False
        if answer.status_code == CREATED:
            return True
        problem = answer.json()
        assert answer.status_code == UNAVAILABLE, problem
        assert problem["retryIsSafe"], problem
        self.refusals[problem["detail"]] += 1
        return False


def conversation_of(client: int) -> str:
    return f"c{client % CONVERSATIONS}"
