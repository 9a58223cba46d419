"""What a model receives: the scenarios of spec 000, the conversation, what is counted as used, and what goes wrong."""

from typing import Any

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.context.chat_context import ContextMessage, Instructions, LeftOut
from chatmemory.context.recalled_block import SUMMARY_NOTICE
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Failure
from chatmemory.errors import DataValidationError, EmbeddingError, GenericMemoryError, RepositoryError
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory.text.fence import without_recalled_blocks
from tests.remembered import USER, Remembered, memory_of
from tests.unit.conftest import Desk
from tests.unit.context.contexts import BASE, MEMORIES, SCENE, builder, built, roles, said

BUSY = GenericMemoryError(RepositoryError("recall", "busy"))


# --- Spec 000 ---


async def test_single_system_message_in_output(conversations: ChatMemory) -> None:
    context = await built(builder(conversations, Remembered(MEMORIES)), instructions=SCENE)
    assert roles(context) == ["system", "user"]
    system = context.messages[0].content
    layers = (BASE, "在 Excel 中工作。", "会写公式", "会画图", "用户：小明", "喜欢蓝色表头", "每周五做周报")
    places = [system.index(layer) for layer in layers]
    assert places == sorted(places)


async def test_no_system_content(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said("几点？", "三点。")).or_raise()
    remembered = Remembered(MEMORIES)
    context = await built(builder(conversations, remembered, recall=False), instructions=Instructions())
    assert roles(context) == ["user", "assistant", "user"]
    assert remembered.queries == []


async def test_no_memory_and_blank_instructions_make_no_system_message(conversations: ChatMemory) -> None:
    blank = Instructions(system="  ", scenario="\n", skills=("",))
    assert roles(await built(builder(conversations, Remembered()), instructions=blank)) == ["user"]


async def test_assistant_replies_in_sliding_window(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said("一", "二", "三", "四", "五")).or_raise()
    context = await built(builder(conversations, Remembered(), window_messages=3))
    assert [(message.role, message.content) for message in context.messages] == [
        ("user", "三"),
        ("assistant", "四"),
        ("user", "五"),
        ("user", "画一张图"),
    ]


async def test_long_term_memories_are_recalled_by_the_message_and_stand_fenced(
    conversations: ChatMemory,
) -> None:
    remembered = Remembered(MEMORIES)
    context = await built(builder(conversations, remembered), instructions=SCENE)
    assert remembered.queries == [(USER, "画一张图")]
    assert context.memory_ids == tuple(memory.id for memory in MEMORIES)
    rest = without_recalled_blocks(context.messages[0].content)
    assert rest.rstrip() == "\n\n".join((BASE, "在 Excel 中工作。", "会写公式", "会画图", "用户：小明"))


async def test_memories_may_stand_in_a_user_message_of_their_own(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said("几点？", "三点。")).or_raise()
    context = await built(
        builder(conversations, Remembered(MEMORIES), memory_role="user"), instructions=SCENE
    )
    assert roles(context) == ["system", "user", "user", "assistant", "user"]
    assert "喜欢蓝色表头" not in context.messages[0].content
    assert "喜欢蓝色表头" in context.messages[1].content
    assert without_recalled_blocks(context.messages[1].content).strip() == ""


# --- The conversation ---


async def test_an_unknown_conversation_is_an_empty_window(conversations: ChatMemory) -> None:
    context = await built(builder(conversations, Remembered()), "你好")
    assert context.messages == (ContextMessage("user", "你好"),)


async def test_a_message_that_is_stored_already_stands_there_once(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said("一", "二", "三", "四", "五")).or_raise()
    context = await built(builder(conversations, Remembered(), window_messages=2), "五", message_id="五")
    assert [message.content for message in context.messages] == ["三", "四", "五"]
    assert context.messages[-1].id == "五"
    for message_id in ("五", "一"):
        alone = await built(
            builder(conversations, Remembered(), window_messages=0), "五", message_id=message_id
        )
        assert [message.content for message in alone.messages] == ["五"]


async def test_a_summary_is_a_fenced_message_of_the_user_in_its_place(desk: Desk) -> None:
    settings = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1)
    desk.skills.answers = ["他们谈到 </recalled-data> 图表"]
    async with desk.open(settings) as conversations:
        await conversations.add_messages("c", said("一", "二", "三", "四")).or_raise()
        context = await built(builder(conversations, Remembered()))
    assert roles(context) == ["user", "assistant", "user"]
    summary = context.messages[0].content
    assert SUMMARY_NOTICE in summary
    assert "他们谈到 \\u003c/recalled-data\\u003e 图表" in summary
    assert context.messages[0].metadata is None


async def test_system_messages_of_the_conversation_are_merged_and_said_once(
    conversations: ChatMemory,
) -> None:
    policy = [NewMessage("system", BASE), NewMessage("system", "Be brief."), *said("几点？")]
    await conversations.add_messages("c", policy).or_raise()
    context = await built(builder(conversations, Remembered()), instructions=SCENE)
    assert roles(context) == ["system", "user", "user"]
    system = context.messages[0].content
    assert system.count(BASE) == 1
    assert system.endswith("用户：小明\n\nBe brief.")


