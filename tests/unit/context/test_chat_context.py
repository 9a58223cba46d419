"""What a model receives of a conversation and of memories, what is counted as used, and what goes wrong."""

from typing import Any

from chatmemory.access.namespace import Namespace
from chatmemory.context.chat_context import Instructions, LeftOut
from chatmemory.context.context_preview import ContextPreview
from chatmemory.context.recalled_block import SUMMARY_NOTICE
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Failure
from chatmemory.errors import DataValidationError, EmbeddingError, GenericMemoryError, RepositoryError
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory.text.fence import without_recalled_blocks
from tests.remembered import USER, Remembered
from tests.unit.conftest import Desk
from tests.unit.context.contexts import BASE, MEMORIES, SCENE, builder, built, roles, said

BUSY = GenericMemoryError(RepositoryError("recall", "busy"))


async def test_no_memory_and_blank_instructions_make_no_system_message(conversations: ChatMemory) -> None:
    blank = Instructions(system="  ", scenario="\n", skills=("",))
    assert roles(await built(builder(conversations, Remembered()), instructions=blank)) == ["user"]


async def test_long_term_memories_are_recalled_by_the_message_and_stand_fenced(
    conversations: ChatMemory,
) -> None:
    remembered = Remembered(MEMORIES)
    context = await built(builder(conversations, remembered), instructions=SCENE)
    assert remembered.queries == [(USER, "画一张图")]
    assert context.memory_ids == tuple(memory.id for memory in MEMORIES)
    rest = without_recalled_blocks(context.messages[0].content)
    assert rest.rstrip() == "\n\n".join((BASE, "在 Excel 中工作。", "会写公式", "会画图", "用户：小明"))


# --- The conversation ---


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
    async with desk.open(settings) as conversations:
        await conversations.add_messages("c", said("一", "二", "三", "四")).or_raise()
        context = await built(builder(conversations, Remembered()))
    assert roles(context) == ["user", "assistant", "user"]
    assert SUMMARY_NOTICE in context.messages[0].content
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


async def test_a_result_whose_call_lies_before_the_window_is_left_out(conversations: ChatMemory) -> None:
    call = NewMessage("assistant", "", metadata={"tool_calls": [{"id": "a"}]}, id="call")
    result = NewMessage("tool", "三点", metadata={"tool_call_id": "a"}, id="result")
    await conversations.add_messages("c", [call, result, *said("好")]).or_raise()
    context = await built(builder(conversations, Remembered(), window_messages=2))
    assert [message.content for message in context.messages] == ["好", "画一张图"]
    assert context.left_out == (LeftOut("message", "result", "parted"),)


# --- What is counted ---


async def test_what_is_shown_is_used_once_by_each_build_with_its_session_and_its_message(
    conversations: ChatMemory,
) -> None:
    remembered = Remembered(MEMORIES)
    service = builder(conversations, remembered)
    first, second = await built(service), await built(service)
    assert [use[:2] for use in remembered.uses] == [(USER, first.memory_ids), (USER, second.memory_ids)]
    assert [use[3:] for use in remembered.uses] == [("c", "画一张图")] * 2
    assert len({use[2] for use in remembered.uses}) == 2
    nothing = Remembered()
    await built(builder(conversations, nothing))
    assert [(use[1], *use[3:]) for use in nothing.uses] == [((), "c", "画一张图")]


async def test_what_is_only_looked_at_what_recalls_nothing_and_what_fails_counts_nothing(
    conversations: ChatMemory,
) -> None:
    remembered = Remembered(MEMORIES)
    peeked = await built(builder(conversations, remembered), peek=True)
    previewed = await built(builder(conversations, remembered), preview=ContextPreview())
    assert previewed.memory_ids == peeked.memory_ids == tuple(memory.id for memory in MEMORIES)
    assert isinstance(await builder(conversations, remembered, tokens=1).build(USER, "c", "太长"), Failure)
    remembered.queries.clear()
    await built(builder(conversations, remembered, recall=False))
    assert (remembered.uses, remembered.queries) == ([], [])
    assert peeked == await built(builder(conversations, remembered))


# --- What goes wrong ---


async def test_a_failing_recall_or_use_costs_no_turn_and_is_told(conversations: ChatMemory) -> None:
    for failure in (BUSY, GenericMemoryError(EmbeddingError("m", "timeout"))):
        remembered = Remembered(MEMORIES, recall_failure=failure)
        context = await built(builder(conversations, remembered), instructions=SCENE)
        assert roles(context) == ["system", "user"]
        assert (context.memory_ids, context.recall, context.memory_failure) == ((), None, failure)
        assert remembered.uses == []
    context = await built(builder(conversations, Remembered(MEMORIES, use_failure=BUSY)))
    assert (len(context.memory_ids), context.memory_failure) == (3, BUSY)


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
