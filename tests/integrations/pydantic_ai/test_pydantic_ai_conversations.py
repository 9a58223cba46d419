"""A conversation store of pydantic-ai keeps what the framework's own keeps, in every store, and for everybody at once."""

import asyncio
import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import example, given, settings, strategies as st

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests

from chatmemory import ManagedRuntime
from chatmemory.integrations.pydantic_ai import ChatMemoryConversations
from chatmemory.integrations.pydantic_ai.conversations import ENTRIES, LINE, RECORDS, TIMELESS
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag, ItemSearch
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags
from tests.integrations.adapter_endurance import AdapterEndurance

Runtime = ManagedRuntime[MemoryTags]


@pytest.fixture
def store(runtime: Runtime) -> ChatMemoryConversations:
    return ChatMemoryConversations(runtime)


def said(*texts: str) -> list[Any]:
    return [ModelRequest.user_text_prompt(text) for text in texts]


def texts_of(conversation: Conversation | None) -> list[str]:
    return [] if conversation is None else [message.parts[0].content for message in conversation.messages]


async def saved(store: ConversationStore, name: str, *texts: str, **options: Any) -> Conversation:
    """Return the conversation with more said in it, as it is stored."""
    conversation = await store.load(name) or Conversation(conversation_id=name)
    conversation.messages += said(*texts)
    await store.save(conversation, **options)
    return conversation


async def entries(runtime: Runtime) -> list[Any]:
    items = await runtime.service(ItemRepositoryTag)
    found = await items.search(ItemSearch(ENTRIES, limit=10_000), now=TIMELESS).or_raise()
    return [json.loads(item.value) for item in found]


async def kept(runtime: Runtime) -> int:
    return len(await entries(runtime))


async def test_a_run_goes_on_where_the_last_one_ended(store: ChatMemoryConversations) -> None:
    agent = Agent(TestModel(custom_output_text="在老地方见。"))
    for number in (1, 2):
        conversation = await store.load("午饭") or Conversation(conversation_id="午饭")
        result = await agent.run("Where do we meet?", conversation=conversation)
        assert len(await store.save(result)) == 2
        loaded = await store.load("午饭")
        assert loaded is not None
        assert (loaded.messages, loaded.usage) == (result.all_messages(), result.conversation.usage)
        assert loaded.usage.requests == number


async def test_a_paused_run_comes_back_with_what_it_waits_for(store: ChatMemoryConversations) -> None:
    call = ToolCallPart("delete_file", {"path": "笔记.md"}, "call-1")
    waiting = DeferredToolRequests(approvals=[call], metadata={"call-1": {"why": "不可逆 \0"}})
    conversation = Conversation(
        conversation_id="c", messages=[*said("删掉"), ModelResponse([call])], deferred_tool_requests=waiting
    )
    await store.save(conversation, scope="梅 \0")
    loaded = await store.load("c", scope="梅 \0")
    assert loaded is not None
    assert loaded.deferred_tool_requests == waiting
    assert await store.load("c", scope="梅") is None


async def test_of_those_who_loaded_the_same_one_saves(store: ChatMemoryConversations) -> None:
    await saved(store, "c", "first")
    loaded = [await store.load("c") for _ in range(8)]
    for number, conversation in enumerate(loaded):
        conversation.messages += said(f"{number}")
    ends = await asyncio.gather(*map(store.save, loaded), return_exceptions=True)
    refused = [end for end in ends if isinstance(end, ConversationConflict)]
    (winner,) = [number for number, end in enumerate(ends) if end not in refused]
    assert len(refused) == 7
    assert texts_of(await store.load("c")) == ["first", f"{winner}"]


async def test_the_newest_entries_are_loaded_in_their_order() -> None:
    numbers = [str(number) for number in range(LINE * 3 + 5)]
    async with ManagedRuntime(stacks.testing()) as runtime:
        store = ChatMemoryConversations(runtime)
        for number in numbers:
            await saved(store, "c", number)
        for limit in (0, 1, LINE - 1, LINE, LINE + 1, 3 * LINE, 100):
            newest = numbers[max(0, len(numbers) - limit) :]
            assert texts_of(await store.load("c", limit=limit)) == newest
        assert texts_of(await store.load("c")) == numbers
        assert max(len(entry["line"]) for entry in await entries(runtime)) == LINE


async def test_conversations_are_listed_by_their_scope_the_last_saved_first(
    store: ChatMemoryConversations,
) -> None:
    for name in ("a", "b", "c", "d"):
        await saved(store, name, "x", scope="梅" if name in "ac" else "li")
    await saved(store, "a", "y")
    for asked, names in (({}, "adcb"), ({"scope": "梅"}, "ac"), ({"limit": 2}, "ad")):
        assert [one.conversation_id for one in await store.list_conversations(**asked)] == [*names]


async def test_what_somebody_has_let_go_of_meanwhile_is_a_conflict(store: ChatMemoryConversations) -> None:
    entry = ConversationEntry(parent_id="gone", message=said("x")[0])
    for head, entries in (("gone", []), (entry.id, [entry])):
        record = ConversationRecord(conversation_id="b", head_id=head)
        with pytest.raises(ConversationConflict):
            await store.write_record(record, new_entries=entries, expected_revision=None)
    assert await store.load("b") is None


