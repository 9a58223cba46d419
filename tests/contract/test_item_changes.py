"""Every backend changes items that have to be read first in one transaction: nobody writes between reading and writing."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory.items.item_condition import Condition
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    StoredItem,
)
from chatmemory_layers.stacks import embedded, postgres, testing as in_memory
from tests.empty_store import empty_store

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
COUNT = ItemName(("用户", "安娜"), "次数")
COPY = ItemName(("用户", "安娜"), "副本")


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def stores(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncGenerator[tuple[ItemRepository, ItemRepository]]:
    """Two doors to the same items: of two programs where a store has more than one."""
    async with AsyncExitStack() as stack:
        match request.param:
            case "in_memory":
                runtime = await stack.enter_async_context(ManagedRuntime(in_memory()))
                items = await runtime.service(ItemRepositoryTag)
                yield items, items
                return
            case "sqlite":
                layers = [embedded(tmp_path / "项目.db", durability="process") for _ in range(2)]
            case _:
                dsn = await stack.enter_async_context(empty_store())
                layers = [postgres(dsn) for _ in range(2)]
        runtimes = [await stack.enter_async_context(ManagedRuntime(layer)) for layer in layers]
        first, second = [await runtime.service(ItemRepositoryTag) for runtime in runtimes]
        yield first, second


def number(item: StoredItem | None) -> int:
    return 0 if item is None else int(json.loads(item.value))


def counted(by: int = 1) -> Callable[[], ItemChange[int]]:
    def steps() -> ItemChange[int]:
        (item,) = yield (COUNT,)
        count = number(item) + by
        return (ItemPut(COUNT, json.dumps(count)),), count

    return steps


async def test_what_is_read_decides_what_is_put_and_answered(
    stores: tuple[ItemRepository, ItemRepository],
) -> None:
    items, others = stores
    assert (await items.change(counted(by=5), now=NOW)).unwrap() == 5
    assert (await items.change(counted(by=2), now=NOW)).unwrap() == 7
    assert [number(item) for item in (await others.read((COUNT, COPY), now=NOW)).unwrap()] == [7, 0]


async def test_a_change_reads_as_often_as_it_likes_and_may_write_nothing(
    stores: tuple[ItemRepository, ItemRepository],
) -> None:
    def copied() -> ItemChange[str]:
        (copy,) = yield (COPY,)
        none = yield ()
        (item,) = yield (COUNT,)
        assert (copy, none) == (None, ())
        return () if item is None else (ItemPut(COPY, item.value), ItemPut(COUNT, None)), str(number(item))

    items, others = stores
    assert (await items.change(copied, now=NOW)).unwrap() == "0"
    (await items.change(counted(), now=NOW)).unwrap()
    assert (await items.change(copied, now=NOW)).unwrap() == "1"
    assert [number(item) for item in (await others.read((COUNT, COPY), now=NOW)).unwrap()] == [0, 1]


async def test_a_change_finds_what_it_does_not_know_by_name(
    stores: tuple[ItemRepository, ItemRepository],
) -> None:
    def emptied() -> ItemChange[int]:
        found = yield ItemSearch(("用户", "安娜"), 100)
        counts = yield ItemSearch(("用户",), 100, conditions=(Condition("n", "is", 1),))
        assert [item.value for item in counts if item is not None] == ['{"n": 1}']
        return tuple([ItemPut(item.name, None) for item in found if item is not None]), len(found)

    items, others = stores
    neighbour = ItemPut(ItemName(("用户", "安"), "次数"), "1")
    puts = (ItemPut(COUNT, '{"n": 1}'), ItemPut(COPY, '{"n": 2}'), neighbour)
    (await items.write(puts, now=NOW)).unwrap()
    assert (await items.change(emptied, now=NOW)).unwrap() == 2
    left = (await others.search(ItemSearch(("用户",), 100), now=NOW)).unwrap()
    assert [item.name for item in left] == [neighbour.name]


async def test_changes_of_two_programs_at_once_lose_nothing(
    stores: tuple[ItemRepository, ItemRepository],
) -> None:
    changes = [store.change(counted(), now=NOW) for _ in range(20) for store in stores]
    answers = [outcome.unwrap() for outcome in await asyncio.gather(*changes)]
    assert sorted(answers) == list(range(1, 41))


async def test_steps_that_raise_change_nothing_and_harm_nobody_else(
    stores: tuple[ItemRepository, ItemRepository],
) -> None:
    def broken() -> ItemChange[int]:
        yield (COUNT,)
        raise ZeroDivisionError

    items, _ = stores
    writing = [
        asyncio.ensure_future(items.change(steps, now=NOW)) for steps in (counted(), broken, counted())
    ]
    first, failure, second = await asyncio.gather(*writing, return_exceptions=True)
    assert isinstance(failure, ZeroDivisionError)
    assert not isinstance(first, BaseException)
    assert not isinstance(second, BaseException)
    assert (first.unwrap(), second.unwrap()) == (1, 2)
