"""What graphs of LangGraph find in our checkpoints: where they stopped, in any process, what they were before, and what survives."""

import asyncio
import operator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph.graph", reason="pip install 'chatmemory-effect[langgraph]' langgraph")

from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.effect import Effect
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.integrations.labels import label_of, text_of
from chatmemory.integrations.langgraph import ChatMemorySaver, ChatMemoryStore, Retention
from chatmemory.integrations.langgraph.checkpoint_requests import OWNER
from chatmemory.integrations.langgraph.kept_checkpoints import KeptCheckpoint
from chatmemory.items.item_repository import ItemRepositoryTag, ItemSearch, StoredItem
from chatmemory_layers.stacks import Stack, embedded
from tests.for_each import for_each
from tests.integrations.adapter_endurance import AdapterEndurance

NOW = datetime(2026, 11, 24, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name, "checkpoint_ns": ""}}


THREAD = thread("线程 1.5")


class State(TypedDict):
    said: Annotated[list[str], operator.add]
    still: str


def asking_graph(**parts: Any) -> Any:
    def ask(state: State) -> dict[str, Any]:
        return {"said": [f"答：{interrupt('吃花生吗？')}"]}

    def end(state: State) -> dict[str, Any]:
        return {"said": [f"{len(state['said'])}"]}

    return StateGraph(State).add_sequence([ask, end]).add_edge(START, "ask").compile(**parts)


@pytest.fixture
def saver(threads: ThreadRuntime[Any]) -> ChatMemorySaver:
    return ChatMemorySaver(threads)


def items_of(runtime: ThreadRuntime[Any]) -> list[StoredItem]:
    search = ItemSearch((OWNER,), 10_000)
    now = runtime.run_blocking(Effect.service(ClockTag)).unwrap().now()
    finding = ItemRepositoryTag.use(lambda items: items.search(search, now=now))
    return [*runtime.run_blocking(finding).unwrap()]


def checkpoint_of(values: dict[str, Any]) -> Any:
    """Return a checkpoint in which each channel has the version that is its value."""
    own = {"id": str(uuid6()), "channel_values": values, "channel_versions": {**values}}
    return {**empty_checkpoint(), **own}


def put(saver: BaseCheckpointSaver[Any], after: Any = THREAD, **values: str) -> Any:
    before = {}
    if (found := saver.get_tuple(after)) is not None and "checkpoint_id" in after["configurable"]:
        before = found.checkpoint["channel_versions"]
    new = {name: version for name, version in values.items() if before.get(name) != version}
    return saver.put(after, checkpoint_of(values), {"source": "loop", "step": 1, "parents": {}}, new)


def ids(saver: BaseCheckpointSaver[Any], config: Any = THREAD) -> list[str]:
    return [each.config["configurable"]["checkpoint_id"] for each in saver.list(config)]


def id_of(config: Any) -> str:
    return str(config["configurable"]["checkpoint_id"])


