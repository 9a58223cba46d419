"""A chat store of LlamaIndex answers as the framework's own, from any thread and loop, and loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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

from chatmemory import ChatMemoryService, ChatMessage as Stored, ManagedRuntime, NewMessage, ThreadRuntime
from chatmemory.effect import Runner
from chatmemory.integrations.llama_index import ChatMemoryChatStore
from chatmemory.integrations.llama_index.messages import RAISING
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags
from tests.for_each import for_each


@pytest.fixture
def store(threads: ThreadRuntime[MemoryTags]) -> ChatMemoryChatStore:
    return ChatMemoryChatStore(runtime=threads)


@pytest.fixture
def summarized(summarizing: ThreadRuntime[MemoryTags]) -> ChatMemoryChatStore:
    return ChatMemoryChatStore(runtime=summarizing)


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


async def test_blocks_calls_and_additional_values_come_back_equal(store: ChatMemoryChatStore) -> None:
    deep = [1, 1.0, True, None, "\0"]
    kwargs = {"tool_call_id": "c1", "nested": {"deep": deep}}
    given_ = [ChatMessage(role=role, blocks=list(BLOCKS), additional_kwargs=kwargs) for role in MessageRole]
    await store.aset_messages("甲", given_)
    back = await store.aget_messages("甲")
    assert back == given_
    for one in back:
        assert [type(value) for value in one.additional_kwargs["nested"]["deep"]] == list(map(type, deep))
        assert [type(block) for block in one.blocks] == [type(block) for block in BLOCKS]


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


@for_each(
    ("message", "place"),
    [
        (ChatMessage("b", additional_kwargs={"x": object()}), "no JSON"),
        (ChatMessage("b", additional_kwargs={"x": float("nan")}), r"additional_kwargs\.x"),
        (ChatMessage("b", additional_kwargs={"x": b"bytes"}), r"additional_kwargs\.x"),
        (ChatMessage("b", additional_kwargs={"x": {"y": {1, 2}}}), r"additional_kwargs\.x\.y"),
        (ChatMessage("b", additional_kwargs={"x": {1: "one"}}), r"additional_kwargs\.x"),
        (ChatMessage(blocks=[ImageBlock(image=BytesIO(b"abc"))]), r"blocks\[0\]\.image|no JSON"),
    ],
)
async def test_what_would_not_come_back_is_refused_and_nothing_is_stored(
    store: ChatMemoryChatStore, message: ChatMessage, place: str
) -> None:
    with pytest.raises(ValueError, match=place):
        await store.aset_messages("甲", [says("a"), message])
    with pytest.raises(ValueError, match=place):
        store.add_message("甲", message)
    assert await store.aget_keys() == []


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


async def test_messages_of_others_are_shown_with_their_text_and_those_of_another_release_are_a_clear_error(
    store: ChatMemoryChatStore,
) -> None:
    await add(store.runtime, "甲", NewMessage("user", "你好"), NewMessage("assistant", "Hi"))
    assert await store.aget_messages("甲") == [says("你好"), says("Hi", "assistant")]
    odd = NewMessage("user", "a", id="m1", metadata={"asGiven": {"llamaIndex": ['{"role": "oracle"}']}})
    await add(store.runtime, "甲", odd)
    with pytest.raises(RuntimeError, match="'m1' is none of LlamaIndex"):
        await store.aget_messages("甲")


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

    assert await store.adelete_message("甲", 1) == says("b")
    left = await conversation(store.runtime, "甲")
    kept = [(one.timestamp, one.content) for one in (after[0], *after[2:])]
    assert [(one.timestamp, one.content) for one in left] == kept, "what stays behind it keeps its time"
    assert left[0].id == after[0].id

    await store.aset_messages("甲", [])
    assert await store.aget_keys() == []


async def test_keys_of_another_prefix_are_not_touched(threads: ThreadRuntime[MemoryTags]) -> None:
    ours = ChatMemoryChatStore(runtime=threads, prefix="chat/")
    others = ChatMemoryChatStore(runtime=threads, prefix="audit/")
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
    assert len(kept) == len(set(kept)) == 11
    gone = await asyncio.gather(*(store.adelete_last_message("甲") for _ in range(13)))
    assert sorted(one.content or "" for one in gone if one is not None) == sorted(map(str, kept))


SAID = talk(*(f"第{number}句：我们在杭州见面。" for number in range(6)))


async def test_a_summary_stands_for_what_it_covers_and_stays_when_the_end_is_set(
    summarized: ChatMemoryChatStore,
) -> None:
    await summarized.aset_messages("甲", SAID)
    summary, *kept = await summarized.aget_messages("甲")
    assert kept == SAID[4:]
    assert "sums up earlier messages" in (summary.content or "")

    await summarized.aset_messages("甲", [summary, kept[0], says("new")])
    assert await summarized.aget_messages("甲") == [summary, kept[0], says("new")]
    assert [one.role for one in await conversation(summarized.runtime, "甲")] == ["summary", "user", "user"]
    assert await summarized.adelete_message("甲", 1) == kept[0]
    assert await summarized.aget_messages("甲") == [summary, says("new")]


async def test_nothing_is_put_or_deleted_before_a_summary_which_would_lose_what_it_covers(
    summarized: ChatMemoryChatStore,
) -> None:
    await summarized.aset_messages("甲", [says("Be brief.", "system"), *SAID])
    before = await summarized.aget_messages("甲")
    place = next(at for at, one in enumerate(before) if "sums up" in (one.content or ""))
    assert place == 1, "the system prompt stays before the summary"
    with pytest.raises(ValueError, match=r"a summary comes after this place.* @ \$\.idx"):
        await summarized.adelete_message("甲", 0)
    with pytest.raises(ValueError, match=r"a summary comes after this place"):
        await summarized.async_add_message("甲", says("x"), 0)
    assert await summarized.aget_messages("甲") == before


async def test_a_managed_runtime_serves_other_threads_and_refuses_its_own_before_anything_is_made() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        store = ChatMemoryChatStore(runtime=runtime)
        await asyncio.to_thread(store.set_messages, "甲", talk("a"))
        assert await store.aget_messages("甲") == talk("a")
        with pytest.raises(TypeError, match="can only be awaited: give a ThreadRuntime"):
            store.get_messages("甲")


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
