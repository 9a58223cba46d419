"""Every backend keeps items alike: names, order, filters, words and vectors, lifetimes."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatmemory.effect import Layer, ManagedRuntime, Success
from chatmemory.items.item_condition import Condition
from chatmemory.items.item_repository import (
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
)
from chatmemory.settings.memory_settings import (
    PostgresSettings,
    PostgresSettingsTag,
    SqliteSettings,
    SqliteSettingsTag,
)
from chatmemory_layers.in_memory.item_repository import item_repository as in_memory_items
from chatmemory_layers.postgres.engine.database import database as postgres_database
from chatmemory_layers.postgres.items.item_repository import item_repository as postgres_items
from chatmemory_layers.sqlite.engine.database import database as sqlite_database
from chatmemory_layers.sqlite.items.item_repository import item_repository as sqlite_items
from tests.empty_store import empty_store

NOW = datetime(2026, 11, 22, 9, 30, 0, 123456, tzinfo=UTC)
SECOND = timedelta(seconds=1)
USER = ("用户", "安娜")


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def items(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[ItemRepository]:
    layer: Layer[ItemRepositoryTag, Any]
    async with AsyncExitStack() as stack:
        match request.param:
            case "in_memory":
                layer = in_memory_items
            case "sqlite":
                settings = SqliteSettings(path=str(tmp_path / "项目.db"))
                layer = Layer.succeed(SqliteSettingsTag, settings) >> sqlite_database >> sqlite_items
            case _:
                dsn = await stack.enter_async_context(empty_store())
                server = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn))
                layer = server >> postgres_database >> postgres_items
        runtime = await stack.enter_async_context(ManagedRuntime(layer))
        yield await runtime.service(ItemRepositoryTag)


def put(key: str, value: object, namespace: Labels = USER, **rest: Any) -> ItemPut:
    return ItemPut(ItemName(namespace, key), json.dumps(value, ensure_ascii=False), **rest)


def gone(key: str, namespace: Labels = USER) -> ItemPut:
    return ItemPut(ItemName(namespace, key), None)


def unit(*numbers: float) -> Any:
    return np.array(numbers, dtype=np.float32) / np.float32(np.linalg.norm(numbers))


async def keys(items: ItemRepository, search: ItemSearch, now: datetime = NOW) -> list[str]:
    return [item.name.key for item in (await items.search(search, now=now)).unwrap()]


async def test_what_is_put_comes_back_and_keeps_the_time_of_its_first_put(items: ItemRepository) -> None:
    await items.write((put("颜色", {"喜欢": "蓝"}),), now=NOW)
    await items.write((put("颜色", {"喜欢": "绿"}),), now=NOW + SECOND)
    item, none = (
        await items.read((ItemName(USER, "颜色"), ItemName(USER, "colour")), now=NOW + SECOND)
    ).unwrap()
    assert none is None
    assert item is not None
    assert json.loads(item.value) == {"喜欢": "绿"}
    assert (item.created_at, item.updated_at) == (NOW, NOW + SECOND)


async def test_of_one_name_in_a_batch_the_last_counts(items: ItemRepository) -> None:
    await items.write((put("a", 1), put("b", 2), put("a", 3), gone("b")), now=NOW)
    found = (await items.search(ItemSearch((), 10), now=NOW)).unwrap()
    assert [(item.name.key, item.value) for item in found] == [("a", "3")]


async def test_the_newest_put_is_first_and_pages_do_not_overlap(items: ItemRepository) -> None:
    for number, key in enumerate(["a", "b", "c", "a"]):
        await items.write((put(key, number),), now=NOW + number * SECOND)
    later = NOW + 9 * SECOND
    assert await keys(items, ItemSearch(USER, 2), later) == ["a", "c"]
    assert await keys(items, ItemSearch(USER, 2, 2), later) == ["b"]


async def test_a_prefix_means_whole_labels_as_they_are_written(items: ItemRepository) -> None:
    namespaces: list[Labels] = [("a",), ("ab",), ("a", "b"), ("A",), ("a*",), ("a/", "b"), ("a-", "b")]
    for namespace in namespaces:
        await items.write((put("key", 1, namespace),), now=NOW)
    below = (await items.search(ItemSearch(("a",), 10), now=NOW)).unwrap()
    assert {item.name.namespace for item in below} == {("a",), ("a", "b")}
    assert (await items.namespaces(("a",), now=NOW)).unwrap() == (("a",), ("a", "b"))
    assert set((await items.namespaces((), now=NOW)).unwrap()) == set(namespaces)


async def test_a_filter_takes_as_many_as_the_page_wants(items: ItemRepository) -> None:
    await items.write(
        tuple([put(f"{number:04}", {"n": number, "百": number % 100}) for number in range(1200)]), now=NOW
    )
    search = ItemSearch(USER, 3, 2, conditions=(Condition("百", "is", 0),))
    found = (await items.search(search, now=NOW)).unwrap()
    assert len(found) == 3
    assert all(json.loads(item.value)["n"] % 100 == 0 for item in found)
    assert await keys(items, ItemSearch(USER, 9, conditions=(Condition("n", "is", 0),))) == ["0000"]


async def test_words_and_vectors_both_find(items: ItemRepository) -> None:
    await items.write(
        (
            put("words", 1, terms="小狗 狗", model="m", vectors=(unit(0, 1),)),
            put("near", 2, terms="cat", model="m", vectors=(unit(1, 0.1), unit(-1, 0))),
            put("neither", 3, terms="cat", model="m", vectors=(unit(0, 1),)),
            put("other model", 4, terms="cat", model="n", vectors=(unit(1, 0),)),
            put("unindexed", 5),
        ),
        now=NOW,
    )
    hybrid = ItemSearch(USER, 10, terms=("小狗",), model="m", vector=unit(1, 0))
    assert await keys(items, hybrid) == ["words", "near", "neither"]
    by_words = ItemSearch(USER, 10, terms=("小狗",))
    assert await keys(items, by_words) == ["words"]


async def test_without_words_the_score_is_the_cosine_of_the_best_passage(items: ItemRepository) -> None:
    await items.write(
        (
            put("a", {"n": 1}, model="m", vectors=(unit(0, 1), unit(1, 0))),
            put("b", {"n": 2}, model="m", vectors=(unit(1, 1),)),
            put("c", {"n": 3}, model="m", vectors=(unit(-1, 0),)),
        ),
        now=NOW,
    )
    found = (await items.search(ItemSearch(USER, 10, model="m", vector=unit(1, 0)), now=NOW)).unwrap()
    assert [item.name.key for item in found] == ["a", "b", "c"]
    assert [item.score for item in found] == pytest.approx([1.0, 0.5**0.5, -1.0], abs=1e-6)
    not_2 = Condition("n", "is not", 2)
    page = ItemSearch(USER, 1, 1, model="m", vector=unit(1, 0), conditions=(not_2,))
    assert await keys(items, page) == ["c"]


async def test_a_put_replaces_what_the_item_was_found_by(items: ItemRepository) -> None:
    await items.write((put("a", 1, terms="dog", model="m", vectors=(unit(1, 0), unit(0, 1))),), now=NOW)
    await items.write((put("a", 1, terms="cat", model="m", vectors=(unit(-1, 0),)),), now=NOW)
    assert await keys(items, ItemSearch(USER, 10, terms=("dog",))) == []
    (item,) = (await items.search(ItemSearch(USER, 10, model="m", vector=unit(0, 1)), now=NOW)).unwrap()
    assert item.score == pytest.approx(0.0)


async def test_an_item_is_gone_when_its_time_is_over(items: ItemRepository) -> None:
    name = ItemName(USER, "brief")
    await items.write((put("brief", 1, lifetime=2 * SECOND), put("lasting", 2)), now=NOW)
    await items.refresh((name, ItemName(USER, "lasting")), now=NOW + SECOND)
    assert (await items.sweep(now=NOW + 2 * SECOND)) == Success(0)
    (there,) = (await items.read((name,), now=NOW + 2 * SECOND)).unwrap()
    assert there is not None
    assert there.has_lifetime
    over = NOW + 3 * SECOND
    assert (await items.read((name,), now=over)) == Success((None,))
    assert await keys(items, ItemSearch(USER, 10), over) == ["lasting"]
    await items.refresh((name,), now=over)
    assert (await items.read((name,), now=over)) == Success((None,))
    assert (await items.sweep(now=over)) == Success(1)
    assert (await items.sweep(now=over)) == Success(0)


async def test_what_is_put_again_after_its_time_is_new(items: ItemRepository) -> None:
    await items.write((put("a", 1, lifetime=SECOND),), now=NOW)
    await items.write((put("a", 2),), now=NOW + 2 * SECOND)
    (item,) = (await items.read((ItemName(USER, "a"),), now=NOW + 9 * SECOND)).unwrap()
    assert item is not None
    assert item.created_at == NOW + 2 * SECOND


async def test_a_name_may_be_long_and_in_any_script(items: ItemRepository) -> None:
    name = ItemName(("名" * 3000, "😀"), "键" * 3000)
    await items.write((ItemPut(name, '"\\u0000"'),), now=NOW)
    (item,) = (await items.read((name,), now=NOW)).unwrap()
    assert item is not None
    assert (item.name, json.loads(item.value)) == (name, "\0")
    assert await keys(items, ItemSearch(("名" * 3000,), 10)) == [name.key]
    assert await keys(items, ItemSearch(("名" * 2999,), 10)) == []
