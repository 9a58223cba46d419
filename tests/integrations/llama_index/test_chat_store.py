"""A chat store of LlamaIndex answers as the framework's own, from any thread and loop, and loses nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: the extra llama-index has it")

from hypothesis import given, settings, strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from pydantic import BaseModel

from chatmemory import (
    ChatMemoryService,
    ChatMessage as Stored,
    DataValidationError,
    ManagedRuntime,
    NewMessage,
    ThreadRuntime,
)
from chatmemory.effect import Runner
from chatmemory.integrations.llama_index import ChatMemoryChatStore
from chatmemory.integrations.llama_index.messages import RAISING
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags, Stack

ROOT = Path(__file__).parents[3]


@pytest.fixture
def runtime(every_stack: Stack) -> Iterator[ThreadRuntime[MemoryTags]]:
    with ThreadRuntime(every_stack) as runtime:
        yield runtime


@pytest.fixture
def store(runtime: ThreadRuntime[MemoryTags]) -> ChatMemoryChatStore:
    return ChatMemoryChatStore(runtime=runtime)


async def conversation(runtime: Runner[ChatMemoryService], key: str) -> Sequence[Stored]:
    return await RAISING.run(runtime, ChatMemoryService.use(lambda memory: memory.get_messages(key)))


async def version(runtime: Runner[ChatMemoryService], key: str) -> int:
    found = await RAISING.run(runtime, ChatMemoryService.use(lambda memory: memory.get_conversation(key)))
    return found.version


async def add(runtime: Runner[ChatMemoryService], key: str, *messages: NewMessage) -> None:
    await RAISING.run(runtime, ChatMemoryService.use(lambda memory: memory.add_messages(key, messages)))


def says(content: str, role: str = "user") -> ChatMessage:
    return ChatMessage(content, role=role)


def talk(*contents: str) -> list[ChatMessage]:
    return [says(content) for content in contents]


def contents(messages: Sequence[ChatMessage]) -> list[str | None]:
    return [message.content for message in messages]


# One call of each method with every argument that decides something, and its answer from the framework's own store.
Call = tuple[str, tuple[Any, ...]]
KEYS = st.sampled_from(["甲", "乙"])
MESSAGES = st.builds(says, st.sampled_from(["a", "你好", "c"]), st.sampled_from(["user", "assistant"]))
PLACES = st.integers(-4, 4)
CALLS = st.one_of(
    st.tuples(st.just("add_message"), st.tuples(KEYS, MESSAGES)),
    st.tuples(st.just("add_message"), st.tuples(KEYS, MESSAGES, PLACES)),
    st.tuples(st.just("set_messages"), st.tuples(KEYS, st.lists(MESSAGES, min_size=1, max_size=4))),
    st.tuples(st.just("delete_messages"), st.tuples(KEYS)),
    st.tuples(st.just("delete_message"), st.tuples(KEYS, PLACES)),
    st.tuples(st.just("delete_last_message"), st.tuples(KEYS)),
)


def theirs_answers(theirs: SimpleChatStore, name: str, args: tuple[Any, ...]) -> object:
    """Ask the framework's store; this release raises IndexError where its later ones return None."""
    try:
        copied = tuple(list(one) if isinstance(one, list) else one for one in args)
        return getattr(theirs, name)(*copied)
    except IndexError:
        return None


@settings(max_examples=60, deadline=None)
@given(calls=st.lists(CALLS, max_size=12))
def test_every_sequence_of_calls_is_answered_as_the_frameworks_own_store_answers(calls: list[Call]) -> None:
    with ThreadRuntime(stacks.testing()) as runtime:
        ours, theirs = ChatMemoryChatStore(runtime=runtime), SimpleChatStore()
        for name, args in calls:
            expected = (
                theirs_answers(theirs, name, args) or None
            )  # a list that is empty is a key that is unknown
            assert getattr(ours, name)(*args) == expected, name
            for key in ("甲", "乙"):
                assert ours.get_messages(key) == theirs.get_messages(key)
        kept = sorted(key for key in theirs.get_keys() if theirs.get_messages(key))
        assert ours.get_keys() == kept


async def test_the_awaited_methods_do_the_same(store: ChatMemoryChatStore) -> None:
    await store.aset_messages("甲", talk("a", "b", "c", "d"))
    await store.async_add_message("甲", says("e"))
    await store.async_add_message("甲", says("first"), 0)
    assert await store.adelete_message("甲", 1) == says("a")
    assert await store.adelete_message("甲", 9) is None
    assert await store.adelete_last_message("甲") == says("e")
    assert await store.aget_messages("甲") == talk("first", "b", "c", "d")
    assert await store.aget_keys() == ["甲"]
    assert await store.adelete_messages("甲") == talk("first", "b", "c", "d")
    assert await store.adelete_messages("甲") is None
    assert await store.aget_messages("甲") == []
    assert await store.adelete_last_message("甲") is None


