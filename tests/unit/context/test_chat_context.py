"""What a model receives, what falls without room, what is counted as used, and what goes wrong."""

from chatmemory import ChatMemory, Failure, Namespace, NewMessage, StrategySettings
from chatmemory.context.chat_context import ChatContext, Instructions, LeftOut
from chatmemory.context.context_preview import ContextPreview
from chatmemory.context.recalled_block import SUMMARY_NOTICE
from chatmemory.errors import DataValidationError, EmbeddingError, GenericMemoryError, RepositoryError
from chatmemory.text.fence import without_recalled_blocks
from tests.remembered import USER, Remembered, memory_of
from tests.unit.conftest import Desk
from tests.unit.context.contexts import BASE, MEMORIES, SCENE, builder, built, roles, said

BUSY = GenericMemoryError(RepositoryError("recall", "busy"))


async def test_no_memory_and_blank_instructions_make_no_system_message(conversations: ChatMemory) -> None:
    blank = Instructions(system="  ", scenario="\n", skills=("",))
    assert roles(await built(builder(conversations, Remembered()), instructions=blank)) == ["user"]


async def test_long_term_memories_are_recalled_by_the_message_and_fenced(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    context = await built(builder(conversations, remembered), instructions=SCENE)
    assert remembered.queries == [(USER, "画一张图")]
    assert context.memory_ids == tuple(memory.id for memory in MEMORIES)
    rest = without_recalled_blocks(context.messages[0].content)
    assert rest.rstrip() == "\n\n".join((BASE, "在 Excel 中工作。", "会写公式", "会画图", "用户：小明"))


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


async def test_system_messages_of_a_conversation_are_merged_and_said_once(conversations: ChatMemory) -> None:
    policy = [NewMessage("system", BASE), NewMessage("system", "Be brief."), *said("几点？")]
    await conversations.add_messages("c", policy).or_raise()
    context = await built(builder(conversations, Remembered()), instructions=SCENE)
    assert roles(context) == ["system", "user", "user"]
    system = context.messages[0].content
    assert system.count(BASE) == 1
    assert system.endswith("用户：小明\n\nBe brief.")


async def test_a_blank_system_message_of_a_conversation_makes_one(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", [NewMessage("system", " "), *said("几点？")]).or_raise()
    assert roles(await built(builder(conversations, Remembered()))) == ["system", "user", "user"]


async def test_a_result_whose_call_lies_before_the_window_is_left_out(conversations: ChatMemory) -> None:
    call = NewMessage("assistant", "", metadata={"tool_calls": [{"id": "a"}]}, id="call")
    result = NewMessage("tool", "三点", metadata={"tool_call_id": "a"}, id="result")
    await conversations.add_messages("c", [call, result, *said("好")]).or_raise()
    context = await built(builder(conversations, Remembered(), window_messages=2))
    assert [message.content for message in context.messages] == ["好", "画一张图"]
    assert context.left_out == (LeftOut("message", "result", "parted"),)


async def test_what_is_shown_is_used_once_by_each_build_with_its_session(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    service = builder(conversations, remembered)
    first, second = await built(service), await built(service)
    assert [use[:2] for use in remembered.uses] == [(USER, first.memory_ids), (USER, second.memory_ids)]
    assert [use[3:] for use in remembered.uses] == [("c", "画一张图")] * 2
    assert len({use[2] for use in remembered.uses}) == 2
    nothing = Remembered()
    await built(builder(conversations, nothing))
    assert [(use[1], *use[3:]) for use in nothing.uses] == [((), "c", "画一张图")]


async def test_what_is_only_looked_at_and_what_fails_counts_nothing(conversations: ChatMemory) -> None:
    remembered = Remembered(MEMORIES)
    peeked = await built(builder(conversations, remembered), peek=True)
    previewed = await built(builder(conversations, remembered), preview=ContextPreview())
    assert previewed.memory_ids == peeked.memory_ids == tuple(memory.id for memory in MEMORIES)
    assert isinstance(await builder(conversations, remembered, tokens=1).build(USER, "c", "太长"), Failure)
    remembered.queries.clear()
    await built(builder(conversations, remembered, recall=False))
    assert (remembered.uses, remembered.queries) == ([], [])
    assert peeked == await built(builder(conversations, remembered))


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


async def test_a_user_message_larger_than_the_budget_is_a_failure(conversations: ChatMemory) -> None:
    service = builder(conversations, Remembered(), tokens=5)
    assert (await built(service, "12345")).tokens == 5
    outcome = await service.build(USER, "c", "123456")
    error = outcome.failure()
    assert isinstance(error, DataValidationError)
    assert str(error) == (
        "6 tokens are more than 5: shorten it, or raise memory.context.tokens @ $.user_message"
    )
    instructed = await service.build(USER, "c", "12345", instructions=Instructions(system="be"))
    assert "5 tokens with 2 of instructions are more than 5" in str(instructed.failure())
    wordy = await service.build(USER, "c", "1", instructions=Instructions(system="be brief"))
    assert "more than 5: shorten them, or raise memory.context.tokens @ $.instructions" in str(
        wordy.failure()
    )


async def test_the_oldest_messages_fall_before_any_memory(conversations: ChatMemory) -> None:
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
    nothing = await built(builder(conversations, Remembered(MEMORIES), memory_share=0.0))
    assert roles(nothing) == ["user"]
    assert nothing.left_out == tuple(LeftOut("memory", memory.id, "budget") for memory in MEMORIES)


async def test_a_memory_that_is_too_large_makes_way_for_smaller_ones(conversations: ChatMemory) -> None:
    remembered = Remembered((memory_of("巨" * 9000, "huge"), memory_of("喜欢蓝色", "small")))
    context = await built(builder(conversations, remembered, tokens=4000))
    assert context.memory_ids == ("small",)
    assert context.left_out == (LeftOut("memory", "huge", "budget"),)
    assert [use[1] for use in remembered.uses] == [("small",)]


async def test_the_same_build_is_the_same_and_the_next_has_another_fence(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said("一", "二")).or_raise()
    service = builder(conversations, Remembered(MEMORIES))
    first, second = await built(service), await built(service)
    assert first == await built(builder(conversations, Remembered(MEMORIES)))
    assert first.messages[0] != second.messages[0]
