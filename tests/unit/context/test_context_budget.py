"""What falls when a context has not enough room, in which order, and what never does."""

from chatmemory.context.chat_context import ChatContext, Instructions, LeftOut
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Failure
from chatmemory.errors import DataValidationError
from tests.remembered import USER, Remembered, memory_of
from tests.unit.context.contexts import MEMORIES, builder, built, roles, said


async def test_a_user_message_larger_than_the_budget_is_a_failure_that_says_so(
    conversations: ChatMemory,
) -> None:
    service = builder(conversations, Remembered(), tokens=5)
    assert (await built(service, "12345")).tokens == 5
    outcome = await service.build(USER, "c", "123456")
    assert isinstance(outcome, Failure)
    error = outcome.failure()
    assert isinstance(error, DataValidationError)
    assert str(error) == (
        "6 tokens are more than 5: shorten it, or raise memory.context.tokens @ $.user_message"
    )
    instructed = await service.build(USER, "c", "12345", instructions=Instructions(system="be"))
    assert "5 tokens with 2 of instructions are more than 5" in str(instructed.failure())


async def test_the_oldest_messages_fall_before_any_memory_and_then_the_least_relevant_memories(
    conversations: ChatMemory,
) -> None:
    async def shown(tokens: int) -> ChatContext:
        return await built(builder(conversations, Remembered(MEMORIES), tokens=tokens, memory_share=1.0))

    everything = await shown(10_000)
    tight = await shown(everything.tokens - 1)
    assert tight.memory_ids == everything.memory_ids[:2]
    assert tight.left_out == (LeftOut("memory", "每周五做周报", "budget"),)
    assert "每周五做周报" not in tight.messages[0].content
    await conversations.add_messages("c", said("一", "二", "三")).or_raise()
    roomy = await shown(10_000)
    assert roomy.left_out == ()
    tight = await shown(roomy.tokens - 2)
    assert tight.memory_ids == roomy.memory_ids
    assert tight.left_out == (LeftOut("message", "一", "budget"), LeftOut("message", "二", "budget"))


async def test_memories_leave_the_conversation_its_share(conversations: ChatMemory) -> None:
    long = [memory_of("长" * 300, f"m{index}") for index in range(10)]
    context = await built(builder(conversations, Remembered(long), tokens=4000, memory_share=0.5))
    assert 0 < len(context.memory_ids) < 10
    assert 1000 < len(context.messages[0].content) <= 2000


async def test_a_memory_that_is_too_large_makes_way_for_smaller_ones_and_is_not_used(
    conversations: ChatMemory,
) -> None:
    remembered = Remembered((memory_of("巨" * 9000, "huge"), memory_of("喜欢蓝色", "small")))
    context = await built(builder(conversations, remembered, tokens=4000))
    assert context.memory_ids == ("small",)
    assert context.left_out == (LeftOut("memory", "huge", "budget"),)
    assert [use[1] for use in remembered.uses] == [("small",)]


async def test_no_share_is_no_memory(conversations: ChatMemory) -> None:
    context = await built(builder(conversations, Remembered(MEMORIES), memory_share=0.0))
    assert roles(context) == ["user"]
    assert context.left_out == tuple(LeftOut("memory", memory.id, "budget") for memory in MEMORIES)


async def test_tool_calls_in_the_metadata_are_counted(conversations: ChatMemory) -> None:
    arguments = {"tool_calls": [{"id": "a", "arguments": "x" * 500}]}
    call = NewMessage("assistant", "", metadata=arguments, id="call")
    result = NewMessage("tool", "三点", metadata={"tool_call_id": "a"}, id="result")
    await conversations.add_messages("c", [*said("几点？"), call, result]).or_raise()
    context = await built(builder(conversations, Remembered(), tokens=500))
    assert roles(context) == ["user"]
    assert [left.id for left in context.left_out] == ["几点？", "call", "result"]


async def test_the_same_build_gives_the_same_context_and_the_next_one_has_another_fence(
    conversations: ChatMemory,
) -> None:
    await conversations.add_messages("c", said("一", "二")).or_raise()
    service = builder(conversations, Remembered(MEMORIES))
    first, second = await built(service), await built(service)
    assert first == await built(builder(conversations, Remembered(MEMORIES)))
    assert first.messages[0] != second.messages[0]
