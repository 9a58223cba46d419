"""On a distributed store writers lock rows: two that know nothing of each other, as behind two coordinators, lose nothing."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from chatmemory import Fork, MemorySearch, Namespace, Success
from chatmemory.items.item_repository import ItemChange, ItemName, ItemPut
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.row_locks import Owner, conversation_row, quoted, user_row
from chatmemory_layers.postgres.items.item_repository import PostgresItemRepository
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.empty_store import copied_store
from tests.fake_citus import spread_in_name
from tests.unit.postgres.beside import run_in
from tests.unit.said import batch, stored_ids

WRITERS, TIMES = 8, 6
HELD = """\
SELECT count(*) AS held FROM pg_locks JOIN pg_database ON pg_database.oid = database
WHERE locktype = 'advisory' AND datname = current_database()
"""


@pytest.fixture
async def dsn() -> AsyncGenerator[str]:
    async with copied_store() as address:
        await spread_in_name(address)
        yield address


@pytest.fixture
async def two(dsn: str) -> AsyncGenerator[tuple[Database, Database]]:
    settings = PostgresSettings(dsn=dsn, pool_size=4)
    async with open_database(settings) as one, open_database(settings) as other:
        yield one, other


async def test_no_advisory_lock_is_taken(two: tuple[Database, Database], dsn: str) -> None:
    async def look(_: object) -> Success[int]:
        return Success((await run_in(dsn, HELD))[0]["held"])

    for row in (conversation_row, user_row):
        assert await two[0].write("look", Owner("memories of u", row=row), look) == Success(0)


async def test_appends_of_two_to_one_new_conversation_are_there_in_order(
    two: tuple[Database, Database],
) -> None:
    repositories = [PostgresMessageRepository(database) for database in two]
    names = [f"{number}" for number in range(WRITERS)]

    async def write(name: str) -> None:
        repository = repositories[int(name) % 2]
        for number in range(TIMES):
            await repository.append(batch("it's \\ 一", f"{name}-{number}", is_due=True)).or_raise()

    await asyncio.gather(*map(write, names))
    ids = await stored_ids(repositories[0], "it's \\ 一")
    assert len(ids) == len(set(ids)) == WRITERS * TIMES
    for name in names:
        assert [id_ for id_ in ids if id_.startswith(f"{name}-")] == [
            f"{name}-{number}" for number in range(TIMES)
        ]


async def test_a_fork_waits_for_no_writer_of_its_parent(two: tuple[Database, Database]) -> None:
    await PostgresMessageRepository(two[0]).append(batch("parent", "1")).or_raise()

    async def fork(_: object) -> Success[object]:
        return Success(await PostgresMessageRepository(two[1]).fork(Fork("parent", "branch", None, START)))

    forked = (await two[0].write("hold", Owner("parent", row=conversation_row), fork)).unwrap()
    assert isinstance(forked, Success)


async def test_memories_and_items_are_changed_by_one_at_a_time(
    two: tuple[Database, Database],
) -> None:
    new, name = Namespace("新"), ItemName(("a",), "counter")

    def count() -> ItemChange[None]:
        (item,) = yield (name,)
        return (ItemPut(name, str(1 + int(item.value if item else "0"))),), None

    async def write(number: int) -> None:
        memories, items = PostgresMemoryRepository(two[number % 2]), PostgresItemRepository(two[number % 2])
        one = remembered(f"{number}", namespace=new, content="likes tea", terms="tea")
        await memories.store((one,)).or_raise()
        for _ in range(TIMES):
            await items.change(count, now=START).or_raise()

    await asyncio.gather(*map(write, range(WRITERS)))
    query = MemorySearch(new, "", ("tea",), None, None)
    found = await PostgresMemoryRepository(two[0]).search(query).or_raise()
    assert sorted(each.memory.id for each in found.found) == [f"{number}" for number in range(WRITERS)]
    (item,) = await PostgresItemRepository(two[1]).read((name,), now=START).or_raise()
    assert item is not None
    assert item.value == str(WRITERS * TIMES)


async def test_a_name_is_a_literal_whatever_it_holds(dsn: str) -> None:
    texts = ("", "it's", "\\", "\\'; DROP TABLE conversation; --", "一\n二", "$1 {key}")
    for setting in ("on", "off"):
        read = [f"SELECT {quoted(text)} AS text" for text in texts]
        asked = [
            await run_in(dsn, f"SET standard_conforming_strings = {setting}", statement) for statement in read
        ]
        assert [rows[0]["text"] for rows in asked] == [*texts]