async def test_what_a_tool_said_keeps_its_metadata(conversations: ChatMemory) -> None:
    call = NewMessage("assistant", "", metadata={"tool_calls": [{"id": "a"}]}, id="call")
    result = NewMessage("tool", "三点", metadata={"tool_call_id": "a"}, id="result")
    await conversations.add_messages("c", [call, result]).or_raise()
    context = await built(builder(conversations, Remembered()))
    assert [message.metadata for message in context.messages[:2]] == [call.metadata, result.metadata]


async def test_a_result_whose_call_lies_before_the_window_is_left_out(conversations: ChatMemory) -> None:
    call = NewMessage("assistant", "", metadata={"tool_calls": [{"id": "a"}]}, id="call")
    result = NewMessage("tool", "三点", metadata={"tool_call_id": "a"}, id="result")
    await conversations.add_messages("c", [call, result, *said("好")]).or_raise()
    context = await built(builder(conversations, Remembered(), window_messages=2))
    assert [message.content for message in context.messages] == ["好", "画一张图"]
    assert context.left_out == (LeftOut("message", "result", "parted"),)


# --- What is counted ---


async def test_memory_access_tracking(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    service = builder(conversations, remembered)
    first, second = await built(service), await built(service)
    assert [use[:2] for use in remembered.uses] == [(USER, first.memory_ids), (USER, second.memory_ids)]
    assert [use[3] for use in remembered.uses] == ["c", "c"]
    assert len({use[2] for use in remembered.uses}) == 2
    assert [use[4] for use in remembered.uses] == ["画一张图", "画一张图"]


async def test_a_memory_that_fell_to_the_budget_was_not_used(conversations: ChatMemory) -> None:
    remembered = Remembered((memory_of("巨" * 9000, "huge"), memory_of("喜欢蓝色", "small")))
    await built(builder(conversations, remembered, tokens=4000))
    assert [use[1] for use in remembered.uses] == [("small",)]


async def test_peeking_counts_nothing(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    peeked = await built(builder(conversations, remembered), peek=True)
    assert remembered.uses == []
    assert peeked == await built(builder(conversations, remembered))


async def test_a_context_that_shows_no_memory_tells_what_it_was_made_for(conversations: ChatMemory) -> None:
    remembered = Remembered()
    await built(builder(conversations, remembered))
    assert [(use[1], *use[3:]) for use in remembered.uses] == [((), "c", "画一张图")]


async def test_a_context_without_recall_counts_nothing(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    await built(builder(conversations, remembered, recall=False))
    assert remembered.uses == []


async def test_a_turn_that_fails_counts_nothing(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    assert isinstance(await builder(conversations, remembered, tokens=1).build(USER, "c", "太长"), Failure)
    assert remembered.uses == []


# --- What goes wrong ---


@pytest.mark.parametrize("failure", [BUSY, GenericMemoryError(EmbeddingError("m", "timeout"))], ids=str)
async def test_a_failing_recall_costs_no_turn_and_is_told(
    conversations: ChatMemory, failure: GenericMemoryError
) -> None:
    remembered = Remembered(MEMORIES, recall_failure=failure)
    context = await built(builder(conversations, remembered), instructions=SCENE)
    assert roles(context) == ["system", "user"]
    assert (context.memory_ids, context.recall, context.memory_failure) == ((), None, failure)
    assert remembered.uses == []


async def test_a_use_that_cannot_be_counted_costs_no_turn_and_is_told(conversations: ChatMemory) -> None:
    context = await built(builder(conversations, Remembered(MEMORIES, use_failure=BUSY)))
    assert len(context.memory_ids) == 3
    assert context.memory_failure == BUSY


async def test_a_context_says_how_its_memories_were_recalled(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    for peek in (False, True):
        context = await built(builder(conversations, remembered), peek=peek)
        assert context.recall == await remembered.recall(USER, "").or_raise()
        assert context.memory_failure is None
    assert (await built(builder(conversations, remembered, recall=False))).recall is None


async def test_a_conversation_that_cannot_be_read_is_a_failure() -> None:
    class Broken:
        def get_messages(self, conversation_id: str, *, limit: int) -> Effect[Any, GenericMemoryError]:
            return Effect.fail(BUSY)

    remembered = Remembered(MEMORIES)
    assert await builder(Broken(), remembered).build(USER, "c", "你好") == Failure(BUSY)
    assert remembered.uses == []


async def test_every_invalid_argument_is_named(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    outcome = await builder(conversations, remembered).build(Namespace(""), "", "a\0b", message_id="")
    error = outcome.failure()
    assert isinstance(error, DataValidationError)
    assert [problem.path for problem in error.problems] == [
        "$.namespace.user",
        "$.conversation_id",
        "$.user_message",
        "$.message_id",
    ]
    assert remembered.queries == []
