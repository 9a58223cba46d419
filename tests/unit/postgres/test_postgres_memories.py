"""What PostgreSQL adds to the contract of memories: its own limits, few round trips, writers that meet, bytes that go."""

import asyncio
from datetime import datetime

import pytest
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.memories.memory_samples import dedup_key, remembered, unit
from chatmemory.longterm.memories import Duplicate, Provenance, Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import (
    Attachment,
    Forgetting,
    MemoryListing,
    MemorySearch,
)
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.postgres.beside import connected
from tests.unit.postgres.said import NOW, batch, summary

MING = Namespace("小明")
SPACE = EmbeddingSpace("模型", 3)


async def test_the_longest_names_are_kept_and_found(memories: PostgresMemoryRepository) -> None:
    """No index row may hold two of them: no two of these characters are alike, so nothing is packed."""
    user, app, id_, key, session, model, message, path = (
        "".join(chr(0x20000 + 600 * place + offset) for offset in range(512)) for place in range(8)
    )
    namespace, space = Namespace(user, app), EmbeddingSpace(model, 3)
    draft = remembered(
        id_,
        namespace=namespace,
        key=key,
        session_id=session,
        tags=(key, app),
        terms=f"{key} {app}",
        provenance=Provenance((message,), path=path),
        dedup_key=dedup_key("1"),
        space=space,
        vector=unit(1, 0, 0),
    )
    assert await memories.store((draft,)).or_raise() == (Stored(id_),)
    assert await memories.store((draft,)).or_raise() == (Duplicate(id_),)
    found = await memories.search(MemorySearch(namespace, "", (app,), space, unit(1, 0, 0))).or_raise()
    assert [candidate.memory.embedding for candidate in found.found] == [space]
    used = await memories.record_use(
        namespace, (id_,), use_id=user, session_id=session, now=NOW, promote_after=1
    ).or_raise()
    assert used.used == 1
    assert await memories.value(namespace, key).or_raise() == await memories.get(namespace, id_).or_raise()
    newer = remembered("newer", namespace=namespace, key=key, replaces_key=True)
    assert await memories.store((newer,)).or_raise() == (Stored("newer", superseded=(id_,)),)
    forgotten = await memories.forget(Forgetting(namespace, session_id=session, path=path)).or_raise()
    assert (forgotten.memories, forgotten.embeddings) == (1, 1)


async def test_memories_are_listed_by_code_point(memories: PostgresMemoryRepository) -> None:
    ids = ["a", "B", "é", "z", "中", "文", "Z", "%", "_", " ", "😀", "\uffff", "a b", "ab", "1", "10", "9"]
    await memories.store(tuple(remembered(id_, namespace=MING) for id_ in ids)).or_raise()
    seen: list[str] = []
    after: tuple[datetime, str] | None = None
    while page := await memories.list(MemoryListing(MING, limit=3, after=after)).or_raise():
        seen += [memory.id for memory in page]
        after = (page[-1].created_at, page[-1].id)
    assert seen == sorted(ids, reverse=True)


async def test_vectors_of_any_length_are_compared(memories: PostgresMemoryRepository) -> None:
    """Longer than those that pgvector can index, and up to the longest that it knows."""
    for dim in (2000, 4001, 16_000):
        user, space = Namespace(f"{dim}"), EmbeddingSpace("m", dim)
        one, other = unit(*([1.0] * dim)), unit(1.0, *([0.0] * (dim - 1)))
        rows = (("one", one), ("other", other))
        drafts = [remembered(f"{dim} {k}", namespace=user, space=space, vector=row) for k, row in rows]
        await memories.store(tuple(drafts)).or_raise()
        found = await memories.search(MemorySearch(user, "不在", (), space, one)).or_raise()
        similarity = {candidate.memory.id: candidate.similarity for candidate in found.found}
        expected = {f"{dim} one": 1.0, f"{dim} other": float(one @ other)}
        assert similarity == pytest.approx(expected, abs=1e-6)
        assert found.coverage == Coverage(embedded=2, memories=2)


