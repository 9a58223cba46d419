"""What agents of LangGraph find in our store: by meaning and by words, in order, exactly as it was put."""

import asyncio
import gc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

pytest.importorskip("langgraph.store.base", reason="pip install 'chatmemory-effect[langgraph]'")

from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.effect import Effect
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory.integrations.langgraph.values import conditions
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory.testing import TableEmbedder
from chatmemory_layers.stacks import Stack, embedded
from tests.for_each import for_each
from tests.integrations.adapter_endurance import AdapterEndurance

NOW = datetime(2026, 11, 24, tzinfo=UTC)
MEI = ("users", "梅")
FACTS = {
    "diet": {"text": "She is allergic to peanuts"},
    "work": {"text": "She works as a civil engineer in Hamburg"},
    "宠物": {"内容": "她养了一只叫豆豆的小狗"},
    "爱好": {"内容": "周末喜欢去山里徒步"},
}


@pytest.fixture
def store(threads: ThreadRuntime[Any]) -> ChatMemoryStore:
    return ChatMemoryStore(threads)


FOUND = {
    "Which foods must she avoid?": "diet",
    "What is her profession?": "work",
    "她的狗叫什么名字？": "宠物",
    "徒步": "爱好",
    "peanuts": "diet",
    "peanut": "diet",
}
WORDS = {"peanuts", "徒步"}  # that stand in one of the facts


def test_what_is_put_is_found_by_meaning_and_by_words_without_any_configuration(
    store: ChatMemoryStore,
) -> None:
    for name, value in FACTS.items():
        store.put(MEI, name, value)
    for query, key in FOUND.items():
        best, *others = store.search(MEI, query=query)
        assert best.key == key, query
        assert best.score is not None
        if query in WORDS:
            assert best.score > 0.5, "the words have half of the score, a vector alone comes to half at most"
            assert all(other.score is not None and other.score <= 0.5 for other in others)


def test_a_closed_loop_is_not_kept(store: ChatMemoryStore) -> None:
    loops = WeakSet[asyncio.AbstractEventLoop]()

    async def put_and_get() -> None:
        loops.add(asyncio.get_running_loop())
        await asyncio.gather(*[store.aput(MEI, name, value) for name, value in FACTS.items()])
        assert await store.aget(MEI, "diet") is not None

    for _ in range(3):
        asyncio.run(put_and_get())
    gc.collect()
    assert not loops


async def test_a_managed_runtime_serves_its_own_loop_and_threads_serve_any(
    runtime: ManagedRuntime[Any], store: ChatMemoryStore
) -> None:
    value = {"对什么过敏": ["花生", 1, 1.0, None, True, {"嵌套": "\0\ud800"}]}
    awaited = ChatMemoryStore(runtime)
    await awaited.aput(MEI, "饮食", value)
    item = await awaited.aget(MEI, "饮食")
    assert item is not None
    assert item.value == value
    with pytest.raises(TypeError, match="give a ThreadRuntime"):
        awaited.get(MEI, "饮食")
    await store.aput(MEI, "a", {"n": 1})
    assert store.get(MEI, "a") is not None, "a call that blocks is answered in a running loop"


def test_results_come_in_the_order_of_the_operations_and_of_what_was_there_before(
    store: ChatMemoryStore,
) -> None:
    store.put(MEI, "a", {"n": 1})
    asked = [PutOp(MEI, "a", {"n": 2}), GetOp(MEI, "a"), PutOp(MEI, "b", {"n": 3})]
    asked += [SearchOp(("users",), filter={"n": {"$lt": 2}}), ListNamespacesOp()]
    put, got, _, found, names, removed, missing = store.batch(
        [*asked, PutOp(MEI, "b", None), GetOp(MEI, "b")]
    )
    assert (put, removed, missing, got.value) == (None, None, None, {"n": 1})
    assert ([item.key for item in found], names) == (["a"], [MEI])
    assert [item.key for item in store.search(MEI)] == ["a"]


