"""``WritingClients``: clients of a server that repeat each write, with its Idempotency-Key, until it is acknowledged.

They alternate between a batch of messages and two memories, every text another one; so what is stored tells by itself
whether a write was lost, torn or done twice.
"""

import asyncio
from collections import Counter
from itertools import count
from typing import Any, Final, final

import httpx
from attrs import Factory, define, frozen

from chatmemory import Namespace
from tests.http.served import Server
from tests.patience import PATIENCE_SECONDS
from tests.reliability.numbered import full_view
from tests.reliability.store import open_memories, open_store
from tests.reliability.turns import disagreements, true_now

CONVERSATIONS: Final = 4
TEXTS: Final = 2  # of one write
IMPATIENT: Final = 2  # how often a client sends each third write at once, as if it had lost patience
CREATED, UNAVAILABLE = 201, 503


@final
@frozen
class Write:
    """Write *number* of a client."""

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
        return (
            f"/conversations/{conversation_of(self.client)}/messages" if self.is_of_messages else "/memories"
        )

    def texts(self, length: int) -> list[str]:
        return [f"{self.key}/{part} 第 {self.number} 句 ".ljust(length, "满") for part in range(TEXTS)]

    def body(self, length: int) -> dict[str, Any]:
        if self.is_of_messages:
            return {"messages": [{"role": "user", "content": text} for text in self.texts(length)]}
        return {"memories": [{"content": text} for text in self.texts(length)], "dedup": "none"}


@final
@define(eq=False)
class WritingClients:
    """So many clients of one server, wherever it listens at the time.

    Attributes:
        url: of the server.
        going: who was not served waits for it.
        have_written: set when there is as much acknowledged as there are clients.
        are_refused: set when nobody is served.
        is_over: set when everything that was begun is acknowledged.
        length: characters of each text, at least.
        acknowledged: what each client was told to be stored, in its order.
        refusals: what they were told when they were not served; "" for a connection that broke.
    """

    clients: int
    url: str = ""
    length: int = 0
    going: asyncio.Event = Factory(asyncio.Event)
    have_written: asyncio.Event = Factory(asyncio.Event)
    are_refused: asyncio.Event = Factory(asyncio.Event)
    is_over: asyncio.Event = Factory(asyncio.Event)
    is_enough: bool = False
    waiting: int = 0
    acknowledged: list[list[Write]] = Factory(lambda self: [[] for _ in range(self.clients)], takes_self=True)
    refusals: Counter[str] = Factory(Counter)

    @property
    def count(self) -> int:
        """How many writes are acknowledged."""
        return sum(map(len, self.acknowledged))

    def find(self, server: Server) -> None:
        """Go on with *server*."""
        self.url = server.url
        self.going.set()

    def lose(self) -> None:
        """Let those who are not served wait for ``find``."""
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
        """Let the clients finish what they have begun."""
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
                    assert (report["stored"], len(report["duplicates"])) == ([], TEXTS)
                else:
                    assert [one["outcome"] for one in report["outcomes"]] == ["duplicate"] * TEXTS
                other = await self.asked(http, write, write.body(self.length + 100))
                assert other.json()["tag"] == "IdempotencyKeyReusedError", other.text

    async def check_store(self, address: str) -> None:
        """Assert that the store holds each acknowledged write exactly once, whole and in order, and nothing else."""
        async with open_store(address) as memory:
            for number in range(CONVERSATIONS):
                conversation_id = conversation_of(number)
                stored = [message.content for message in await full_view(memory, conversation_id)]
                said = [
                    write.texts(self.length)
                    for done in self.acknowledged[number::CONVERSATIONS]
                    for write in done
                    if write.is_of_messages
                ]
                places = {text: place for place, text in enumerate(stored)}
                assert Counter(stored) == Counter(text for batch in said for text in batch)
                for first, last in said:
                    assert places[last] == places[first] + 1
        async with open_memories(address) as memories:
            kept = await true_now(memories, Namespace("default"))
        assert Counter(one.content for one in kept.values()) == Counter(
            text
            for done in self.acknowledged
            for write in done
            if not write.is_of_messages
            for text in write.texts(self.length)
        )
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
