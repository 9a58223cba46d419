"""What PostgreSQL adds to the contract: its own limits, its own order, several writers, few round trips."""

import asyncio
from itertools import chain, count
from typing import Any

import pytest

from chatmemory.conversation.message_repository import MessageRepository, PageQuery
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.engine.row_locks import Place, conversation_row
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import run_on_server
from tests.empty_store import copied_store
from tests.unit.postgres.beside import name_of
from tests.unit.postgres.said import NOW, batch, draft, stored, stored_ids, summary

WRITERS, BATCHES, SIZE = 8, 25, 4


async def write(repository: MessageRepository, writer: int) -> None:
    for number in range(BATCHES):
        ids = [f"{writer}-{number}-{k}" for k in range(SIZE)]
        await repository.append(batch("相同的对话", *ids)).or_raise()


async def test_many_writers_of_one_conversation_stand_in_line_whatever_isolation_the_database_prefers(
    own_dsn: str,
) -> None:
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


async def test_a_conversation_that_many_write_to_leaves_connections_for_the_others(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn, pool_size=2)) as database:
        repository = PostgresMessageRepository(database)
        blocked, go_on = asyncio.Event(), asyncio.Event()

        async def wait(*_: Any) -> Any:
            blocked.set()
            await go_on.wait()
            msg = "nothing was to be written"
            raise AssertionError(msg)

        slow = asyncio.create_task(database.write("wait", Place("hot", row=conversation_row), wait))
        await blocked.wait()
        waiting = [asyncio.create_task(repository.append(batch("hot", f"{n}")).or_raise()) for n in range(10)]
        await repository.append(batch("cold", "1")).or_raise()
        go_on.set()
        with pytest.raises(AssertionError, match="nothing was to be written"):
            await slow
        await asyncio.gather(*waiting)
        assert await stored_ids(repository, "hot") == [f"{n}" for n in range(10)]


async def test_the_longest_ids_are_kept_and_found(repository: PostgresMessageRepository) -> None:
    """Neither fits an index row together with the other: no two of these characters are alike, so nothing is packed."""
    conversation_id, message_id = (
        "".join(chr(0x20000 + offset + k) for k in range(512)) for offset in (0, 600)
    )
    await repository.append(batch(conversation_id, message_id, "2", is_due=True)).or_raise()
    again = await repository.append(batch(conversation_id, message_id)).or_raise()
    assert again.duplicates == (message_id,)
    done = await repository.summarize(summary(conversation_id, "s", message_id, "2", at_version=1)).or_raise()
    assert done.view_count == 1
    assert len(await repository.summarizations_of(conversation_id, message_id).or_raise()) == 1


async def test_metadata_comes_back_to_the_letter(repository: PostgresMessageRepository) -> None:
    metadata = {"z": 1, "a": 1.0, "é": [True, None, 10**300, 1e-7], "": {"\\u0000": '"', "中": "\\"}}
    await repository.append(batch("c", draft("1", metadata=metadata))).or_raise()
    (message,) = await stored(repository, "c")
    assert repr(message.metadata) == repr(metadata)


async def test_an_append_takes_two_round_trips_those_that_wait_together_one_and_a_page_one(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn, pool_size=1)) as database:
        repository = PostgresMessageRepository(database)
        statements: list[str] = []
        async with database._lend(database._primary) as connection:
            connection.add_query_logger(lambda logged: statements.append(logged.query.split()[0]))
        await repository.append(batch("c", "1", "2", "3")).or_raise()
        assert statements == ["SELECT", "WITH"]
        statements.clear()
        await repository.append(batch("c", "4")).or_raise()  # its state is kept
        assert statements == ["WITH"]
        statements.clear()
        waiting = [batch("c" if n % 2 else f"c{n}", f"of {n}") for n in range(64)]
        await asyncio.gather(*(repository.append(each).or_raise() for each in waiting))
        assert statements == ["SELECT", "WITH"]
        statements.clear()
        await repository.page(PageQuery("c", "model", limit=20)).or_raise()
        assert statements == ["SELECT"]
        assert await stored_ids(repository, "c") == [*"1234", *(f"of {n}" for n in range(1, 64, 2))]


async def test_two_workers_never_hold_the_same_work(dsn: str) -> None:
    settings = PostgresSettings(dsn=dsn)
    async with open_database(settings) as one, open_database(settings) as other:
        stores = [PostgresMessageRepository(database) for database in (one, other)]
        for number in range(40):
            await stores[0].append(batch(f"c{number}", "1", is_due=True)).or_raise()

        async def work(worker: int) -> list[str]:
            held: list[str] = []
            while (
                claimed := await stores[worker % 2]
                .claim_work(now=NOW, lease_id=f"worker {worker}", lease_until=NOW.replace(hour=1))
                .or_raise()
            ):
                held.append(claimed.conversation_id)
            return held

        held = await asyncio.gather(*map(work, range(6)))
    assert sorted(chain.from_iterable(held)) == sorted(f"c{number}" for number in range(40))


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
        assert await repository.claim_work(now=NOW, lease_id="a", lease_until=NOW).or_raise() is not None