def test_a_graph_that_was_interrupted_goes_on_in_another_runtime(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with ThreadRuntime(embedded(path)) as runtime:
        graph = asking_graph(checkpointer=ChatMemorySaver(runtime))
        asked = graph.invoke({"said": ["问"], "still": "甲"}, THREAD)
        assert asked["__interrupt__"][0].value == "吃花生吗？"
    with ThreadRuntime(embedded(path)) as runtime:
        graph = asking_graph(checkpointer=ChatMemorySaver(runtime))
        assert graph.get_state(THREAD).next == ("ask",)
        assert graph.invoke(Command(resume="不"), THREAD)["said"] == ["问", "答：不", "2"]
        history = [state.values.get("said", []) for state in graph.get_state_history(THREAD)]
        assert history == [["问", "答：不", "2"], ["问", "答：不"], ["问"], []]


@pytest.mark.parametrize("kind", [ManagedRuntime, ThreadRuntime])
async def test_going_back_in_time_makes_a_branch_that_leaves_the_other_one_as_it_was(
    every_stack: Stack, kind: type[ManagedRuntime[Any] | ThreadRuntime[Any]]
) -> None:
    async with kind(every_stack) as runtime:
        graph = asking_graph(checkpointer=ChatMemorySaver(runtime))
        await graph.ainvoke({"said": ["问"], "still": "甲"}, THREAD)
        await graph.ainvoke(Command(resume="不"), THREAD)
        ended, asked = [state async for state in graph.aget_state_history(THREAD)][:3:2]
        branch = await graph.aupdate_state(asked.config, {"said": ["另问"]}, as_node="ask")
        assert (await graph.ainvoke(None, branch))["said"] == ["问", "另问", "2"]
        assert (await graph.aget_state(ended.config)).values["said"] == ["问", "答：不", "2"]


def test_a_value_that_stays_is_stored_once(threads: ThreadRuntime[Any]) -> None:
    saver = ChatMemorySaver(threads)
    config = THREAD
    for number in range(5):
        config = put(saver, config, still="甲", step=f"{number}")
    values = [
        text_of(item.name.namespace[5]) for item in items_of(threads) if item.name.namespace[4] == "channel"
    ]
    assert sorted(values) == ["step"] * 5 + ["still"]
    assert [each.checkpoint["channel_values"]["step"] for each in saver.list(THREAD)] == list("43210")


def test_a_checkpoint_is_whole_even_if_the_one_before_it_was_removed_meanwhile(
    saver: ChatMemorySaver,
) -> None:
    first = put(saver, still="甲", step="0")
    found = saver.get_tuple(first)
    assert found is not None
    saver.delete_thread("线程 1.5")
    checkpoint: Any = {**found.checkpoint, "id": str(uuid6())}
    checkpoint["channel_versions"] = {"still": "甲", "step": "1"}
    later = saver.put(first, checkpoint, found.metadata, {"step": "1"})
    assert saver.get(later) == checkpoint


def test_a_thread_is_copied_and_deleted_whole(threads: ThreadRuntime[Any]) -> None:
    saver = ChatMemorySaver(threads)
    graph = asking_graph(checkpointer=saver)
    graph.invoke({"said": ["问"], "still": "甲"}, THREAD)
    saver.copy_thread("线程 1.5", "副本")
    saver.delete_thread("线程 1.5")
    assert graph.get_state(THREAD).values == {}
    copy: Any = {"configurable": {"thread_id": "副本"}}
    assert graph.invoke(Command(resume="不"), copy)["said"] == ["问", "答：不", "2"]
    saver.delete_thread("副本")
    assert items_of(threads) == []


def test_the_checkpoints_of_a_run_go_and_what_others_need_stays(threads: ThreadRuntime[Any]) -> None:
    saver = ChatMemorySaver(threads)
    runs: Any = [{**THREAD, "metadata": {"run_id": run}} for run in ("早", "晚")]
    first = put(saver, runs[0], still="甲", step="0")
    second = put(saver, {**first, "metadata": runs[1]["metadata"]}, still="甲", step="1")
    saver.delete_for_runs(["早"])
    assert ids(saver) == [id_of(second)]
    left = saver.get(THREAD)
    assert left is not None
    assert left["channel_values"] == {"still": "甲", "step": "1"}
    saver.delete_for_runs(["晚"])
    assert items_of(threads) == []


async def test_what_retention_lets_go_is_gone_with_its_values_and_the_newest_stays(tmp_path: Path) -> None:
    clock = TestClock(NOW)
    with ThreadRuntime(embedded(tmp_path / "a.db", clock=clock)) as runtime:
        saver = ChatMemorySaver(runtime, retention=Retention(keep_last=3))
        config = THREAD
        for number in range(30):
            config = put(saver, config, still="甲", step=f"{number}")
            assert len(ids(saver)) <= 6
        assert len(items_of(runtime)) < 30
        assert saver.get(config) is not None
        saver.sweep()
        kept = [each.checkpoint["channel_values"]["step"] for each in saver.list(THREAD)]
        assert kept == ["29", "28", "27"]
        brief = ChatMemorySaver(runtime, retention=Retention(keep_for=MINUTE))
        await clock.advance(60)
        assert brief.sweep() == 2
        assert ids(brief) == [id_of(config)]


async def test_a_thread_whose_time_is_over_is_gone_and_does_not_come_back(tmp_path: Path) -> None:
    clock = TestClock(NOW)
    with ThreadRuntime(embedded(tmp_path / "a.db", clock=clock)) as runtime:
        saver = ChatMemorySaver(runtime, retention=Retention(thread_ttl=MINUTE))
        first = put(saver, still="甲")
        await clock.advance(59)
        second = put(saver, first, still="甲")
        await clock.advance(59)
        assert ids(saver) == [id_of(second), id_of(first)]
        await clock.advance(1)
        assert (saver.get_tuple(THREAD), saver.get_tuple(first), ids(saver)) == (None, None, [])
        third = put(saver, still="乙")
        assert ids(saver) == [id_of(third)]
        await clock.advance(60)
        assert saver.sweep() == 1
        assert items_of(runtime) == []


def test_a_checkpoint_that_newer_ones_are_rebuilt_from_stays_with_them() -> None:
    def kept(parent: str | None, **held: str) -> tuple[KeptCheckpoint, datetime]:
        return KeptCheckpoint(("", ""), ("", ""), parent, held, ["delta"]), NOW

    line = {"1": kept(None, delta="1"), "2": kept("1", delta="2"), "3": kept("2"), "4": kept("3")}
    assert Retention(keep_last=1).surplus(line, NOW) == {"1"}


def test_a_serializer_that_encrypts_leaves_nothing_to_read(threads: ThreadRuntime[Any]) -> None:
    class Turned:
        def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
            return "turned", bytes(255 - each for each in plaintext)

        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            return bytes(255 - each for each in ciphertext)

    saver = ChatMemorySaver(threads, serde=EncryptedSerializer(Turned()))
    config = put(saver, still="secret")
    saver.put_writes(config, [("still", "secret")], "task")
    found = saver.get_tuple(THREAD)
    assert found is not None
    assert found.pending_writes == [("task", "still", "secret")]
    kept = [KeptCheckpoint.of(item.value) for item in items_of(threads) if item.name.key == "checkpoint"]
    assert kept[0].checkpoint[0] == kept[0].metadata[0] == "msgpack+turned"
    plain = ChatMemorySaver(threads)
    with pytest.raises(Exception, match=r"."):
        plain.get_tuple(THREAD)


@for_each("name", ["", ".", "%", "%2E", "a.b\0c", "梅|child:1"])
def test_any_text_is_a_label_and_comes_back(name: str) -> None:
    assert "." not in label_of(name)
    assert label_of(name)
    assert text_of(label_of(name)) == name


async def test_nodes_that_are_no_coroutines_reach_store_and_saver_of_either_runtime(
    every_stack: Stack,
) -> None:
    for kind in (ManagedRuntime, ThreadRuntime):
        async with kind(every_stack) as runtime:

            def remember(state: State, *, store: BaseStore) -> dict[str, Any]:
                store.put(("梅",), "饮食", {"text": "花生"})
                found = store.get(("梅",), "饮食")
                return {"said": [] if found is None else [found.value["text"]]}

            builder = StateGraph(State).add_node("remember", remember).add_edge(START, "remember")
            graph = builder.compile(store=ChatMemoryStore(runtime), checkpointer=ChatMemorySaver(runtime))
            assert (await graph.ainvoke({"said": [], "still": ""}, THREAD))["said"][-1] == "花生"


def test_what_is_wrong_is_refused(saver: ChatMemorySaver) -> None:
    with pytest.raises(ValueError, match="a checkpoint belongs to a thread"):
        saver.get_tuple({"configurable": {}})
    with pytest.raises(ValueError, match="pruned by keep_latest or delete"):
        saver.prune(["a"], strategy="all")
    for wrong in ({"keep_last": 0}, {"keep_for": timedelta()}, {"thread_ttl": -MINUTE}):
        with pytest.raises(ValueError, match=r"1 or more|above 0"):
            Retention(**wrong)


async def test_twenty_graphs_at_once_end_as_one_after_the_other(runtime: ManagedRuntime[Any]) -> None:
    graph = asking_graph(checkpointer=ChatMemorySaver(runtime))
    configs: list[Any] = [{"configurable": {"thread_id": f"{number}"}} for number in range(20)]
    await asyncio.gather(*(graph.ainvoke({"said": ["问"], "still": "甲"}, config) for config in configs))
    answers = [Command(resume=f"{number}") for number in range(20)]
    ends = await asyncio.gather(*map(graph.ainvoke, answers, configs))
    assert [end["said"] for end in ends] == [["问", f"答：{number}", "2"] for number in range(20)]


class TestSaver(AdapterEndurance):
    """A batch is a checkpoint with the new values of three channels."""

    adapter = staticmethod(ChatMemorySaver)

    async def write(self, adapter: ChatMemorySaver, name: str, number: int) -> None:
        values: Any = dict.fromkeys("甲乙丙", number)
        await adapter.aput(thread(name), checkpoint_of(values), {}, values)

    async def numbers(self, adapter: ChatMemorySaver, name: str) -> list[int]:
        found = [each.checkpoint["channel_values"] async for each in adapter.alist(thread(name))]
        assert all([*values] == [*"甲乙丙"] and len({*values.values()}) == 1 for values in found), (
            "none is torn"
        )
        return [values["甲"] for values in reversed(found)]