def test_a_batch_with_something_that_no_store_can_hold_stores_nothing(store: ChatMemoryStore) -> None:
    for bad in ({"a": object()}, {"a": {1, 2}}):
        with pytest.raises(TypeError):
            store.batch([PutOp(MEI, "good", {"n": 1}), PutOp(MEI, "bad", bad)])
    for key in ("\ud800", "a\0b"):
        with pytest.raises(ValueError, match="a key has"):
            store.put(MEI, key, {"n": 1})
    assert store.search(()) == []


def test_a_filter_is_no_sql(store: ChatMemoryStore) -> None:
    store.put(MEI, "a", {"公开": True, "x') = 1 OR ('1": "odd", "deep": {"er": 1}})
    assert store.search(MEI, filter={"x') OR 1=1 --": "public"}) == []
    assert len(store.search(MEI, filter={"x') = 1 OR ('1": "odd", "公开": True, "deep.er": 1})) == 1


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


@for_each(
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
    with pytest.raises(ValueError, match=r"Unsupported operator: \$like"):
        conditions({**condition, "a": {"$like": "x"}})
    with pytest.raises(ValueError, match="a whole field"):
        conditions({**condition, "a": {"b": {"$gt": 1}}})


async def test_a_put_tells_its_time_and_a_read_begins_the_time_of_an_item_anew(tmp_path: Path) -> None:
    clock = TestClock(NOW)
    with ThreadRuntime(embedded(tmp_path / "a.db", clock=clock)) as runtime:
        store = ChatMemoryStore(runtime, ttl={"default_ttl": 1})
        for key in ("read", "unread"):
            store.put(MEI, key, {})
        store.put(MEI, "lasting", {}, ttl=None)
        for _ in range(2):
            await clock.advance(40)
            assert store.get(MEI, "read") is not None
            store.get(MEI, "unread", refresh_ttl=False)
        assert store.get(MEI, "unread") is None
        assert {item.key for item in store.search(MEI)} == {"read", "lasting"}
        assert store.sweep_ttl() == 1
        store.put(MEI, "lasting", {"n": 2}, ttl=None)
        item, (found,) = store.get(MEI, "lasting"), store.search(MEI, filter={"n": 2})
        assert item is not None
        times = (NOW, NOW + timedelta(seconds=80))
        assert (item.created_at, item.updated_at) == (found.created_at, found.updated_at) == times


async def test_a_text_that_is_refused_leaves_others_their_vectors(tmp_path: Path) -> None:
    texts = {"tea": (1, 0), "coffee": (0, 1), "what to drink?": (1, 0)}
    embedder = TableEmbedder(table=texts)
    async with ManagedRuntime(embedded(tmp_path / "a.db", embedder=embedder)) as runtime:
        store = ChatMemoryStore(runtime)
        await store.aput(("u",), "first", {"text": "coffee"}, index=["text"])
        puts = ("tea", "unknown", "coffee")
        await asyncio.gather(*(store.aput(("u",), text, {"text": text}, index=["text"]) for text in puts))
        found = await store.asearch(("u",), query="what to drink?")
        assert [one.key for one in found if one.score] == ["tea"], "which shares no word"


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


class TestStore(AdapterEndurance):
    """A batch puts one key into three namespaces."""

    adapter = staticmethod(ChatMemoryStore)

    async def write(self, adapter: ChatMemoryStore, name: str, number: int) -> None:
        await adapter.abatch([PutOp((part, name), str(number), {"text": f"第{number}"}) for part in "甲乙丙"])

    async def numbers(self, adapter: ChatMemoryStore, name: str) -> list[int]:
        parts = [await adapter.asearch((part, name), limit=100_000) for part in "甲乙丙"]
        keys = [[item.key for item in items] for items in parts]
        assert set(keys[0]) == set(keys[1]) == set(keys[2]), "no batch is torn"
        return list(map(int, reversed(keys[0])))  # a search without a query gives the newest first