async def test_few_round_trips_are_taken(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn, pool_size=1)) as database:
        memories = PostgresMemoryRepository(database)
        statements: list[str] = []
        async with database._lend(database._primary) as connection:
            connection.add_query_logger(lambda logged: statements.append(logged.query))

        async def taken_by(work: object) -> list[str]:
            statements.clear()
            await work.or_raise()
            return [statement.split()[0] for statement in statements]

        drafts = [
            remembered(f"{k}", namespace=MING, space=SPACE, vector=unit(1, k, 0), dedup_key=dedup_key(f"{k}"))
            for k in range(100)
        ]
        await memories.store(tuple(drafts[:1])).or_raise()
        # What is known of users, ids, spaces and what is true; then all the rows.
        store = memories.store(tuple(drafts))
        assert await taken_by(store) == ["SELECT", "WITH"]
        each = [(evolve(draft, id=f"again {draft.id}", dedup_key=None),) for draft in drafts]
        both = Effect.all([memories.store(one) for one in each], concurrency=len(each))
        assert await taken_by(both) == ["SELECT", "WITH"]
        query = MemorySearch(MING, "绿茶", ("绿茶",), SPACE, unit(1, 0, 0))
        assert await taken_by(memories.search(query)) == ["BEGIN", "SELECT", "WITH", "ROLLBACK"]
        assert await taken_by(memories.get(MING, "1")) == ["SELECT"]
        assert await taken_by(memories.list(MemoryListing(MING, limit=9))) == ["BEGIN", "SELECT", "ROLLBACK"]


async def test_a_search_sees_one_state_while_others_write(dsn: str) -> None:
    """The numbers of the coverage and the candidates come from two statements."""
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        memories, is_over = PostgresMemoryRepository(database), False

        async def write() -> None:
            for number in range(60):
                drafts = [
                    remembered(
                        f"{number} {k}", namespace=MING, terms="绿茶", space=SPACE, vector=unit(1, k, 0)
                    )
                    for k in range(2)
                ]
                await memories.store(tuple(drafts)).or_raise()

        async def read() -> int:
            reads = 0
            while not is_over:
                query = MemorySearch(MING, "", ("绿茶",), SPACE, unit(1, 0, 0))
                found = await memories.search(query).or_raise()
                assert found.coverage == Coverage(len(found.found), len(found.found))
                assert len(found.found) % 2 == 0
                reads += 1
            return reads

        reader = asyncio.create_task(read())
        await write()
        is_over = True
        assert await reader > 10


async def test_two_stores_that_meet_a_model_at_once_agree_on_its_space(dsn: str) -> None:
    async def store(memories: MemoryRepository, number: int, place: int) -> None:
        """Meet two models at once, each store in an order of its own."""
        spaces = [EmbeddingSpace(f"{number} {name}", 3) for name in ("ab", "ba")[place]]
        named = {"namespace": Namespace(f"{place}"), "vector": unit(1, 0, 0)}
        drafts = [remembered(f"{number} {place} {k}", space=space, **named) for k, space in enumerate(spaces)]
        await memories.store(tuple(drafts)).or_raise()

    settings = PostgresSettings(dsn=dsn)
    async with open_database(settings) as one, open_database(settings) as other:
        stores = [PostgresMemoryRepository(database) for database in (one, other)]
        for number in range(10):
            await asyncio.gather(*(store(each, number, place) for place, each in enumerate(stores)))
        for place in range(2):
            query = MemorySearch(Namespace(f"{place}"), "", (), EmbeddingSpace("9 a", 3), unit(1, 0, 0))
            assert (await stores[0].search(query).or_raise()).coverage == Coverage(embedded=1, memories=20)


async def test_what_is_forgotten_is_in_no_table(dsn: str, database: Database) -> None:
    """Rows only: what the server's files hold until they are written over is said in memory_removal.py."""
    memories, messages = PostgresMemoryRepository(database), PostgresMessageRepository(database)
    await messages.append(batch("会议", "1", "2", "3")).or_raise()
    await messages.summarize(summary("会议", "s", "1", "2", at_version=1)).or_raise()
    await messages.summarize(summary("会议", "of s", "s", "3", at_version=2)).or_raise()
    secret = "绿茶的秘密"
    draft = remembered(
        "1",
        secret,
        namespace=MING,
        key=secret,
        value=secret,
        tags=(secret,),
        session_id="会议",
        provenance=Provenance(("2",), path=secret),
        terms=secret,
    )
    await memories.store((draft,)).or_raise()
    await memories.rewrite(draft, expected_version=1).or_raise()
    await memories.record_use(MING, ("1",), use_id=secret, session_id=secret, now=NOW).or_raise()
    await memories.attach(MING, SPACE, (Attachment("1", 2, unit(0, 0, 1)),)).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="1")).or_raise()
    assert (receipt.memories, receipt.embeddings, receipt.stale_summaries) == (1, 1, ("of s", "s"))
    found = await messages.summarizations_of("会议", "1").or_raise()
    assert [(each.summary_message_id, each.is_stale) for each in found] == [("s", True), ("of s", True)]
    async with connected(dsn) as connection:
        for table in ("atomic_memory", "memory_version", "memory_embedding", "memory_use", "memory_user"):
            assert await connection.fetch(f"SELECT * FROM {table}") == []
    # A user that was forgotten comes back as a new one, with what he says then.
    again = evolve(draft, provenance=Provenance(("4",)))
    assert await memories.store((again,)).or_raise() == (Stored("1"),)
