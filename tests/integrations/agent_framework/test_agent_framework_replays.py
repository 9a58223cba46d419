"""What is handed in again is stored once, and what is said again is stored again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, Message
from scripted_client import ScriptedClient

from chatmemory import ManagedRuntime, StrategySettings
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags

Runtime = ManagedRuntime[MemoryTags]
sessions = map(str, count())


def says(*texts: str) -> list[Message]:
    """Return what two say in turn, the user first."""
    return [Message("assistant" if index % 2 else "user", [text]) for index, text in enumerate(texts)]


SAID = strategies.builds(
    Message,
    strategies.sampled_from(["user", "assistant"]),
    strategies.sampled_from([["好"], ["不"]]),
    message_id=strategies.none() | strategies.sampled_from(["m1", "m2"]),
)


@pytest.fixture
async def runtime() -> AsyncGenerator[Runtime]:
    async with ManagedRuntime(stacks.testing()) as runtime:
        yield runtime


@pytest.fixture
async def summarizing() -> AsyncGenerator[Runtime]:
    """Summarize as soon as four messages have gathered, and keep the last two."""
    strategy = StrategySettings(type="summarize", summarize_every_n=4, keep_last=2)
    async with ManagedRuntime(stacks.testing(strategy=strategy)) as runtime:
        yield runtime


async def all_said(runtime: Runtime, session_id: str) -> list[tuple[str, str]]:
    """Return who has said what, the summaries aside."""
    memory = await runtime.service(ChatMemoryService)
    if not await memory.exists(session_id).or_raise():
        return []
    full = await memory.get_messages(session_id, view="full").or_raise()
    return [(one.role, one.content) for one in full if one.role != "summary"]


async def texts(history: ChatMemoryHistoryProvider, session_id: str = "lunch") -> list[str]:
    return [message.text for message in await history.get_messages(session_id)]


@pytest.mark.parametrize("strategy", ["none", "summarize"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(saves=strategies.lists(strategies.lists(SAID, max_size=4), max_size=5))
@example([says("好"), says("好", "不")])
@example([says("好"), [*says("好"), *says("好")]])
@example([says("好", "好", "好"), says("好", "好", "好", "好", "好")])
async def test_what_is_handed_in_again_is_what_the_framework_says(
    runtime: Runtime, summarizing: Runtime, strategy: str, saves: list[list[Message]]
) -> None:
    ours = ChatMemoryHistoryProvider(runtime if strategy == "none" else summarizing)
    theirs, session_id, state = InMemoryHistoryProvider(), next(sessions), dict[str, list[Message]]()
    for messages in saves:
        await ours.save_messages(session_id, messages)
        await theirs.save_messages(session_id, messages, state=state)
    expected = [(one.role, one.text) for one in state.get("messages", [])]
    assert await all_said(summarizing if strategy == "summarize" else runtime, session_id) == expected


async def test_a_turn_that_says_what_the_last_one_said_is_a_turn(runtime: Runtime) -> None:
    """The framework's own providers lose the second."""
    history = ChatMemoryHistoryProvider(runtime)
    agent = Agent(ScriptedClient("好的"), context_providers=[history])
    for _ in range(3):
        await agent.run("继续", session=AgentSession(session_id="lunch"))
    assert await texts(history) == ["继续", "好的"] * 3


async def test_a_summary_stands_in_the_place_of_what_it_covers(summarizing: Runtime) -> None:
    history = ChatMemoryHistoryProvider(summarizing)
    client = ScriptedClient("noted")
    agent = Agent(client, context_providers=[history])
    for hour in (9, 10, 11):
        await agent.run(f"At {hour}:00 we meet in room {hour}.", session=AgentSession(session_id="plan"))
    summary, *rest = await history.get_messages("plan")
    assert (summary.role, [one.text for one in rest]) == ("user", ["At 11:00 we meet in room 11.", "noted"])
    assert "sums up earlier messages" in summary.text
    assert "room 9" in summary.text
    assert (await history.get_messages("plan"))[0].text == summary.text, "the same each time, for caches"
    await agent.run("Where?", session=AgentSession(session_id="plan"))
    assert client.texts()[-1] == [summary.text, *(one.text for one in rest), "Where?"]


async def test_a_summary_that_is_handed_in_again_is_nobodys_words(summarizing: Runtime) -> None:
    history = ChatMemoryHistoryProvider(summarizing)
    await history.save_messages("plan", says("一", "二", "三", "四"))
    seen = await history.get_messages("plan")
    assert len(seen) == 3
    await history.save_messages("plan", [*seen, *says("五")])
    assert [text for _, text in await all_said(summarizing, "plan")] == ["一", "二", "三", "四", "五"]


async def test_summaries_between_the_messages_hide_no_repetition(summarizing: Runtime) -> None:
    history = ChatMemoryHistoryProvider(summarizing)
    said = says(*map(str, range(30)))
    for end in range(2, 30, 3):
        await history.save_messages("plan", said[:end])
    assert [text for _, text in await all_said(summarizing, "plan")] == [str(number) for number in range(29)]