async def test_a_key_that_was_emptied_can_be_written_in_every_way(store: ChatMemoryChatStore) -> None:
    for write in ("set", "insert", "add"):
        await store.aset_messages("甲", talk("a"))
        await store.adelete_messages("甲")
        match write:
            case "set":
                await store.aset_messages("甲", talk("b"))
            case "insert":
                await store.async_add_message("甲", says("b"), 0)
            case _:
                await store.async_add_message("甲", says("b"))
        assert await store.aget_messages("甲") == talk("b")


class FunctionCall(BaseModel):
    name: str


BLOCKS = [
    TextBlock(text="Look: \0 \ud800 你好"),
    ImageBlock(image=b"\x89PNG\r\n\x1a\n\x00\xff", detail="low"),
    ImageBlock(url="https://example.com/a.png"),
    AudioBlock(audio=b"RIFF\xff\x00", format="wav"),
    DocumentBlock(data=b"%PDF-1.7 \xff", title="Plan", document_mimetype="application/pdf"),
    CachePoint(cache_control=CacheControl(type="ephemeral")),
    CitableBlock(title="t", source="s", content=[TextBlock(text="cited"), ImageBlock(image=b"\xff\xd8")]),
    ThinkingBlock(content="Hm.", num_tokens=2, additional_information={"signature": "x=="}),
    ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"city": "杭州", "days": [1, 2.0]}),
]


@pytest.mark.parametrize("role", list(MessageRole))
async def test_blocks_calls_and_additional_values_come_back_equal(
    store: ChatMemoryChatStore, role: MessageRole
) -> None:
    given_ = ChatMessage(
        role=role,
        blocks=list(BLOCKS),
        additional_kwargs={"tool_call_id": "c1", "nested": {"deep": [1, 1.0, True, None, "\0"]}},
    )
    await store.async_add_message("甲", given_)
    (back,) = await store.aget_messages("甲")
    assert back == given_
    assert [type(one) for one in back.additional_kwargs["nested"]["deep"]] == [
        int,
        float,
        bool,
        type(None),
        str,
    ]
    assert [type(block) for block in back.blocks] == [type(block) for block in BLOCKS]


async def test_a_person_can_read_and_find_what_was_said_and_called(store: ChatMemoryChatStore) -> None:
    older = {"tool_calls": [{"id": "1", "function": {"name": "add", "arguments": "{}"}}]}
    await store.aset_messages(
        "甲",
        [
            says("Be brief.", "developer"),
            ChatMessage(role="assistant", blocks=BLOCKS[-1:]),
            says("12 °C", "tool"),
            ChatMessage(role="assistant", additional_kwargs=older),
            ChatMessage(role="user", blocks=[BLOCKS[1]]),
        ],
    )
    found = await conversation(store.runtime, "甲")
    assert [(one.role, one.content) for one in found] == [
        ("system", "Be brief."),
        ("assistant", 'weather({"city": "杭州", "days": [1, 2.0]})'),
        ("tool", "12 °C"),
        ("assistant", "add({})"),
        ("user", "[image]"),
    ]


async def test_models_of_pydantic_come_back_as_dicts_as_in_the_stores_of_the_framework(
    store: ChatMemoryChatStore,
) -> None:
    said = ChatMessage("a", additional_kwargs={"call": FunctionCall(name="f"), "pair": (1, 2)})
    for _ in range(2):  # the second one finds that nothing is new
        await store.aset_messages("甲", [said])
    (back,) = await store.aget_messages("甲")
    assert back.additional_kwargs == {"call": {"name": "f"}, "pair": [1, 2]}


@pytest.mark.parametrize(
    ("kwargs", "place"),
    [
        ({"x": object()}, "no JSON"),
        ({"x": float("nan")}, r"additional_kwargs\.x"),
        ({"x": b"bytes"}, r"additional_kwargs\.x"),
        ({"x": {"y": {1, 2}}}, r"additional_kwargs\.x\.y"),
        ({"x": {1: "one"}}, r"additional_kwargs\.x"),
    ],
)
async def test_what_would_not_come_back_is_refused_and_nothing_is_stored(
    store: ChatMemoryChatStore, kwargs: dict[str, Any], place: str
) -> None:
    with pytest.raises(ValueError, match=place):
        await store.aset_messages("甲", [says("a"), ChatMessage("b", additional_kwargs=kwargs)])
    with pytest.raises(ValueError, match=place):
        store.add_message("甲", ChatMessage("b", additional_kwargs=kwargs))
    assert await store.aget_keys() == []


