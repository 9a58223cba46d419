"""Adapters tell long-term memory what a session used and that it has ended: promotion by use, expiry at the end."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from chatmemory import LongTermMemory, LongTermMemoryService, ManagedRuntime, Namespace, NewMemory
from chatmemory.settings.memory_settings import (
    ExpirySettings,
    MemorySettings,
    PromotionSettings,
    Settings,
    StoreSettings,
)
from chatmemory_layers import stacks

MEI = Namespace("mei")
SAID = "I never eat peanuts."
QUESTION = "A snack without peanuts, please?"

Runtime: TypeAlias = ManagedRuntime[Any]
Ask: TypeAlias = Callable[[str, str], Awaitable[object]]
"""Asks what a model would be shown: of the session, for the user's message."""
End: TypeAlias = Callable[[str], Awaitable[int]]


@pytest.fixture
async def runtime() -> AsyncGenerator[Runtime]:
    often, ending = PromotionSettings(after_sessions=2), ExpirySettings(at_session_end=True)
    memory = MemorySettings(store=StoreSettings(backend="in_memory"), promotion=often, expiry=ending)
    async with ManagedRuntime(stacks.configured(Settings(memory=memory))) as runtime:
        yield runtime


@pytest.fixture
async def memory(runtime: Runtime) -> LongTermMemory:
    return await runtime.service(LongTermMemoryService)


def agent_framework(runtime: Runtime) -> tuple[Ask, End]:
    framework: Any = pytest.importorskip("agent_framework")
    from chatmemory.integrations.agent_framework import ChatMemoryContextProvider

    provider = ChatMemoryContextProvider(runtime, MEI, saves=False)

    async def ask(session_id: str, message: str) -> None:
        said = framework.Message("user", [message])
        context = framework.SessionContext(session_id=session_id, input_messages=[said])
        session = framework.AgentSession(session_id=session_id)
        await provider.before_run(agent=None, session=session, context=context, state={})

    return ask, lambda session_id: provider.end_session(framework.AgentSession(session_id=session_id))


def llama_index(runtime: Runtime) -> tuple[Ask, End]:
    types: Any = pytest.importorskip("llama_index.core.base.llms.types")
    from chatmemory.integrations.llama_index import ChatMemoryBlock

    async def ask(session_id: str, message: str) -> None:
        block = ChatMemoryBlock(namespace=MEI, runtime=runtime)
        await block.aget([types.ChatMessage(role="user", content=message)], session_id=session_id)

    return ask, ChatMemoryBlock(namespace=MEI, runtime=runtime).aend_session


def pydantic_ai(runtime: Runtime) -> tuple[Ask, End]:
    agents: Any = pytest.importorskip("pydantic_ai.agent")
    models: Any = pytest.importorskip("pydantic_ai.models.test")
    from chatmemory.integrations.pydantic_ai import LongTermMemories

    memories: LongTermMemories[None] = LongTermMemories(MEI, runtime, saves=False)
    agent = agents.Agent(models.TestModel(), capabilities=[memories])
    return (lambda session_id, message: agent.run(message, conversation_id=session_id), memories.end_session)


@pytest.mark.parametrize("adapter", [agent_framework, llama_index, pydantic_ai])
async def test_what_sessions_use_becomes_long_term_and_one_that_ends_takes_its_short_term_memories_along(
    adapter: Callable[[Runtime], tuple[Ask, End]], runtime: Runtime, memory: LongTermMemory
) -> None:
    ask, end = adapter(runtime)
    turn = await memory.save_conversation_turn(MEI, SAID, "", session_id="s0").or_raise()
    for session, kind in (("s0", "short_term"), ("s1", "short_term"), ("s2", "long_term")):
        await ask(session, QUESTION)
        assert (await memory.get(MEI, turn.stored[0]).or_raise()).memory_type == kind
    for session in ("e0", "e1"):
        await memory.save_conversation_turn(MEI, "Is it on?", "Noted.", session_id=session).or_raise()
    assert [await end("e0") for _ in range(2)] == [2, 0]
    left = {one.session_id for one in (await memory.list(MEI, memory_type="short_term").or_raise()).memories}
    assert left & {"e0", "e1"} == {"e1"}


async def test_what_adk_searches_for_counts_as_used(runtime: Runtime, memory: LongTermMemory) -> None:
    pytest.importorskip("google.adk.memory")
    from chatmemory.integrations.google_adk import ChatMemoryMemoryService

    (memory_id,) = (await memory.remember(Namespace("mei", "shop"), [NewMemory(SAID)]).or_raise()).stored
    for count in (1, 2):
        found = await ChatMemoryMemoryService(runtime).search_memory(
            app_name="shop", user_id="mei", query=QUESTION
        )
        assert len(found.memories) == 1
        assert (await memory.get(MEI, memory_id).or_raise()).access_count == count
