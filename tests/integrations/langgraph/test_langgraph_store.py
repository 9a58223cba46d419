"""What agents of LangGraph find in our store: by meaning and by words, in order, exactly as it was put."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.store.base", reason="pip install 'chatmemory-effect[langgraph]'")

from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.effect import Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory.integrations.langgraph.conditions import conditions
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory_layers.stacks import Stack, embedded

MEI = ("users", "梅")
FACTS = {
    "diet": {"text": "She is allergic to peanuts"},
    "work": {"text": "She works as a civil engineer in Hamburg"},
    "宠物": {"内容": "她养了一只叫豆豆的小狗"},
    "爱好": {"内容": "周末喜欢去山里徒步"},
}


@pytest.fixture
def store(tmp_path: Path) -> Generator[ChatMemoryStore]:
    with ThreadRuntime(embedded(tmp_path / "记忆.db")) as runtime:
        yield ChatMemoryStore(runtime)


@pytest.fixture
def every_store(every_stack: Stack) -> Generator[ChatMemoryStore]:
    with ThreadRuntime(every_stack) as runtime:
        yield ChatMemoryStore(runtime)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("Which foods must she avoid?", "diet"),
        ("What is her profession?", "work"),
        ("peanut", "diet"),
        ("她的狗叫什么名字？", "宠物"),
        ("徒步", "爱好"),
    ],
)
def test_what_is_put_is_found_by_meaning_and_by_words_without_any_configuration(
    store: ChatMemoryStore, query: str, key: str
) -> None:
    for name, value in FACTS.items():
        store.put(MEI, name, value)
    hits = store.search(MEI, query=query)
    assert hits[0].key == key
    assert hits[0].score is not None


@pytest.mark.parametrize(("query", "key"), [("peanuts", "diet"), ("徒步", "爱好")])
def test_the_words_of_a_query_have_half_of_the_score(store: ChatMemoryStore, query: str, key: str) -> None:
    for name, value in FACTS.items():
        store.put(MEI, name, value)
    best, *others = store.search(MEI, query=query)
    assert best.key == key
    assert best.score is not None
    assert best.score > 0.5, "a vector alone comes to half at most"
    assert all(other.score is not None and other.score <= 0.5 for other in others)


async def test_a_managed_runtime_serves_its_own_loop(tmp_path: Path) -> None:
    async with ManagedRuntime(embedded(tmp_path / "a.db")) as runtime:
        store = ChatMemoryStore(runtime)
        await store.aput(MEI, "饮食", {"对什么过敏": ["花生", 1, 1.0, None, True, {"嵌套": "\0\ud800"}]})
        item = await store.aget(MEI, "饮食")
        assert item is not None
        assert item.value == {"对什么过敏": ["花生", 1, 1.0, None, True, {"嵌套": "\0\ud800"}]}
        with pytest.raises(TypeError, match="give a ThreadRuntime"):
            store.get(MEI, "饮食")


async def test_a_call_that_blocks_is_answered_in_a_running_loop(store: ChatMemoryStore) -> None:
    await store.aput(MEI, "a", {"n": 1})
    item = store.get(MEI, "a")
    assert item is not None


def test_the_time_of_the_last_put_is_told_and_that_of_the_first_is_kept(store: ChatMemoryStore) -> None:
    store.put(MEI, "a", {"n": 1})
    first = store.get(MEI, "a")
    time.sleep(0.002)
    store.put(MEI, "a", {"n": 2})
    second = store.get(MEI, "a")
    assert first is not None
    assert second is not None
    assert first.created_at == first.updated_at == second.created_at < second.updated_at
    (found,) = store.search(MEI)
    assert (found.created_at, found.updated_at) == (second.created_at, second.updated_at)


def test_results_come_in_the_order_of_the_operations_and_of_what_was_there_before(
    every_store: ChatMemoryStore,
) -> None:
    every_store.put(MEI, "a", {"n": 1})
    results = every_store.batch(
        [
            PutOp(MEI, "a", {"n": 2}),
            GetOp(MEI, "a"),
            PutOp(MEI, "b", {"n": 3}),
            SearchOp(("users",), filter={"n": {"$lt": 2}}),
            ListNamespacesOp(),
            PutOp(MEI, "b", None),
            GetOp(MEI, "b"),
        ]
    )
    assert [type(result).__name__ for result in results] == [
        *("NoneType", "Item", "NoneType", "list", "list", "NoneType", "NoneType")
    ]
    assert results[1].value == {"n": 1}
    assert [item.key for item in every_store.search(MEI)] == ["a"]


@pytest.mark.parametrize("bad", [{"a": object()}, {"a": {1, 2}}])
def test_a_batch_with_something_that_is_no_json_stores_nothing(
    every_store: ChatMemoryStore, bad: Any
) -> None:
    with pytest.raises(TypeError):
        every_store.batch([PutOp(MEI, "good", {"n": 1}), PutOp(MEI, "bad", bad)])
    assert every_store.search(()) == []


@pytest.mark.parametrize("key", ["\ud800", "a\0b"])
def test_a_key_that_no_store_can_hold_is_refused(store: ChatMemoryStore, key: str) -> None:
    with pytest.raises(ValueError, match="a key has"):
        store.put(MEI, key, {"n": 1})


def test_a_filter_is_no_sql(every_store: ChatMemoryStore) -> None:
    every_store.put(MEI, "a", {"公开": True, "x') = 1 OR ('1": "odd", "deep": {"er": 1}})
    assert every_store.search(MEI, filter={"x') OR 1=1 --": "public"}) == []
    assert len(every_store.search(MEI, filter={"x') = 1 OR ('1": "odd", "公开": True, "deep.er": 1})) == 1


async def test_a_store_sees_its_own_items_and_not_those_of_others_beside_them(every_stack: Stack) -> None:
    others = ItemPut(ItemName(("googleAdk", "users"), "a"), '{"n": 1}', terms="花生")
    async with ThreadRuntime(every_stack) as runtime:
        items = await runtime.run(Effect.service(ItemRepositoryTag))
        now = (await runtime.run(Effect.service(ClockTag))).unwrap().now()
        await runtime.run(items.unwrap().write((others,), now=now))
        store = ChatMemoryStore(runtime)
        assert await store.asearch(()) == await store.asearch((), query="花生") == []
        assert await store.alist_namespaces() == []
        await store.aput(("googleAdk", "users"), "b", {"n": 1})
        (found,) = await store.asearch((), filter={"n": 1})
        assert (found.namespace, found.key) == (("googleAdk", "users"), "b")
        assert await store.alist_namespaces(suffix=("users",)) == [("googleAdk", "users")]
        assert await store.alist_namespaces(prefix=("*", "users"), max_depth=1) == [("googleAdk",)]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"n": 5.0}, True),
        ({"n": {"$gt": 4, "$lte": 5}}, True),
        ({"n": {"$lt": "6"}}, False),
        ({"yes": 1}, False),
        ({"yes": {"$ne": False}}, True),
        ({"missing": None}, True),
        ({"missing": {"$gte": 0}}, False),
        ({"名": {"$gte": "梅"}}, True),
        ({"list": [1, {"a": None}]}, True),
        ({"deep": {"a": 1}}, False),
    ],
)
def test_a_filter_compares_as_json_does(condition: dict[str, Any], holds: bool) -> None:
    value = {"n": 5, "yes": True, "名": "梅", "list": [1, {"a": None}], "deep": {"a": 1, "b": 2}}
    assert all(each.holds(value) for each in conditions(condition)) is holds


def test_an_unknown_operator_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match=r"Unsupported operator: \$like"):
        conditions({"a": {"$like": "x"}})


def test_a_read_begins_the_time_of_an_item_anew_unless_it_says_otherwise(tmp_path: Path) -> None:
    with ThreadRuntime(embedded(tmp_path / "a.db")) as runtime:
        store = ChatMemoryStore(runtime, ttl={"default_ttl": 0.6 / 60})
        store.put(MEI, "read", {})
        store.put(MEI, "unread", {})
        store.put(MEI, "lasting", {}, ttl=None)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            assert store.get(MEI, "read") is not None
            store.get(MEI, "unread", refresh_ttl=False)
            time.sleep(0.05)
        assert store.get(MEI, "unread") is None
        assert {item.key for item in store.search(MEI)} == {"read", "lasting"}
        assert store.sweep_ttl() == 1


def test_the_users_own_embedding_function_alone_decides(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[float(text.count("a")), float(text.count("b"))] for text in texts]

    with ThreadRuntime(embedded(tmp_path / "a.db")) as runtime:
        store = ChatMemoryStore(runtime, index={"dims": 2, "embed": embed, "fields": ["text"]})
        store.put(MEI, "a", {"text": "aaa", "other": "bbb"})
        store.put(MEI, "b", {"text": "bbb", "other": "aaa"})
        store.put(MEI, "hidden", {"text": "aaa"}, index=False)
        store.put(MEI, "both", {"text": "bbb", "other": "aaa"}, index=["text", "other"])
        hits = store.search(MEI, query="a")
        assert [(hit.key, hit.score) for hit in hits] == [
            ("both", pytest.approx(1)),
            ("a", pytest.approx(1)),
            ("b", pytest.approx(0)),
        ]
        wrong = ChatMemoryStore(runtime, index={"dims": 3, "embed": embed})
        with pytest.raises(ValueError, match="2 numbers instead of 3"):
            wrong.put(MEI, "c", {"text": "a"})
        assert store.get(MEI, "c") is None


async def test_a_closed_runtime_is_told(tmp_path: Path) -> None:
    runtime = ThreadRuntime(embedded(tmp_path / "a.db"))
    store = ChatMemoryStore(runtime)
    await store.aput(MEI, "a", {})
    await asyncio.to_thread(runtime.close)
    with pytest.raises(RuntimeError, match="the runtime of this memory is closed"):
        await store.aget(MEI, "a")