async def test_what_no_record_names_any_more_is_let_go_of_and_nothing_before_it(
    store: ChatMemoryConversations, runtime: Runtime
) -> None:
    await saved(store, "a", *"012345")
    record = await store.read_record("a")
    history = await store.load_entries("a")
    assert record is not None
    assert history is not None
    shorter = replace(record, head_id=history[2].id, revision="next")
    await store.write_record(shorter, new_entries=history, expected_revision=record.revision)
    assert texts_of(await store.load("a")) == ["0", "1", "2"]
    assert await kept(runtime) == 3


NAMES = st.sampled_from(["a", "b", "c"])
PLACES = st.integers(0, 8)
SAVE, OTHERS = st.just("save"), st.sampled_from(["branch", "fork", "rewrite", "back", "delete"])
DEEDS = st.lists(st.tuples(SAVE | OTHERS, NAMES, PLACES), max_size=25)


async def done(store: ConversationStore, deed: tuple[str, str, int], number: int) -> str:
    """Do *deed*, and return how it ended."""
    what, name, place = deed
    try:
        conversation, record = await store.load(name), await store.read_record(name)
        match what:
            case "save":
                await saved(store, name, *(f"{number}.{part}" for part in range(place)))
            case "rewrite" if conversation is not None:
                conversation.messages[place:] = said(f"{number} anew")
                await store.save(conversation)
            case "branch" if conversation is not None:
                await store.branch(name, at=place, expected_revision=conversation.revision)
            case "back" if record is not None and record.branches:
                tip = record.branches[place % len(record.branches)]
                await store.branch(name, from_entry=tip, expected_revision=record.revision)
            case "fork":
                await store.fork(name, at=place, new_conversation_id="abc"[place % 3])
            case "delete":
                await store.delete(name)
    except UserError as refused:
        return type(refused).__name__
    return "done"


async def seen(store: ConversationStore) -> list[tuple[str, list[str], list[list[str]], str | None]]:
    """Return all conversations with their histories and the branches that they have left."""
    found = []
    for record in await store.list_conversations():
        branches = [await store.read_history(tip) for tip in record.branches]
        texts = [[entry.message.parts[0].content for entry in branch] for branch in branches]
        loaded = texts_of(await store.load(record.conversation_id))
        found.append((record.conversation_id, loaded, texts, record.forked_from))
    return found


# Forks and branches of a history that is longer than a line, and that is deleted before they are.
LONG = [("save", "a", 40), ("fork", "a", 35), ("save", "c", 2), ("branch", "a", 20), ("save", "a", 1)]


@settings(max_examples=60)
@given(deeds=DEEDS)
@example(deeds=[*LONG, ("delete", "a", 0), ("delete", "c", 0)])
def test_it_does_what_the_framework_s_own_store_does(deeds: list[tuple[str, str, int]]) -> None:
    async def compared() -> None:
        theirs = InMemoryConversationStore()
        async with ManagedRuntime(stacks.testing()) as runtime:
            ours = ChatMemoryConversations(runtime)
            for number, deed in enumerate(deeds):
                assert await done(ours, deed, number) == await done(theirs, deed, number)
                assert await seen(ours) == await seen(theirs)
                assert await kept(runtime) == len(theirs._entries)

    asyncio.run(compared())


async def test_what_cannot_be_kept_or_read_says_why(runtime: Runtime) -> None:
    store = ChatMemoryConversations(runtime)
    with pytest.raises(UserError, match="NUL"):
        await store.load("\0")
    with pytest.raises(UserError, match="no JSON"):
        await store.save(Conversation(conversation_id="c", messages=[ModelResponse([TextPart("\ud800")])]))
    with pytest.raises(KeyError, match="nowhere"):
        await store.read_entry("nowhere")
    items = await runtime.service(ItemRepositoryTag)
    later = ItemPut(ItemName(RECORDS, "c"), '{"format_version": 2}')
    await items.write((later,), now=TIMELESS).or_raise()
    for refused in (store.load("c"), store.delete("c"), store.list_conversations()):
        with pytest.raises(UserError, match="conversation 'c' is none of pydantic-ai"):
            await refused
    with pytest.raises(UserError, match="conversation 'c' is none of pydantic-ai"):
        await store.save(Conversation(conversation_id="c", messages=said("x")))


class TestConversations(AdapterEndurance):
    """Each writer has a conversation, which grows by three messages at a time."""

    adapter = staticmethod(ChatMemoryConversations)
    failure: ClassVar[type[Exception]] = AgentRunError
    failure_when_closed = UserError

    async def write(self, adapter: ChatMemoryConversations, name: str, number: int) -> None:
        await saved(adapter, name, *(f"{number} {part}" for part in "abc"))

    async def numbers(self, adapter: ChatMemoryConversations, name: str) -> list[int]:
        texts = texts_of(await adapter.load(name))
        numbers = [int(text.split()[0]) for text in texts[::3]]
        assert texts == [f"{number} {part}" for number in numbers for part in "abc"], "no batch is torn"
        return numbers
