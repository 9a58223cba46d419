"""What PostgreSQL adds to the contract: its limits, its order, several writers, few round trips, bytes that go."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import count
from typing import Any

import pytest
from attrs import evolve
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from chatmemory import (
    Effect,
    Failure,
    Fork,
    MemoryRepository,
    MessageRepository,
    Namespace,
    PageQuery,
    RepositoryError,
    Success,
)
from chatmemory.conversation.message_repository import Undo
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.items.item_repository import ItemSearch
from chatmemory.laws.kit.samples import START, said
from chatmemory.laws.memories.memory_witness import PUT, dedup_key, remembered, unit
from chatmemory.longterm.memories import Duplicate, Provenance, Stored
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Attachment, Forgetting, MemoryListing, MemorySearch, Use
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres import pool_metrics
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.row_locks import Owner, conversation_row
from chatmemory_layers.postgres.items.item_repository import PostgresItemRepository
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.memories.memory_search import FEW_MEMORIES
from chatmemory_layers.postgres.messages import message_forks
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import run_on_server
from tests.empty_store import copied_store
from tests.unit.postgres.beside import connected, name_of, open_messages
from tests.unit.said import batch, stored, stored_ids, summary

WRITERS, BATCHES, SIZE = 8, 25, 4
StatementsOf = Callable[[Effect[Any, Any]], Awaitable[list[str]]]


async def write(repository: MessageRepository, writer: int) -> None:
    for number in range(BATCHES):
        ids = [f"{writer}-{number}-{k}" for k in range(SIZE)]
        await repository.append(batch("相同的对话", *ids)).or_raise()


async def test_many_writers_of_one_conversation_stand_in_line_under_any_isolation(own_dsn: str) -> None:
    """And two stores, so that the lock is the server's, not the process's."""
    await run_on_server(
        f"ALTER DATABASE {name_of(own_dsn)} SET default_transaction_isolation = 'serializable'"
    )
    settings = PostgresSettings(dsn=own_dsn)
    async with open_database(settings) as one, open_database(settings) as other:
        stores = [PostgresMessageRepository(database) for database in (one, other)]
        await asyncio.gather(*(write(stores[writer % 2], writer) for writer in range(WRITERS)))
        messages = await stored(stores[0], "相同的对话")
    assert [message.seq for message in messages] == list(range(1, WRITERS * BATCHES * SIZE + 1))
    ids = [message.id for message in messages]
    next_of = {str(writer): count() for writer in range(WRITERS)}
    for first in range(0, len(ids), SIZE):
        writer = ids[first].partition("-")[0]
        number = next(next_of[writer])
        assert ids[first : first + SIZE] == [f"{writer}-{number}-{k}" for k in range(SIZE)]


async def test_conversations_that_hold_messages_of_each_other_change_at_once_without_a_deadlock(
    dsn: str,
) -> None:
    async with open_messages(dsn, pool_size=8) as repository:
        for number in range(8):
            one, other = f"{number} one", f"{number} other"
            await repository.append(batch(one, "1", "2")).or_raise()
            await repository.fork(Fork(one, other, None, START)).or_raise()
            await repository.clear(one, now=START).or_raise()
            await repository.undo(Undo(one, START)).or_raise()  # which makes it a branch of its branch
            ends = await asyncio.gather(
                repository.clear(one, now=START, with_branches=True),
                repository.clear(other, now=START, with_branches=True),
                repository.fork(Fork(one, other, None, START)),
                repository.fork(Fork(other, one, None, START)),
                repository.remove_newest(one, now=START, threshold=None),
                repository.append(batch(other, "3")),
            )
            failures = [end.failure() for end in ends if isinstance(end, Failure)]
            assert not [each for each in failures if isinstance(each, RepositoryError)]


async def test_a_fork_whose_parent_loses_a_message_meanwhile_is_made_again(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_messages(dsn) as repository:
        await repository.append(batch("parent", "1", "2")).or_raise()
        store = message_forks.store_messages

        async def store_late(*args: Any) -> None:
            monkeypatch.undo()
            await repository.remove_newest("parent", now=START, threshold=None).or_raise()
            await store(*args)

        monkeypatch.setattr(message_forks, "store_messages", store_late)
        forked = await repository.fork(Fork("parent", "branch", None, START)).or_raise()
        assert await stored_ids(repository, "branch") == ["1"]
        assert forked.conversation.message_count == 1


async def test_a_conversation_that_many_write_to_leaves_connections_for_the_others(dsn: str) -> None:
    async with open_messages(dsn, pool_size=2) as repository:
        blocked, go_on = asyncio.Event(), asyncio.Event()

        async def wait(*_: Any) -> Any:
            blocked.set()
            await go_on.wait()
            msg = "nothing was to be written"
            raise AssertionError(msg)

        slow = asyncio.create_task(
            repository.database.write("wait", Owner("hot", row=conversation_row), wait).run()
        )
        await blocked.wait()
        waiting = [asyncio.create_task(repository.append(batch("hot", f"{n}")).or_raise()) for n in range(10)]
        await repository.append(batch("cold", "1")).or_raise()
        go_on.set()
        with pytest.raises(AssertionError, match="nothing was to be written"):
            await slow
        await asyncio.gather(*waiting)
        assert await stored_ids(repository, "hot") == [f"{n}" for n in range(10)]


async def test_the_longest_ids_are_found_and_metadata_comes_back_to_the_letter(
    repository: PostgresMessageRepository,
) -> None:
    """Neither fits an index row together with the other: no two of these characters are alike, so nothing is packed."""
    conversation_id, message_id = (
        "".join(chr(0x20000 + offset + k) for k in range(512)) for offset in (0, 600)
    )
    metadata = {"z": 1, "a": 1.0, "é": [True, None, 10**300, 1e-7], "": {"\\u0000": '"', "中": "\\"}}
    saying = batch(conversation_id, message_id, said("2", metadata=metadata), is_due=True)
    await repository.append(saying).or_raise()
    assert repr((await stored(repository, conversation_id))[1].metadata) == repr(metadata)
    again = await repository.append(batch(conversation_id, message_id)).or_raise()
    assert again.duplicates == (message_id,)
    done = await repository.summarize(summary(conversation_id, "s", message_id, "2", at_version=1)).or_raise()
    assert done.view_count == 1
    assert len(await repository.summarizations_of(conversation_id, message_id).or_raise()) == 1


@pytest.fixture
async def one_connection(dsn: str) -> AsyncGenerator[tuple[Database, StatementsOf]]:
    """A database with one connection, and what tells by their first words which statements a call takes."""
    async with open_database(PostgresSettings(dsn=dsn, pool_size=1)) as database:
        statements: list[str] = []
        async with database._acquired(database._primary) as connection:
            await connection.fetch(
                "SELECT $1::bigint[]", [1]
            )  # asyncpg learns the type once on each connection
            connection.add_query_logger(lambda logged: statements.append(logged.query.split()[0]))

        async def taken_by(work: Effect[object, object]) -> list[str]:
            statements.clear()
            await work.or_raise()
            return [*statements]

        yield database, taken_by


async def test_few_round_trips_are_taken_for_messages(
    one_connection: tuple[Database, StatementsOf],
) -> None:
    database, taken_by = one_connection
    repository = PostgresMessageRepository(database)
    assert await taken_by(repository.append(batch("c", "1", "2", "3"))) == ["SELECT", "WITH"]
    assert await taken_by(repository.append(batch("c", "4"))) == ["WITH"]  # its state is kept
    waiting = [repository.append(batch("c" if n % 2 else f"c{n}", f"of {n}")) for n in range(64)]
    groups = 2  # each of half of the conversations, as no other group is written when they come
    assert await taken_by(Effect.all(waiting, concurrency=64)) == groups * ["SELECT", "WITH"]
    assert await taken_by(repository.page(PageQuery("c", "model", limit=20))) == ["SELECT"]
    assert await stored_ids(repository, "c") == [*"1234", *(f"of {n}" for n in range(1, 64, 2))]


async def test_reads_go_to_the_reader_and_work_is_sought_where_it_is_written(dsn: str) -> None:
    """Another store stands in for a replica that lags as far behind as one can."""
    async with (
        copied_store() as replica,
        open_database(PostgresSettings(dsn=dsn, reader_dsn=replica)) as database,
    ):
        repository = PostgresMessageRepository(database)
        await repository.append(batch("c", "1", is_due=True)).or_raise()
        assert await repository.page(PageQuery("c", "full")).or_raise() is None
        assert await repository.conversation("c").or_raise() is None
        assert (await repository.append(batch("c", "1")).or_raise()).duplicates == ("1",)
        assert await repository.claim_work(now=START, lease_id="a", lease_until=START).or_raise() is not None


MING = Namespace("小明")
SPACE = EmbeddingSpace("模型", 3)


async def test_the_longest_names_are_kept_and_found(memories: PostgresMemoryRepository) -> None:
    """No index row may hold two of them: no two of these characters are alike, so nothing is packed."""
    user, app, id_, key, session, model, message, path, attribute = (
        "".join(chr(0x20000 + 600 * place + offset) for offset in range(512)) for place in range(9)
    )
    namespace, space = Namespace(user, app), EmbeddingSpace(model, 3)
    draft = remembered(
        id_,
        namespace=namespace,
        key=key,
        **PUT,
        session_id=session,
        attribute=attribute,
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
        Use(
            namespace=namespace,
            memory_ids=(id_,),
            use_id=user,
            session_id=session,
            now=START,
            promote_after=1,
        )
    ).or_raise()
    assert used.used == 1
    assert await memories.value(namespace, key).or_raise() == await memories.get(namespace, id_).or_raise()
    newer = remembered("newer", namespace=namespace, key=key, **PUT)
    assert await memories.store((newer,)).or_raise() == (Stored("newer", superseded=(id_,)),)
    forgotten = await memories.forget(Forgetting(namespace, session_id=session, path=path)).or_raise()
    assert (forgotten.memories, forgotten.embeddings) == (1, 1)


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


async def test_few_round_trips_are_taken_for_memories_and_items(
    one_connection: tuple[Database, StatementsOf],
) -> None:
    database, taken_by = one_connection
    memories = PostgresMemoryRepository(database)
    drafts = [
        remembered(f"{k}", namespace=MING, space=SPACE, vector=unit(1, k, 0), dedup_key=dedup_key(f"{k}"))
        for k in range(100)
    ]
    await memories.store(tuple(drafts[:1])).or_raise()
    # What is known of users, ids, spaces and what is true; then all the rows.
    assert await taken_by(memories.store(tuple(drafts))) == ["SELECT", "WITH"]
    each = [(evolve(draft, id=f"again {draft.id}", dedup_key=None),) for draft in drafts]
    both = Effect.all([memories.store(one) for one in each], concurrency=len(each))
    assert await taken_by(both) == ["SELECT", "WITH"]
    query = MemorySearch(MING, "绿茶", ("绿茶",), SPACE, unit(1, 0, 0))
    assert await taken_by(memories.search(query)) == ["WITH"]
    assert await taken_by(memories.get(MING, "1")) == ["SELECT"]
    assert await taken_by(memories.list(MemoryListing(MING, limit=9))) == ["SELECT"]
    items = PostgresItemRepository(database)
    assert await taken_by(items.search(ItemSearch((), limit=9), now=START)) == ["SELECT"]


async def test_a_recall_among_many_takes_one_round_trip_and_counts_after_changes_alone(
    one_connection: tuple[Database, StatementsOf],
) -> None:
    database, taken_by = one_connection
    memories, other = PostgresMemoryRepository(database), PostgresMemoryRepository(database)
    number = FEW_MEMORIES + 1
    drafts = [remembered(f"{k}", namespace=MING, content=f"绿茶 {k}") for k in range(number)]
    await memories.store(tuple(drafts)).or_raise()
    query = MemorySearch(MING, "绿茶", ("绿茶",))
    assert await taken_by(memories.search(query)) == ["WITH", "WITH"]  # what fits is found out
    assert await taken_by(memories.search(query)) == ["WITH"]
    # Removed in a way that no program has, so that nothing says that the user's memories have changed.
    await database.read(
        "remove", lambda lent: lent.fetch("DELETE FROM atomic_memory WHERE memory_id = '7'")
    ).or_raise()
    assert (await memories.search(query).or_raise()).coverage == Coverage(embedded=0, memories=number)
    for changes, of_two in enumerate((False, True)):
        others = [remembered("her", namespace=Namespace("小红"))] if of_two else []
        await other.store((*others, remembered(f"new {changes}", namespace=MING))).or_raise()
        coverage = (await memories.search(query).or_raise()).coverage
        assert coverage == Coverage(embedded=0, memories=number + changes)


async def test_a_plan_is_made_for_each_call_where_it_depends_on_the_arguments(
    one_connection: tuple[Database, StatementsOf],
) -> None:
    """After five calls, the server would otherwise take a plan that serves whatever the arguments are."""
    database, _ = one_connection
    memories, items = PostgresMemoryRepository(database), PostgresItemRepository(database)
    drafts = [remembered(f"{k}", namespace=MING) for k in range(FEW_MEMORIES + 1)]
    await memories.store(tuple(drafts)).or_raise()
    calls: list[Effect[Any, Any]] = [
        memories.list(MemoryListing(MING, limit=9)),
        memories.list(MemoryListing(MING, limit=9, has_attribute=True)),
        memories.count(MemoryListing(MING, limit=9)),
        memories.reach(MING, 9),
        memories.unembedded(MING, SPACE, limit=9),
        memories.search(MemorySearch(MING, "绿茶", ("绿茶",))),
        items.search(ItemSearch((), limit=9), now=START),
    ]
    for _ in range(9):
        for call in calls:
            await call.or_raise()
    planned = "SELECT generic_plans FROM pg_prepared_statements WHERE generic_plans + custom_plans = 9"
    rows = await database.read("count", lambda lent: lent.fetch(planned)).or_raise()
    assert [row["generic_plans"] for row in rows] == [0] * len(calls)


async def test_a_snapshot_is_one_state_while_others_write(
    database: Database, memories: PostgresMemoryRepository
) -> None:
    async def look(connection: Any) -> list[int]:
        counts: list[int] = []
        for number in range(2):
            counts.append(len(await connection.fetch("SELECT FROM atomic_memory")))
            await memories.store((remembered(f"{number}", namespace=MING),)).or_raise()
        return counts

    assert await database.read_snapshot("look", look) == Success([0, 0])
    assert len(await memories.list(MemoryListing(MING, 9)).or_raise()) == 2


async def test_batches_of_the_same_users_do_not_wait_in_a_circle(dsn: str) -> None:
    def batches(database: Database, users: range) -> Effect[Any, Any]:
        memories = PostgresMemoryRepository(database)
        each = [
            [remembered(f"{users.start} {k}", namespace=Namespace(f"{user}")) for user in users]
            for k in range(20)
        ]
        return Effect.all([memories.store(tuple(batch)) for batch in each])

    settings = PostgresSettings(dsn=dsn)
    async with open_database(settings) as one, open_database(settings) as other:
        both = [batches(one, range(100)), batches(other, range(99, -1, -1))]
        await Effect.all(both, concurrency=2).or_raise()


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
    memories = PostgresMemoryRepository(database)
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
    await memories.record_use(
        Use(namespace=MING, memory_ids=("1",), use_id=secret, session_id=secret, now=START)
    ).or_raise()
    await memories.attach(MING, SPACE, (Attachment("1", 2, unit(0, 0, 1)),)).or_raise()
    receipt = await memories.forget(Forgetting(MING, memory_id="1")).or_raise()
    assert (receipt.memories, receipt.embeddings) == (1, 1)
    async with connected(dsn) as connection:
        for table in ("atomic_memory", "memory_version", "memory_embedding", "memory_use", "memory_user"):
            assert await connection.fetch(f"SELECT * FROM {table}") == []
    # A user that was forgotten comes back as a new one, with what he says then.
    again = evolve(draft, provenance=Provenance(("4",)))
    assert await memories.store((again,)).or_raise() == (Stored("1"),)


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    found = [] if data is None else data.resource_metrics[0].scope_metrics[0].metrics
    return {metric.name: list(metric.data.data_points) for metric in found}


async def test_connections_waits_and_groups_are_counted_where_there_is_a_provider(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pool_metrics.PoolMetrics.at_hand() is None
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(pool_metrics, "active_meter", lambda: provider.get_meter("chatmemory"))
    async with open_messages(dsn, pool_size=5) as repository:
        await asyncio.gather(*(repository.append(batch(f"秘密 {n}", "1")).or_raise() for n in range(20)))
        assert await stored_ids(repository, "秘密 1") == ["1"]
        seen = points(reader)
        states = {
            point.attributes["db.client.connection.state"]: point.value
            for point in seen["db.client.connection.count"]
        }
        assert states["used"] == 0
        assert states["idle"] >= 1
        assert [point.value for point in seen["db.client.connection.max"]] == [5]
        (size,) = seen["chatmemory.postgres.group.size"]
        assert size.sum == 20
        assert size.count < 20
        assert dict(size.attributes) == {"db.operation.name": "append messages"}
        (wait,) = seen["chatmemory.postgres.write.wait"]
        assert wait.count == 20
        assert seen["db.client.connection.wait_time"][0].count >= 2
        assert "秘密" not in str(seen)
    assert "db.client.connection.count" not in points(reader)
    provider.shutdown()
