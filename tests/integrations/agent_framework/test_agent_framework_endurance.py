"""What histories and memories of Agent Framework survive."""

from __future__ import annotations

import re
from typing import ClassVar, cast

import pytest

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

from agent_framework import Agent, AgentSession, Content, Message, SessionContext
from agent_framework.exceptions import IntegrationException

from chatmemory import LongTermMemoryService, Namespace
from chatmemory.integrations.agent_framework import ChatMemoryContextProvider, ChatMemoryHistoryProvider
from chatmemory.integrations.agent_framework.messages import RAISING
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime


class TestHistoryEndurance(AdapterEndurance):
    """All writers save turns of one session: a question, a call, its result and an answer."""

    program: ClassVar[str] = """
import asyncio, sys
from agent_framework import Content, Message
from chatmemory import ThreadRuntime
from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from chatmemory_layers.stacks import embedded

history = ChatMemoryHistoryProvider(ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])

async def talk():
    for number in range(many):
        said = f"{name} {number}"
        call = Content.from_function_call("c1", "查", arguments={"n": number})
        result = Content.from_function_result("c1", result=said)
        turn = Message("user", [said]), Message("assistant", [call]), Message("tool", [result]), Message("assistant", [said])
        await history.save_messages("会话", turn)
        print(number, flush=True)

asyncio.run(talk())
"""
    failure: ClassVar[type[Exception]] = IntegrationException

    def adapter(self, runtime: Runtime) -> ChatMemoryHistoryProvider:
        return ChatMemoryHistoryProvider(runtime)

    async def write(self, adapter: ChatMemoryHistoryProvider, name: str, number: int) -> None:
        said = f"{name} {number}"
        call = Content.from_function_call("c1", "查", arguments={"n": number})
        result = Content.from_function_result("c1", result=said)
        turn = [Message("user", [said]), Message("assistant", [call]), Message("tool", [result])]
        await adapter.save_messages("会话", [*turn, Message("assistant", [said])])

    async def numbers(self, adapter: ChatMemoryHistoryProvider, name: str) -> list[int]:
        messages = await adapter.get_messages("会话")
        turns = [messages[start : start + 4] for start in range(0, len(messages), 4)]
        return [number for speaker, number in map(whole_turn, turns) if speaker == name]


def whole_turn(messages: list[Message]) -> tuple[str, int]:
    """Return who says which number in all four messages of a turn."""
    question, call, result, answer = messages
    name, number = question.text.split()
    assert call.contents[0].arguments == {"n": int(number)}, "no turn is torn"
    assert result.contents[0].result == answer.text == question.text, "no turn is torn"
    return name, int(number)


class TestMemoryEndurance(AdapterEndurance):
    """Each writer is a user, who says two things at once."""

    program: ClassVar[str] = """
import asyncio, sys
from agent_framework import AgentSession, Message, SessionContext
from chatmemory import Namespace, ThreadRuntime
from chatmemory.integrations.agent_framework import ChatMemoryContextProvider
from chatmemory_layers.stacks import embedded

name, many = sys.argv[2], int(sys.argv[3])
memories = ChatMemoryContextProvider(ThreadRuntime(embedded(sys.argv[1])), Namespace(name))

async def talk():
    for number in range(many):
        said = [Message("user", [f"我喜欢喝{number}号茶。"]), Message("user", [f"我喜欢吃{number}号饼。"])]
        context = SessionContext(session_id="会话", input_messages=said)
        await memories.after_run(agent=None, session=AgentSession(), context=context, state={})
        print(number, flush=True)

asyncio.run(talk())
"""
    failure: ClassVar[type[Exception]] = IntegrationException

    def adapter(self, runtime: Runtime) -> ChatMemoryContextProvider:
        return ChatMemoryContextProvider(runtime, lambda session: Namespace(session.session_id))

    async def write(self, adapter: ChatMemoryContextProvider, name: str, number: int) -> None:
        said = [Message("user", [f"我喜欢喝{number}号茶。"]), Message("user", [f"我喜欢吃{number}号饼。"])]
        context = SessionContext(session_id="会话", input_messages=said)
        await adapter.after_run(
            agent=cast("Agent", None), session=AgentSession(session_id=name), context=context, state={}
        )

    async def numbers(self, adapter: ChatMemoryContextProvider, name: str) -> list[int]:
        kept = await all_kept(adapter, Namespace(name))
        teas, cakes = (
            [int(re.findall(r"\d+", one)[0]) for one in kept if what in one] for what in ("茶", "饼")
        )
        assert teas == cakes, "nothing is kept by halves"
        return teas


async def all_kept(provider: ChatMemoryContextProvider, namespace: Namespace) -> list[str]:
    """Return all memories, oldest first."""
    kept: list[str] = []
    after: str | None = None
    while True:
        page = await RAISING.run(
            provider._runtime,
            LongTermMemoryService.use(
                lambda memory, after=after: memory.list(namespace, limit=500, after=after)
            ),
        )
        kept += [one.content for one in page.memories]
        if page.next is None:
            return kept[::-1]
        after = page.next
