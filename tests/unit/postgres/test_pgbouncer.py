"""Behind PgBouncer in transaction mode, where each transaction may run in another session of the server."""

import asyncio
from collections.abc import Generator
from typing import Any, Final

import pytest

from chatmemory import ConversationListing, EffectFailed, Failure, MemoryRepository, Namespace
from chatmemory.access.principal import acting_as
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.kit.samples import START, somebody
from chatmemory.laws.memories.memory_witness import remembered, unit
from chatmemory.longterm.repository_values import Forgetting, MemorySearch
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from tests.bouncer import bouncer_of
from tests.guarded_store import guarded_store
from tests.unit.postgres.beside import open_messages
from tests.unit.said import batch, stored_ids, summary

CLIENTS, BATCHES = 12, 15
SPACE = EmbeddingSpace("模型", 3)
UNCACHED: Final[dict[str, Any]] = {"statement_cache_size": 0, "pool_size": 2}


@pytest.fixture
def bouncer(dsn: str) -> Generator[str]:
    with bouncer_of(dsn) as address:
        yield address


async def test_clients_that_share_sessions_do_not_meet(bouncer: str) -> None:
    """Without a statement cache, the setting for a PgBouncer that knows nothing of prepared statements."""

    async def remember(memories: MemoryRepository, namespace: Namespace, client: int) -> None:
        draft = remembered(f"{client}", namespace=namespace, terms="绿茶", space=SPACE, vector=unit(1, 0, 0))
        await memories.store((draft,)).or_raise()
        query = MemorySearch(namespace, "", ("绿茶",), SPACE, unit(1, 0, 0))
        (candidate,) = (await memories.search(query).or_raise()).found
        assert (candidate.memory.id, candidate.similarity) == (f"{client}", pytest.approx(1))
        assert (await memories.forget(Forgetting(namespace)).or_raise()).embeddings == 1

    async def talk(client: int) -> None:
        async with open_messages(bouncer, **UNCACHED) as repository:
            own, ids = f"对话 {client}", [f"{client}-{number}" for number in range(BATCHES)]
            for number, id_ in enumerate(ids):
                await asyncio.gather(
                    repository.append(batch(own, id_)).or_raise(),
                    repository.append(batch("all", id_, is_due=True)).or_raise(),
                    repository.conversations(ConversationListing(number, order="recent")).or_raise(),
                    repository.summarizations_of("all", id_).or_raise(),
                )
                assert await stored_ids(repository, own) == ids[: number + 1]
            await remember(PostgresMemoryRepository(repository.database), Namespace(own), client)
            await repository.summarize(summary(own, "s", *ids[:3], at_version=BATCHES)).or_raise()
            await repository.clear(own, now=START).or_raise()

    await asyncio.gather(*map(talk, range(CLIENTS)))
    async with open_messages(bouncer, **UNCACHED) as repository:
        everything = await stored_ids(repository, "all")
        assert len(everything) == CLIENTS * BATCHES
        for client in range(CLIENTS):
            own = [id_ for id_ in everything if id_.startswith(f"{client}-")]
            assert own == [f"{client}-{number}" for number in range(BATCHES)]
        listed = await repository.conversations(ConversationListing(99)).or_raise()
        assert listed[0].conversation_id == "all"
        assert await repository.claim_work(now=START, lease_id="a", lease_until=START).or_raise()


async def test_each_client_sees_what_is_its_own_in_sessions_that_all_share() -> None:
    """With row-level security: who acts is told in each transaction, and to no session."""

    async def talk(client: int) -> None:
        async with open_messages(address, row_security=True, **UNCACHED) as repository:
            with acting_as(somebody(f"{client}")):
                for number in range(BATCHES):
                    await repository.append(batch(f"of {client}", f"{number}")).or_raise()
                    listed = await repository.conversations(ConversationListing(99)).or_raise()
                    assert [one.conversation_id for one in listed] == [f"of {client}"]
                    assert len(await stored_ids(repository, f"of {client}")) == number + 1
                    assert await stored_ids(repository, f"of {(client + 1) % CLIENTS}") == []

    async with guarded_store() as store:
        with bouncer_of(store.serving) as address:
            await asyncio.gather(*map(talk, range(CLIENTS)))


async def test_a_statement_cache_behind_an_old_pgbouncer_is_named_with_its_cure(bouncer: str) -> None:
    """From 1.21 on, PgBouncer knows prepared statements; then nothing fails."""
    problems: set[str] = set()

    async def talk(client: int) -> None:
        try:
            async with open_messages(bouncer, pool_size=4) as repository:
                for number in range(BATCHES):
                    outcome = await repository.append(batch(f"{client}", f"{client}-{number}"))
                    if isinstance(outcome, Failure):
                        problems.add(str(outcome.failure()))
        except EffectFailed as failed:
            problems.add(str(failed.error))

    await asyncio.gather(*map(talk, range(CLIENTS)))
    assert not any("unexpected" in problem for problem in problems)
    assert all("statementCacheSize = 0" in problem for problem in problems)
