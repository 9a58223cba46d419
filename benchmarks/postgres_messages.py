"""Who appends and reads messages on PostgreSQL in ``postgres.py``: ours, statements by hand, and what people pick instead."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import Any, ClassVar
from uuid import uuid4

import asyncpg  # noqa: TID251  raw, beside ours

from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers.stacks import postgres

POOL = 10
GROUPS_AT_ONCE = 2
MOST_IN_A_GROUP = 256
TEXT = "She is allergic to peanuts and would rather meet at the old place. 她对花生过敏，我们在老地方见。"

CREATE = """
CREATE TABLE conversation (
    id text PRIMARY KEY, version bigint NOT NULL, next_seq bigint NOT NULL, tokens bigint NOT NULL, updated_us bigint NOT NULL
);
CREATE TABLE message (
    conversation_id text NOT NULL, seq bigint NOT NULL, id text NOT NULL, role text NOT NULL, content text NOT NULL,
    sent_us bigint NOT NULL, metadata text, tokens bigint NOT NULL, PRIMARY KEY (conversation_id, seq)
);
CREATE INDEX message_id ON message (conversation_id, hashtextextended(id, 0));
CREATE TABLE event (
    conversation_id text NOT NULL, number bigint NOT NULL, stored_us bigint NOT NULL, action text NOT NULL,
    PRIMARY KEY (conversation_id, number)
)
"""
INSERT = "INSERT INTO message VALUES ($1, $2, $3, 'user', $4, $5, NULL, 20)"
# The order, the state and the event of ours, in one statement: the row of the conversation gives the number.
STORE = """
WITH state AS (
    INSERT INTO conversation VALUES ($1, 1, 2, 20, $4)
    ON CONFLICT (id) DO UPDATE SET version = conversation.version + 1, next_seq = conversation.next_seq + 1,
        tokens = conversation.tokens + 20, updated_us = $4
    RETURNING version, next_seq - 1 AS seq
), event AS (INSERT INTO event SELECT $1, version, $4, 'added' FROM state)
INSERT INTO message SELECT $1, seq, $2, 'user', $3, $4, NULL, 20 FROM state
"""
STORE_GROUP = """
WITH new AS (
    SELECT conversation_id, id, content, row_number() OVER (PARTITION BY conversation_id ORDER BY place) AS number
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS new (conversation_id, id, content, place)
), counted AS (
    SELECT conversation_id, count(*) AS added FROM new GROUP BY conversation_id ORDER BY conversation_id
), state AS (
    INSERT INTO conversation SELECT conversation_id, added, added + 1, added * 20, $4 FROM counted
    ON CONFLICT (id) DO UPDATE SET version = conversation.version + excluded.version,
        next_seq = conversation.next_seq + excluded.version, tokens = conversation.tokens + excluded.tokens, updated_us = $4
    RETURNING id, next_seq, version
), message AS (
    INSERT INTO message
    SELECT conversation_id, next_seq - added + number - 1, new.id, 'user', content, $4, NULL, 20
    FROM new JOIN counted USING (conversation_id) JOIN state ON state.id = conversation_id
)
INSERT INTO event SELECT conversation_id, version - added + number, $4, 'added'
FROM new JOIN counted USING (conversation_id) JOIN state ON state.id = conversation_id
"""
SELECT_LAST = "SELECT * FROM message WHERE conversation_id = $1 ORDER BY seq DESC LIMIT $2"


async def as_it_is(_: object) -> None:
    """Save by hand, too, the round trip with which asyncpg resets a session."""


class Keeper:
    """A way to keep messages; each says how."""

    name: ClassVar[str]

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        raise NotImplementedError

    async def append(self, conversation_id: str) -> None:
        raise NotImplementedError

    async def last(self, conversation_id: str, limit: int) -> list[Any]:
        raise NotImplementedError


class Ours(Keeper):
    name = "chatmemory"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        runtime = await stack.enter_async_context(ManagedRuntime(postgres(dsn)))
        self.memory = await runtime.service(ChatMemoryService)

    async def append(self, conversation_id: str) -> None:
        await self.memory.add_messages(conversation_id, [NewMessage("user", TEXT)]).or_raise()

    async def last(self, conversation_id: str, limit: int) -> list[Any]:
        return [*await self.memory.get_messages(conversation_id, limit=limit).or_raise()]


class Raw(Keeper):
    """One INSERT of one row, whose number the client counts."""

    name = "asyncpg, one INSERT"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        self.pool: Any = await stack.enter_async_context(
            asyncpg.create_pool(dsn, min_size=0, max_size=POOL, reset=as_it_is)
        )
        await self.pool.execute(CREATE)
        self.numbers: dict[str, int] = {}

    async def append(self, conversation_id: str) -> None:
        number = self.numbers[conversation_id] = self.numbers.get(conversation_id, 0) + 1
        us = time.time_ns() // 1000
        await self.pool.execute(INSERT, conversation_id, number, uuid4().hex, TEXT, us)

    async def last(self, conversation_id: str, limit: int) -> list[Any]:
        rows = await self.pool.fetch(SELECT_LAST, conversation_id, limit)
        return [dict(row) for row in reversed(rows)]


class RawStatement(Raw):
    name = "asyncpg, one statement"

    async def append(self, conversation_id: str) -> None:
        await self.pool.execute(STORE, conversation_id, uuid4().hex, TEXT, time.time_ns() // 1000)


class RawGroups(Raw):
    """The same statement for all that wait."""

    name = "asyncpg, grouped by hand"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        await super().open(stack, dsn)
        self.waiting: list[tuple[str, str, str, asyncio.Future[None]]] = []
        self.flushing = 0
        self.tasks: set[asyncio.Task[None]] = set()

    async def append(self, conversation_id: str) -> None:
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((conversation_id, uuid4().hex, TEXT, stored))
        if not self.flushing or (self.flushing < GROUPS_AT_ONCE and len(self.waiting) > POOL):
            self.flushing += 1
            flushing = asyncio.create_task(self.flush())
            self.tasks.add(flushing)
            flushing.add_done_callback(self.tasks.discard)
        await stored

    async def flush(self) -> None:
        while self.waiting:
            group, self.waiting = self.waiting[:MOST_IN_A_GROUP], self.waiting[MOST_IN_A_GROUP:]
            columns = [list(column) for column in zip(*group, strict=True)]
            try:
                await self.pool.execute(STORE_GROUP, *columns[:3], time.time_ns() // 1000)
            except Exception as error:  # noqa: BLE001  whatever it is, nobody may wait for ever
                for *_, stored in group:
                    stored.set_exception(error)
                continue
            for *_, stored in group:
                stored.set_result(None)
        self.flushing -= 1


class OpenaiAgents(Keeper):
    name = "openai-agents SQLAlchemySession"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        from agents.extensions.memory.sqlalchemy_session import SQLAlchemySession
        from sqlalchemy.ext.asyncio import create_async_engine

        address = dsn.replace("postgresql://", "postgresql+asyncpg://")
        engine = create_async_engine(address, pool_size=POOL, max_overflow=0)
        stack.push_async_callback(engine.dispose)
        self.sessions: dict[str, Any] = {}
        self.make = lambda id_: SQLAlchemySession(id_, engine=engine, create_tables=id_ == "first")
        await self.append("first")

    def _of(self, conversation_id: str) -> Any:
        if conversation_id not in self.sessions:
            self.sessions[conversation_id] = self.make(conversation_id)
        return self.sessions[conversation_id]

    async def append(self, conversation_id: str) -> None:
        await self._of(conversation_id).add_items([{"role": "user", "content": TEXT}])

    async def last(self, conversation_id: str, limit: int) -> list[Any]:
        return [*await self._of(conversation_id).get_items(limit)]


class LanggraphStore(Keeper):
    """Its ``aput`` of an item; it keeps no order, so it is not asked for the last ones."""

    name = "LangGraph AsyncPostgresStore"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        from langgraph.store.postgres.aio import AsyncPostgresStore

        sizes: Any = {"min_size": POOL, "max_size": POOL}
        self.store = await stack.enter_async_context(
            AsyncPostgresStore.from_conn_string(dsn, pool_config=sizes)
        )
        await self.store.setup()

    async def append(self, conversation_id: str) -> None:
        value = {"role": "user", "content": TEXT}
        await self.store.aput(("conversation", conversation_id), uuid4().hex, value, index=False)


def keepers() -> list[type[Keeper]]:
    """Return who races, without those that are not installed."""
    peers: list[type[Keeper]] = []
    for module, peer in (("agents", OpenaiAgents), ("langgraph.store.postgres", LanggraphStore)):
        try:
            is_there = find_spec(module) is not None
        except ImportError:
            is_there = False
        if is_there:
            peers.append(peer)
        else:
            print(f"  {peer.name}: not installed, left out")
    return [Ours, Raw, RawStatement, RawGroups, *peers]
