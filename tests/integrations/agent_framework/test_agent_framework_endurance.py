"""What a history of Agent Framework survives."""

from __future__ import annotations

from typing import ClassVar

import pytest

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

from agent_framework import Content, Message
from agent_framework.exceptions import IntegrationException

from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime


class TestEndurance(AdapterEndurance):
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