async def test_an_open_file_is_refused_because_bytes_would_come_back(store: ChatMemoryChatStore) -> None:
    with pytest.raises(ValueError, match=r"blocks\[0\]\.image|no JSON"):
        await store.async_add_message("甲", ChatMessage(blocks=[ImageBlock(image=BytesIO(b"abc"))]))


async def test_a_message_with_the_path_of_a_file_that_is_gone_can_be_read(
    store: ChatMemoryChatStore, tmp_path: Path
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG")
    inside = CitableBlock(title="t", source="s", content=[ImageBlock(path=path)])
    said = ChatMessage(blocks=[TextBlock(text="Look"), ImageBlock(path=path), inside])
    await store.async_add_message("甲", said)
    assert await store.aget_messages("甲") == [said]
    path.unlink()
    (back,) = await store.aget_messages("甲")
    assert back.model_dump() == said.model_dump()


async def test_a_key_that_no_conversation_can_have_is_a_clear_error(store: ChatMemoryChatStore) -> None:
    with pytest.raises(ValueError, match="conversation_id") as raised:
        await store.async_add_message("", says("a"))
    assert isinstance(getattr(raised.value.__cause__, "error", None), DataValidationError)


async def test_a_message_that_another_release_has_written_is_a_clear_error(
    store: ChatMemoryChatStore,
) -> None:
    odd = NewMessage("user", "a", id="m1", metadata={"asGiven": {"llamaIndex": ['{"role": "oracle"}']}})
    await add(store.runtime, "甲", odd)
    with pytest.raises(RuntimeError, match="'m1' is none of LlamaIndex"):
        await store.aget_messages("甲")


async def test_messages_of_other_clients_are_shown_with_their_text(store: ChatMemoryChatStore) -> None:
    await add(store.runtime, "甲", NewMessage("user", "你好"), NewMessage("assistant", "Hi"))
    assert await store.aget_messages("甲") == [says("你好"), says("Hi", "assistant")]


async def test_setting_keeps_the_beginning_as_it_is(store: ChatMemoryChatStore) -> None:
    await store.aset_messages("甲", talk("a", "b", "c"))
    before = await conversation(store.runtime, "甲")
    at = await version(store.runtime, "甲")

    await store.aset_messages("甲", talk("a", "b", "c"))
    assert await version(store.runtime, "甲") == at, "nothing was to be written"

    await store.aset_messages("甲", talk("a", "b", "other", "d"))
    after = await conversation(store.runtime, "甲")
    assert [one.id for one in after][:2] == [one.id for one in before][:2]
    assert before[2].id not in {one.id for one in after}

    await store.aset_messages("甲", [])
    assert await store.aget_keys() == []


async def test_what_stays_behind_a_deleted_message_keeps_its_time(store: ChatMemoryChatStore) -> None:
    await store.aset_messages("甲", talk("a", "b", "c", "d"))
    before = await conversation(store.runtime, "甲")
    assert await store.adelete_message("甲", 1) == says("b")
    after = await conversation(store.runtime, "甲")
    assert [(one.timestamp, one.content) for one in after] == [
        (one.timestamp, one.content) for one in (before[0], *before[2:])
    ]
    assert after[0].id == before[0].id


async def test_keys_of_another_prefix_are_not_touched(runtime: ThreadRuntime[MemoryTags]) -> None:
    ours = ChatMemoryChatStore(runtime=runtime, prefix="chat/")
    others = ChatMemoryChatStore(runtime=runtime, prefix="audit/")
    await ours.async_add_message("甲", says("a"))
    await others.async_add_message("甲", says("b"))
    assert await ours.aget_keys() == await others.aget_keys() == ["甲"]
    await ours.adelete_messages("甲")
    assert await others.aget_messages("甲") == talk("b")


async def test_many_keys_are_all_listed(store: ChatMemoryChatStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatmemory.integrations.llama_index.chat_store.LISTED_AT_ONCE", 2)
    for number in range(5):
        await store.async_add_message(f"k{number}", says("a"))
    assert await store.aget_keys() == [f"k{number}" for number in range(5)]


async def test_writers_that_meet_lose_no_message_of_each_other(store: ChatMemoryChatStore) -> None:
    await store.aset_messages("甲", talk("stays", *"0123456789"))

    async def delete_first() -> None:
        assert await store.adelete_message("甲", 1) is not None

    async def insert(number: int) -> None:
        await store.async_add_message("甲", says(f"new {number}"), 1)

    await asyncio.gather(*(work for number in range(10) for work in (delete_first(), insert(number))))
    kept = contents(await store.aget_messages("甲"))
    assert kept[0] == "stays"
    assert len(kept) == 11
    assert len(set(kept)) == 11


async def test_deleting_the_last_messages_together_returns_each_once(store: ChatMemoryChatStore) -> None:
    await store.aset_messages("甲", talk(*"0123456789"))
    gone = await asyncio.gather(*(store.adelete_last_message("甲") for _ in range(12)))
    assert sorted(one.content or "" for one in gone if one is not None) == list("0123456789")


@pytest.fixture
def summarized(tmp_path: Path) -> Iterator[ChatMemoryChatStore]:
    """Six messages are summarized but for the last two."""
    strategy = StrategySettings(type="summarize", summarize_every_n=6, keep_last=2)
    with ThreadRuntime(stacks.embedded(tmp_path / "a.db", strategy=strategy)) as runtime:
        yield ChatMemoryChatStore(runtime=runtime)


async def test_a_summary_stands_for_what_it_covers_and_stays_when_the_end_is_set(
    summarized: ChatMemoryChatStore,
) -> None:
    await summarized.aset_messages("甲", talk(*(f"第{number}句：我们在杭州见面。" for number in range(6))))
    summary, *kept = await summarized.aget_messages("甲")
    assert contents(kept) == ["第4句：我们在杭州见面。", "第5句：我们在杭州见面。"]
    assert "sums up earlier messages" in (summary.content or "")

    await summarized.aset_messages("甲", [summary, kept[0], says("new")])
    assert await summarized.aget_messages("甲") == [summary, kept[0], says("new")]
    assert [one.role for one in await conversation(summarized.runtime, "甲")] == ["summary", "user", "user"]
    assert await summarized.adelete_message("甲", 1) == kept[0]
    assert await summarized.aget_messages("甲") == [summary, says("new")]


async def test_nothing_is_put_or_deleted_before_a_summary_which_would_lose_what_it_covers(
    summarized: ChatMemoryChatStore,
) -> None:
    said = talk(*(f"第{number}句：我们在杭州见面。" for number in range(6)))
    await summarized.aset_messages("甲", [says("Be brief.", "system"), *said])
    before = await summarized.aget_messages("甲")
    place = next(at for at, one in enumerate(before) if "sums up" in (one.content or ""))
    assert place == 1, "the system prompt stays before the summary"
    with pytest.raises(ValueError, match=r"a summary comes after this place.* @ \$\.idx"):
        await summarized.adelete_message("甲", 0)
    with pytest.raises(ValueError, match=r"a summary comes after this place"):
        await summarized.async_add_message("甲", says("x"), 0)
    assert await summarized.aget_messages("甲") == before


async def test_sync_calls_work_inside_a_running_loop_and_on_either_runtime(every_stack: Stack) -> None:
    with ThreadRuntime(every_stack) as threads:
        store = ChatMemoryChatStore(runtime=threads)
        store.set_messages("甲", talk("a"))
        assert store.get_messages("甲") == talk("a")


async def test_a_managed_runtime_serves_other_threads_and_refuses_its_own_before_anything_is_made() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        store = ChatMemoryChatStore(runtime=runtime)
        await asyncio.to_thread(store.set_messages, "甲", talk("a"))
        assert await store.aget_messages("甲") == talk("a")
        with pytest.raises(TypeError, match="can only be awaited: give a ThreadRuntime"):
            store.get_messages("甲")


async def test_a_closed_runtime_is_said() -> None:
    runtime = ThreadRuntime(stacks.testing())
    store = ChatMemoryChatStore(runtime=runtime)
    await store.async_add_message("甲", says("a"))
    await asyncio.to_thread(runtime.close)
    with pytest.raises(RuntimeError, match="closed"):
        await store.aget_messages("甲")


async def test_a_buffer_of_the_framework_talks_through_the_store(store: ChatMemoryChatStore) -> None:
    buffer = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="甲", chat_history=talk("a"))
    await buffer.aput(says("b", "assistant"))
    assert contents(await buffer.aget()) == ["a", "b"]
    await buffer.aset(talk("c"))
    assert contents(buffer.get_all()) == ["c"]
    buffer.reset()
    assert buffer.get_all() == []
    assert isinstance(store, BaseChatStore)
    assert store.to_dict()["class_name"] == "ChatMemoryChatStore"
    assert "runtime" not in store.to_dict()


def test_the_example_goes_on_in_another_program(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples/llama_index_chat.py")]
    ran = subprocess.run(
        [*command, str(tmp_path / "agent.db")],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "monday: 我住在杭州，对花生过敏。",
        "  -> I will remember that.",
        "  2 messages are kept of ['mei']",
        "tuesday: 我对什么过敏？",
        "  -> You told me: 我住在杭州，对花生过敏。",
        "  4 messages are kept of ['mei']",
    ]
