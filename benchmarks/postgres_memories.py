"""Who remembers and recalls on PostgreSQL in ``postgres.py``: ours, pgvector by hand, and LangGraph's store."""

from __future__ import annotations

import io
import time
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import Any, ClassVar

import asyncpg  # noqa: TID251  raw, beside ours
from memories import MODEL, Question, World, given_vectors
from postgres_messages import POOL, as_it_is

from chatmemory import Embedding, LongTermMemoryService, ManagedRuntime, Namespace, NewMemory
from chatmemory_layers.stacks import postgres

MOST = 10
TABLES = ("memory_user", "memory_space", "atomic_memory", "memory_embedding", "memory_event")

CREATE = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE mem (
    id text NOT NULL, user_id text NOT NULL, content text NOT NULL, created_us bigint NOT NULL, embedding vector({dim}) NOT NULL,
    PRIMARY KEY (user_id, id)
);
"""
# The nearest fifty and the fifty that fit the words best: what one writes who has read how it is done.
SELECT_BOTH = """
WITH near AS (
    SELECT id FROM mem WHERE user_id = $2 ORDER BY embedding <=> $1 LIMIT 50
), worded AS (
    SELECT id FROM mem, to_tsquery('simple', $3) AS query
    WHERE user_id = $2 AND to_tsvector('simple', content) @@ query
    ORDER BY ts_rank(to_tsvector('simple', content), query) DESC LIMIT 50
)
SELECT id, content, created_us, 1 - (embedding <=> $1) AS similarity FROM mem
WHERE user_id = $2 AND id IN (SELECT id FROM near UNION SELECT id FROM worded)
ORDER BY similarity DESC LIMIT 10
"""


def namespace_of(user: int) -> Namespace:
    return Namespace(f"user{user}", "benchmark")


class Rememberer:
    """A way to keep memories; each says how.  *world* has them, with their vectors."""

    name: ClassVar[str]

    def __init__(self, world: World) -> None:
        self.world = world

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        raise NotImplementedError

    async def remember(self, user: int, start: int, stop: int) -> None:
        raise NotImplementedError

    async def recall(self, user: int, question: Question) -> list[str]:
        raise NotImplementedError

    async def finish(self) -> None:
        """Do what is done once all are stored."""


class OurMemories(Rememberer):
    name = "chatmemory"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        self.dsn = dsn
        stack_of_ours = postgres(dsn, embedder=given_vectors(self.world))
        runtime = await stack.enter_async_context(ManagedRuntime(stack_of_ours))
        self.memory = await runtime.service(LongTermMemoryService)

    async def remember(self, user: int, start: int, stop: int) -> None:
        world = self.world
        new = [
            NewMemory(
                world.texts[number], id=f"{number:08}", embedding=Embedding(MODEL, world.vectors[number])
            )
            for number in range(start, stop)
        ]
        report = await self.memory.remember(namespace_of(user), new).or_raise()
        assert len(report.stored) == stop - start

    async def recall(self, user: int, question: Question) -> list[str]:
        recalled = await self.memory.recall(namespace_of(user), question.text, limit=MOST).or_raise()
        return [hit.memory.id for hit in recalled.hits]


class ByHand(Rememberer):
    """pgvector with COPY in binary, and words by tsvector; vectors are compared one by one."""

    name = "pgvector exact + words by hand"
    is_indexed = False

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        from pgvector.asyncpg import register_vector

        dim = self.world.vectors.shape[1]
        connection: Any = await asyncpg.connect(dsn)
        await connection.execute(CREATE.format(dim=dim))
        await connection.close()

        async def set_up(connection: Any) -> None:
            await register_vector(connection)
            await connection.execute("SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 400")

        self.pool: Any = await stack.enter_async_context(
            asyncpg.create_pool(dsn, min_size=0, max_size=POOL, init=set_up, reset=as_it_is)
        )

    async def remember(self, user: int, start: int, stop: int) -> None:
        us, world = time.time_ns() // 1000, self.world
        rows = [
            (f"{number:08}", f"user{user}", world.texts[number], us, world.vectors[number])
            for number in range(start, stop)
        ]
        async with self.pool.acquire() as connection:
            await connection.copy_records_to_table("mem", records=rows)

    async def recall(self, user: int, question: Question) -> list[str]:
        words = " | ".join(question.text.split())
        rows = await self.pool.fetch(SELECT_BOTH, question.vector, f"user{user}", words)
        return [row["id"] for row in rows]

    async def finish(self) -> None:
        await self.pool.execute("CREATE INDEX mem_words ON mem USING gin (to_tsvector('simple', content))")
        if self.is_indexed:
            await self.pool.execute("CREATE INDEX mem_near ON mem USING hnsw (embedding vector_cosine_ops)")
        await self.pool.execute("VACUUM ANALYZE mem")


class IndexedByHand(ByHand):
    name = "HNSW + words by hand"
    is_indexed = True


class LanggraphMemories(Rememberer):
    """Its search by vector, in the index that it makes itself."""

    name = "LangGraph AsyncPostgresStore"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        from langgraph.store.postgres.aio import AsyncPostgresStore

        world = self.world
        known = dict(zip(world.texts, world.vectors, strict=True))
        known |= {question.text: question.vector for question in world.questions}

        async def embed(texts: Any) -> list[list[float]]:
            return [known[text].tolist() for text in texts]

        index: Any = {"dims": world.vectors.shape[1], "embed": embed, "fields": ["text"]}
        sizes: Any = {"min_size": 2, "max_size": POOL}
        self.store = await stack.enter_async_context(
            AsyncPostgresStore.from_conn_string(dsn, pool_config=sizes, index=index)
        )
        await self.store.setup()

    async def remember(self, user: int, start: int, stop: int) -> None:
        from langgraph.store.base import PutOp

        puts = [
            PutOp(("memories", f"user{user}"), f"{number:08}", {"text": self.world.texts[number]})
            for number in range(start, stop)
        ]
        await self.store.abatch(puts)

    async def recall(self, user: int, question: Question) -> list[str]:
        found = await self.store.asearch(("memories", f"user{user}"), query=question.text, limit=MOST)
        return [item.key for item in found]


class CopiedTables(Rememberer):
    """The limit of ``remember``: rows that ours has made, copied in binary into the same tables."""

    name = "COPY into the same tables"

    async def open(self, stack: AsyncExitStack, dsn: str) -> None:
        async with ManagedRuntime(postgres(dsn)) as runtime:
            await runtime.service(LongTermMemoryService)
        self.pool: Any = await stack.enter_async_context(
            asyncpg.create_pool(dsn, min_size=0, max_size=POOL, reset=as_it_is)
        )
        self.batches: list[dict[str, bytes]] = []

    async def take(self, dsn: str, size: int) -> None:
        """Keep what ours has stored at *dsn*, in batches of *size* memories."""
        connection: Any = await asyncpg.connect(dsn)
        count = await connection.fetchval("SELECT count(*) FROM atomic_memory")
        for start in range(0, count, size):
            batch: dict[str, bytes] = {}
            for table in TABLES:
                inner = f"SELECT memory_key FROM atomic_memory ORDER BY memory_id LIMIT {size} OFFSET {start}"
                which = {
                    "memory_user": f"LIMIT {0 if start else 1}",
                    "memory_space": f"LIMIT {0 if start else 1}",
                    "memory_event": f"ORDER BY number LIMIT {size} OFFSET {start}",
                }.get(table, f"WHERE memory_key IN ({inner})")
                into = io.BytesIO()
                await connection.copy_from_query(
                    f"SELECT * FROM {table} {which}", output=into, format="binary"
                )
                batch[table] = into.getvalue()
            self.batches.append(batch)
        await connection.close()

    async def remember(self, user: int, start: int, stop: int) -> None:  # noqa: ARG002  rows know theirs
        batch = self.batches.pop(0)
        async with self.pool.acquire() as connection, connection.transaction():
            for table, rows in batch.items():
                await connection.copy_to_table(table, source=io.BytesIO(rows), format="binary")


def recallers(world: World, *, is_indexed: bool) -> list[Rememberer]:
    """Return who races in recalling, without those that are not installed."""
    found: list[Rememberer] = [OurMemories(world)]
    if find_spec("pgvector") is not None:
        found.append(IndexedByHand(world) if is_indexed else ByHand(world))
    try:
        if find_spec("langgraph.store.postgres") is not None:
            found.append(LanggraphMemories(world))
    except ImportError:
        print(f"  {LanggraphMemories.name}: not installed, left out")
    return found
