"""Vectors with and without pgvector, and the index that is made once there are many."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from chatmemory import Candidates, MemoryDraft, MemoryRepository, MemorySearch, Namespace, Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.memories.memory_witness import remembered, unit
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.memories import memory_search
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.memories.memory_search import SpaceFacts
from chatmemory_layers.postgres.throwaway_server import run_on_server
from tests.patience import PATIENCE_SECONDS
from tests.unit.postgres.beside import connected, name_of, open_memories

MING = Namespace("小明")
SPACE = EmbeddingSpace("模型", 3)
INDEXED = EmbeddingSpace("模型", 32)
MANY, FEW, NEAREST = 2_000, 500, 10


@pytest.fixture
def dsn(own_dsn: str) -> str:
    """These tests alter what is in a database beside rows."""
    return own_dsn


def draft(id_: str, space: EmbeddingSpace, vector: Vector, **changes: Any) -> MemoryDraft:
    return remembered(id_, **{"namespace": MING, "space": space, "vector": vector, **changes})


def similarities(found: Candidates) -> dict[str, float | None]:
    return {candidate.memory.id: candidate.similarity for candidate in found.found}


@asynccontextmanager
async def poor_role(dsn: str) -> AsyncGenerator[str]:
    """Lend the address of that database for a role that may not make extensions."""
    await run_on_server("CREATE ROLE poor LOGIN")
    await run_on_server("GRANT CREATE ON SCHEMA public TO poor", database=name_of(dsn))
    yield dsn.replace("postgres:@", "poor:@")
    await run_on_server("DROP OWNED BY poor", database=name_of(dsn))
    await run_on_server("DROP ROLE poor")


@pytest.fixture
async def poor(fresh_dsn: str) -> AsyncGenerator[str]:
    async with poor_role(fresh_dsn) as address:
        yield address


async def test_without_pgvector_memories_are_found_by_words_and_by_their_vectors_once_it_is_there(
    fresh_dsn: str, poor: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_memories(poor) as memories:
        drafts = (
            draft("1", SPACE, unit(1, 0, 0), terms="绿茶"),
            draft("2", SPACE, unit(0, 1, 0), terms="咖啡"),
        )
        await memories.store(drafts).or_raise()
        found = await memories.search(MemorySearch(MING, "绿", ("绿茶",), SPACE, unit(1, 0, 0))).or_raise()
        by_text = await memories.search(MemorySearch(MING, "绿", (), SPACE, unit(1, 0, 0))).or_raise()
        assert await memories.unembedded(MING, SPACE, limit=9).or_raise() == ((), 0)
    assert similarities(found) == {"1": None}
    assert found.coverage == by_text.coverage == Coverage(embedded=0, memories=2)
    assert (by_text.matched_text, len(by_text.found)) == (True, 2)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "permission denied" in record.getMessage()
    await run_on_server("CREATE EXTENSION vector", database=name_of(fresh_dsn))
    caplog.clear()
    async with open_memories(poor) as memories:
        found = await memories.search(MemorySearch(MING, "不在", (), SPACE, unit(1, 0, 0))).or_raise()
    assert similarities(found) == pytest.approx({"1": 1, "2": 0}, abs=1e-6)
    assert found.coverage == Coverage(embedded=2, memories=2)
    assert not caplog.records


async def test_pgvector_beside_the_search_path_is_none(
    fresh_dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    await run_on_server("CREATE SCHEMA memory; CREATE EXTENSION vector", database=name_of(fresh_dsn))
    async with open_memories(f"{fresh_dsn}&search_path=memory") as memories:
        await memories.store((draft("1", SPACE, unit(1, 0, 0), terms="绿茶"),)).or_raise()
        found = await memories.search(MemorySearch(MING, "", ("绿茶",), SPACE, unit(1, 0, 0))).or_raise()
    assert similarities(found) == {"1": None}
    assert "its schema is not on the search_path" in caplog.text


def directions(count: int) -> Sequence[Vector]:
    rows = np.random.default_rng(0).normal(size=(count, INDEXED.dim)).astype(np.float32)
    return list(rows / np.linalg.norm(rows, axis=1, keepdims=True))


async def nearest(
    memories: MemoryRepository, namespace: Namespace, query: Vector, *, limit: int = NEAREST
) -> list[str]:
    found = await memories.search(MemorySearch(namespace, "不在", (), INDEXED, query, limit=limit)).or_raise()
    assert len(found.found) == limit
    return sorted(candidate.memory.id for candidate in found.found)


async def is_indexed(dsn: str) -> bool:
    valid = "SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid AND indisvalid WHERE relname ~ '_hnsw_'"
    async with connected(dsn) as connection:
        return bool(await connection.fetch(valid))


async def until_indexed(dsn: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await is_indexed(dsn):  # noqa: ASYNC110  the server tells nobody
            await asyncio.sleep(0.05)


@pytest.fixture
async def crowded(database: Database, monkeypatch: pytest.MonkeyPatch) -> PostgresMemoryRepository:
    """Many vectors of one user, for a server that thinks few to be many; half are of a kind that no recall finds."""
    monkeypatch.setattr(memory_search, "EXACT_VECTORS", FEW)
    memories = PostgresMemoryRepository(database)
    rows = directions(MANY)
    drafts = [
        draft(f"{k}", INDEXED, row, memory_type="long_term" if k % 2 else "short_term")
        for k, row in enumerate(rows)
    ]
    await memories.store(tuple(drafts)).or_raise()
    return memories


async def plan_of(dsn: str, memories: PostgresMemoryRepository, namespace: Namespace) -> str:
    """Return the plan of the last statement of a search."""
    await run_on_server("ANALYZE", database=name_of(dsn))
    query = MemorySearch(namespace, "不在", (), INDEXED, directions(1)[0], limit=NEAREST)
    asked: list[Any] = []
    known = {
        (namespace, INDEXED): SpaceFacts(
            None, is_few=False, coverage=Coverage(0, 0), space_key=None, indexed=None
        )
    }
    async with connected(dsn) as connection:
        connection.add_query_logger(asked.append)
        await memory_search.search(connection, query, memories.database.vector_indexes, known)
        await asyncio.sleep(0)  # it is logged in the next turn of the event loop
        last = asked[-1]
        return "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {last.query}", *last.args))


async def test_the_first_search_among_many_makes_an_index_that_finds_the_nearest(
    dsn: str, crowded: PostgresMemoryRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = directions(MANY)
    recallable = np.array(rows)[1::2]
    queries = [row + 0.2 * rows[-1] for row in rows[:20]]
    queries = [query / np.float32(np.linalg.norm(query)) for query in queries]
    right = [
        sorted(f"{2 * place + 1}" for place in np.argsort(-(recallable @ query))[:NEAREST])
        for query in queries
    ]
    assert not await is_indexed(dsn)
    assert [await nearest(crowded, MING, query) for query in queries] == right
    await until_indexed(dsn)
    found = [await nearest(crowded, MING, query) for query in queries]
    hits = sum(len(set(ids) & set(best)) for ids, best in zip(found, right, strict=True))
    assert hits >= 0.95 * NEAREST * len(queries)
    # Vectors of somebody who owns few are compared one by one: a scan would give up before it has met enough of them.
    other = Namespace("小红")
    few = [draft(f"{k}", INDEXED, row, namespace=other) for k, row in enumerate(rows[:NEAREST])]
    await crowded.store(tuple(few)).or_raise()
    monkeypatch.setattr(memory_search, "EXACT_VECTORS", NEAREST - 1)
    monkeypatch.setattr(memory_search, "MAX_SCANNED", MANY // 2)
    assert "Index Scan using memory_embedding_hnsw_" in await plan_of(dsn, crowded, MING)
    await nearest(crowded, MING, queries[0], limit=100)  # more than an index returns by its default settings
    assert "using memory_embedding_hnsw_" not in await plan_of(dsn, crowded, other)


async def test_an_index_that_is_half_made_is_made_anew(dsn: str, crowded: PostgresMemoryRepository) -> None:
    async with connected(dsn) as connection:
        name = f"memory_embedding_hnsw_{await connection.fetchval('SELECT space_key FROM memory_space')}"
        await connection.execute(f"CREATE INDEX {name} ON memory_embedding (space_key)")
        spoil = f"UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = '{name}'::regclass"
        await connection.execute(spoil)
    await nearest(crowded, MING, directions(1)[0])
    await until_indexed(dsn)


async def test_an_index_that_may_not_be_made_is_logged_once_and_searches_go_on(
    dsn: str, crowded: PostgresMemoryRepository, caplog: pytest.LogCaptureFixture
) -> None:
    async with poor_role(dsn) as poor:
        await run_on_server("GRANT ALL ON ALL TABLES IN SCHEMA public TO poor", database=name_of(dsn))
        async with open_database(PostgresSettings(dsn=poor)) as database:
            memories = PostgresMemoryRepository(database)
            found = [await nearest(memories, MING, directions(1)[0])]
            assert database.vector_indexes is not None
            await asyncio.wait(database.vector_indexes._making.values(), timeout=PATIENCE_SECONDS)
            found += [await nearest(memories, MING, directions(1)[0])]
    assert found[0] == found[1]
    (record,) = caplog.records
    assert "must be owner" in record.getMessage()
