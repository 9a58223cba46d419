"""What every backend does with items that no law says: large pages, long names, changes of two programs at once."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory.events.event_log import KeepsLog
from chatmemory.items.item_repository import (
    Condition,
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    StoredItem,
)
from chatmemory.laws.kit.samples import MINUTE
from chatmemory.laws.memories.memory_witness import unit
from chatmemory_layers import stacks
from tests.contract.conftest import NewStack

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
USER = ("用户", "安娜")
COUNT = ItemName(USER, "次数")
COPY = ItemName(USER, "副本")

Stores = tuple[ItemRepository, ItemRepository]


@pytest.fixture
async def stores(new_stack: NewStack) -> AsyncGenerator[Stores]:
    """Two doors to the same items: of two programs where a store has more than one."""
    async with ManagedRuntime(new_stack()) as one, ManagedRuntime(new_stack()) as another:
        first, second = [await runtime.service(ItemRepositoryTag) for runtime in (one, another)]
        yield first, first if new_stack is stacks.testing else second


def put(key: str, value: object, **rest: Any) -> ItemPut:
    return ItemPut(ItemName(USER, key), json.dumps(value, ensure_ascii=False), **rest)


async def keys(items: ItemRepository, search: ItemSearch) -> list[str]:
    return [item.name.key for item in (await items.search(search, now=NOW)).unwrap()]


async def test_a_filter_takes_as_many_as_the_page_wants(stores: Stores) -> None:
    items, _ = stores
    await items.write(
        tuple([put(f"{number:04}", {"n": number, "百": number % 100}) for number in range(1200)]), now=NOW
    )
    search = ItemSearch(USER, 3, 2, conditions=(Condition("百", "is", 0),))
    found = (await items.search(search, now=NOW)).unwrap()
    assert len(found) == 3
    assert all(json.loads(item.value)["n"] % 100 == 0 for item in found)
    assert await keys(items, ItemSearch(USER, 9, conditions=(Condition("n", "is", 0),))) == ["0000"]


async def test_words_and_vectors_both_decide_the_order_and_a_page_is_of_what_the_conditions_leave(
    stores: Stores,
) -> None:
    items, _ = stores
    await items.write(
        (
            put("words", {"n": 1}, terms="小狗 狗", model="m", vectors=(unit(0, 1),)),
            put("near", {"n": 2}, terms="cat", model="m", vectors=(unit(1, 0.1), unit(-1, 0))),
            put("neither", {"n": 3}, terms="cat", model="m", vectors=(unit(0, 1),)),
            put("other model", {"n": 4}, terms="cat", model="n", vectors=(unit(1, 0),)),
            put("unindexed", {"n": 5}),
        ),
        now=NOW,
    )
    hybrid = ItemSearch(USER, 10, terms=("小狗",), model="m", vector=unit(1, 0))
    assert await keys(items, hybrid) == ["words", "near", "neither"]
    not_2 = Condition("n", "is not", 2)
    page = ItemSearch(USER, 1, 1, terms=("小狗",), model="m", vector=unit(1, 0), conditions=(not_2,))
    assert await keys(items, page) == ["neither"]


async def test_a_name_may_be_long_and_in_any_script(stores: Stores) -> None:
    items, _ = stores
    name = ItemName(("名" * 3000, "😀"), "键" * 3000)
    await items.write((ItemPut(name, '"\\u0000"'),), now=NOW)
    (item,) = (await items.read((name,), now=NOW)).unwrap()
    assert item is not None
    assert (item.name, json.loads(item.value)) == (name, "\0")
    assert await keys(items, ItemSearch(("名" * 3000,), 10)) == [name.key]
    assert await keys(items, ItemSearch(("名" * 2999,), 10)) == []


def number(item: StoredItem | None) -> int:
    return 0 if item is None else int(json.loads(item.value))


def counted() -> ItemChange[int]:
    (item,) = yield (COUNT,)
    count = number(item) + 1
    return (ItemPut(COUNT, json.dumps(count)),), count


async def test_a_change_reads_as_often_as_it_likes_and_may_write_nothing(stores: Stores) -> None:
    def copied() -> ItemChange[str]:
        (copy,) = yield (COPY,)
        none = yield ()
        (item,) = yield (COUNT,)
        assert (copy, none) == (None, ())
        return () if item is None else (ItemPut(COPY, item.value), ItemPut(COUNT, None)), str(number(item))

    items, others = stores
    assert (await items.change(copied, now=NOW)).unwrap() == "0"
    assert (await items.change(counted, now=NOW)).unwrap() == 1
    assert (await others.change(counted, now=NOW)).unwrap() == 2
    assert (await items.change(copied, now=NOW)).unwrap() == "2"
    assert [number(item) for item in (await others.read((COUNT, COPY), now=NOW)).unwrap()] == [0, 2]


async def test_a_change_finds_what_it_does_not_know_by_name(stores: Stores) -> None:
    def emptied() -> ItemChange[int]:
        found = yield ItemSearch(USER, 100)
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


async def test_changes_of_two_programs_at_once_lose_nothing(stores: Stores) -> None:
    changes = [store.change(counted, now=NOW) for _ in range(20) for store in stores]
    answers = [outcome.unwrap() for outcome in await asyncio.gather(*changes)]
    assert sorted(answers) == list(range(1, 41))


async def test_steps_that_raise_change_nothing_and_harm_nobody_else(stores: Stores) -> None:
    def broken() -> ItemChange[int]:
        yield (COUNT,)
        raise ZeroDivisionError

    items, _ = stores
    all_steps: list[Callable[[], ItemChange[int]]] = [counted, broken, counted]
    writing = [asyncio.ensure_future(items.change(steps, now=NOW)) for steps in all_steps]
    first, failure, second = await asyncio.gather(*writing, return_exceptions=True)
    assert isinstance(failure, ZeroDivisionError)
    assert not isinstance(first, BaseException)
    assert not isinstance(second, BaseException)
    assert (first.unwrap(), second.unwrap()) == (1, 2)


async def test_pruning_the_log_removes_the_values_that_ended_before(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for store in ("sqlite", "postgres"):
        monkeypatch.setattr(f"chatmemory_layers.{store}.events.event_log.MOST_AT_ONCE", 2)  # in pieces
    items, _ = stores
    assert isinstance(items, KeepsLog)
    name = put("a", 0).name
    for minute in range(7):
        await items.write((put("a", minute, keeps_past=True),), now=NOW + minute * MINUTE)
    await items.log.prune(NOW + 6 * MINUTE).or_raise()
    earlier = [(await items.read((name,), now=NOW, as_of=version)).unwrap() for version in range(1, 8)]
    assert [found is not None for (found,) in earlier] == [False] * 5 + [True] * 2
