"""A preview: the same context under other settings or at another time, and why everything else stays out of it."""

from datetime import UTC, datetime
from typing import Any

from chatmemory import ChatContextService, DataValidationError, NewMemory, StrategySettings
from chatmemory.context.chat_context import ChatContext, Instructions
from chatmemory.context.context_preview import ContextPreview
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.effect import ManagedRuntime
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.remembered import USER, Remembered
from tests.unit.conftest import Desk
from tests.unit.context.contexts import MEMORIES, builder, built, roles, said

WORDS = ("一", "二", "三", "四", "五", "六")


async def previewed(
    conversations: ChatMemory, remembered: Remembered | None = None, **tried: Any
) -> ChatContext:
    """Build a context of which only the preview says anything unusual."""
    service = builder(conversations, remembered or Remembered())
    return await built(service, preview=ContextPreview(**tried))


def ids(context: ChatContext) -> list[str | None]:
    return [message.id for message in context.messages[:-1]]


def left_out(context: ChatContext, reason: str) -> list[str]:
    return [one.id for one in context.left_out if one.reason == reason]


async def test_a_preview_of_nothing_else_is_the_context_itself(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said(*WORDS)).or_raise()
    service = builder(conversations, Remembered(MEMORIES))
    told = Instructions(system="Be brief.")
    usual = await built(service, instructions=told, peek=True)
    tried = await built(service, instructions=told, preview=ContextPreview())
    assert [len(one.content) for one in tried.messages] == [len(one.content) for one in usual.messages]
    assert (ids(tried), tried.parts) == (ids(usual), usual.parts)


async def test_the_parts_and_the_messages_add_up_to_the_tokens(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said(*WORDS)).or_raise()
    for role in ("system", "user"):
        service = builder(conversations, Remembered(MEMORIES), memory_role=role)
        context = await built(service, instructions=Instructions(system="Be brief."), peek=True)
        assert sum(part.tokens for part in context.parts) == context.tokens == sum(context.message_tokens)
        assert len(context.message_tokens) == len(context.messages)
        parts = [part.part for part in context.parts]
        assert parts == ["instructions", "memories", "conversation", "user_message"]


async def test_a_smaller_budget_or_window_is_tried_and_not_saved(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said(*WORDS)).or_raise()
    service = builder(conversations, Remembered())
    small = await built(service, preview=ContextPreview(tokens=6))
    assert small.tokens <= 6
    assert left_out(small, "budget") == ["一", "二", "三", "四"]
    narrow = await built(service, preview=ContextPreview(window_messages=2))
    assert (left_out(narrow, "window"), ids(narrow)) == (["一", "二", "三", "四"], ["五", "六"])
    assert ids(await built(service)) == [*WORDS]


async def test_what_a_strategy_would_summarize_is_left_out(conversations: ChatMemory) -> None:
    await conversations.add_messages("c", said(*WORDS)).or_raise()
    context = await previewed(conversations, strategy="summarize", summarize_every_n=5, keep_last=2)
    assert (left_out(context, "summary"), ids(context)) == (["一", "二", "三", "四"], ["五", "六"])
    assert not left_out(await previewed(conversations, strategy="summarize"), "summary"), (
        "20 are not there yet"
    )
    within = await previewed(conversations, strategy="token_budget", token_budget=4, keep_last=1)
    assert left_out(within, "summary") == ["一", "二", "三", "四"]
    assert await conversations.count("c").or_raise() == len(WORDS)


async def test_without_a_strategy_the_messages_stand_in_the_place_of_their_summary(desk: Desk) -> None:
    settings = StrategySettings(type="summarize", summarize_every_n=6, keep_last=1)
    async with desk.open(settings) as conversations:
        await conversations.add_messages("c", said(*WORDS)).or_raise()
        usual = await previewed(conversations)
        assert len(ids(usual)) == 2
        assert [part.part for part in usual.parts] == ["summaries", "conversation", "user_message"]
        plain = await previewed(conversations, strategy="none")
        assert ids(plain) == [*WORDS]
        assert "summaries" not in {part.part for part in plain.parts}


async def test_why_a_memory_is_left_out_is_told() -> None:
    """On a whole stack: what is outranked, and what is too unlike the message."""
    async with ManagedRuntime(stacks.testing()) as runtime:
        memories = await runtime.service(LongTermMemoryService)
        tea = [NewMemory(f"I drink green tea number {n}", id=f"tea{n}") for n in range(12)]
        await memories.remember(
            USER, [*tea, NewMemory("我的车停在地下二层", id="car")], dedup="none"
        ).or_raise()
        contexts = await runtime.service(ChatContextService)
        context = await contexts.build(USER, "c", "which green tea", preview=ContextPreview()).or_raise()
        named = {*context.memory_ids, *left_out(context, "limit"), *left_out(context, "unlike")}
        assert named == {*(f"tea{n}" for n in range(12)), "car"}
        assert left_out(context, "unlike") == ["car"]
        assert left_out(context, "limit")
        assert not set(context.memory_ids) & set(left_out(context, "limit"))
        assert context.recall is not None
        assert [one.memory.id for one in context.recall.passed_over] == [one.id for one in context.left_out]


async def test_the_past_is_previewed_with_its_conversation_and_its_memories() -> None:
    async with ManagedRuntime(stacks.testing()) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memories = await runtime.service(LongTermMemoryService)
        contexts = await runtime.service(ChatContextService)
        await chat.add_messages("c", said("一")).or_raise()
        await memories.remember(USER, [NewMemory("the tea is green", id="tea")]).or_raise()
        now = await contexts.build(USER, "c", "tea?", preview=ContextPreview()).or_raise()
        assert (ids(now)[-1], now.memory_ids) == ("一", ("tea",))
        then = ContextPreview(as_of=datetime(2020, 1, 1, tzinfo=UTC))
        before = await contexts.build(USER, "c", "tea?", preview=then).or_raise()
        assert roles(before) == ["user"]
        assert before.left_out == ()


@for_each(
    ("preview", "path"),
    [
        (ContextPreview(strategy="summarize", summarize_every_n=3), "$.preview.keep_last"),
        (ContextPreview(as_of=datetime(2020, 1, 1)), "$.preview.as_of"),  # noqa: DTZ001  it is refused
        ("tokens=3", "$.preview"),
    ],
)
async def test_a_preview_of_nonsense_is_refused(conversations: ChatMemory, preview: Any, path: str) -> None:
    outcome = await builder(conversations, Remembered()).build(USER, "c", "x", preview=preview)
    error = outcome.failure()
    assert isinstance(error, DataValidationError)
    assert [problem.path for problem in error.problems] == [path]
