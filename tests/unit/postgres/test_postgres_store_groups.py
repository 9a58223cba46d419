"""Memories that wait together are stored together, and each batch is as if it had been alone."""

import asyncio
from collections.abc import Sequence

import pytest

from chatmemory import Failure, MemoryConflictError, Namespace, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.memories.memory_samples import remembered, unit
from chatmemory.longterm.memories import Duplicate, Stored
from chatmemory.longterm.repository_values import Forgetting, MemoryDraft, MemoryListing
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from tests.unit.postgres.beside import connected

SPACE = EmbeddingSpace("模型", 3)
MING, HONG = Namespace("小明"), Namespace("小红")


@pytest.fixture
def memories(database: Database) -> PostgresMemoryRepository:
    return PostgresMemoryRepository(database)


async def together(
    memories: PostgresMemoryRepository, batches: Sequence[tuple[MemoryDraft, ...]]
) -> list[object]:
    return await asyncio.gather(*(memories.store(batch) for batch in batches))


async def ids(memories: PostgresMemoryRepository, namespace: Namespace) -> set[str]:
    return {memory.id for memory in await memories.list(MemoryListing(namespace, 999)).or_raise()}


async def test_what_the_server_refuses_fails_alone(dsn: str, memories: PostgresMemoryRepository) -> None:
    async with connected(dsn) as other:
        await other.execute(
            "ALTER TABLE atomic_memory ADD CONSTRAINT refused CHECK (content <> 'refused') NOT VALID"
        )
        try:
            batches = [
                (
                    remembered(f"{n}a", namespace=HONG if n % 2 else MING, space=SPACE, vector=unit(1, n, 0)),
                    remembered(f"{n}b", "refused" if n == 5 else "fine", namespace=HONG if n % 2 else MING),
                )
                for n in range(12)
            ]
            outcomes = await together(memories, batches)
        finally:
            await other.execute("ALTER TABLE atomic_memory DROP CONSTRAINT refused")
    assert [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Failure)] == [5]
    assert await ids(memories, MING) == {f"{n}{k}" for n in range(0, 12, 2) for k in "ab"}
    assert await ids(memories, HONG) == {f"{n}{k}" for n in (1, 3, 7, 9, 11) for k in "ab"}
    async with connected(dsn) as other:
        told = [row["memory_id"] for row in await other.fetch("SELECT memory_id FROM memory_event")]
    assert sorted(told) == sorted(await ids(memories, MING) | await ids(memories, HONG))


async def test_what_repeats_contradicts_or_replaces_is_told_so(memories: PostgresMemoryRepository) -> None:
    first = remembered("1", "green tea", namespace=MING, dedup_key=b"tea")
    twin, other = (
        remembered("2", "green tea", namespace=MING, dedup_key=b"tea"),
        remembered("3", namespace=MING),
    )
    again, wrong = first, remembered("3", "something else", namespace=MING)
    new = remembered("4", "black tea", namespace=MING, replaces="1")
    outcomes = await together(memories, [(first,), (twin,), (other,), (again,), (wrong,), (new,)])
    assert outcomes[:4] == [
        Success((Stored("1"),)),
        Success((Duplicate("1"),)),
        Success((Stored("3"),)),
        Success((Duplicate("1"),)),
    ]
    assert isinstance(outcomes[4], Failure)
    assert outcomes[4].failure() == MemoryConflictError(("3",))
    assert outcomes[5] == Success((Stored("4", ("1",)),))
    assert await ids(memories, MING) == {"3", "4"}


async def test_what_was_read_before_others_wrote_is_read_again(
    dsn: str, memories: PostgresMemoryRepository
) -> None:
    """Two stores of one user at once, while a third forgets: nothing is doubled, nothing comes back."""
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        beside = PostgresMemoryRepository(database)
        for round_ in range(10):
            same = [(remembered(f"{round_} {n}", namespace=MING, dedup_key=b"%d" % n),) for n in range(9)]
            forgetting = beside.forget(Forgetting(MING, memory_id=f"{round_} 3"))
            outcomes = await asyncio.gather(together(memories, same), together(beside, same), forgetting)
            for one, other in zip(*outcomes[:2], strict=True):
                assert isinstance(one, Success)
                assert isinstance(other, Success)
        stored = await ids(memories, MING)
        assert all(f"0 {n}" in stored for n in range(9) if n != 3)
        assert len(stored) in {8, 9}


async def test_a_store_whose_caller_leaves_is_whole_or_absent(memories: PostgresMemoryRepository) -> None:
    for turns in range(1, 30):
        tasks = [
            asyncio.create_task(
                memories.store(
                    tuple(remembered(f"{turns}-{n}{k}", namespace=(MING, HONG)[n % 2]) for k in "ab")
                ).or_raise()
            )
            for n in range(6)
        ]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks[::3]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert not any(isinstance(outcome, BaseException) for n, outcome in enumerate(outcomes) if n % 3)
    for user in (MING, HONG):
        await memories.store((remembered(f"last of {user.user}", namespace=user),)).or_raise()
        stored = await ids(memories, user)
        assert {one[:-1] for one in stored if one.endswith("a")} == {
            one[:-1] for one in stored if one.endswith("b")
        }
