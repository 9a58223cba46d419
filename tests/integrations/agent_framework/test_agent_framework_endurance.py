"""What histories and memories of Agent Framework survive."""

from __future__ import annotations

import re
from typing import ClassVar, cast

import pytest

pytest.importorskip("agent_framework.exceptions", reason="pip install 'chatmemory-effect[agent-framework]'")

from agent_framework import Agent, AgentSession, Content, Message, SessionContext
from agent_framework.exceptions import IntegrationException

from chatmemory import EffectFailed, Namespace
from chatmemory.integrations.agent_framework import ChatMemoryContextProvider, ChatMemoryHistoryProvider
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime
from tests.integrations.long_term import all_kept


class TestHistoryEndurance(AdapterEndurance):
    """All writers save turns of one session: a question, a call, its result and an answer."""

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

    failure: ClassVar[type[Exception]] = IntegrationException
    failure_of_looking = EffectFailed

    def adapter(self, runtime: Runtime) -> ChatMemoryContextProvider:
        return ChatMemoryContextProvider(runtime, lambda session: Namespace(session.session_id))

    async def write(self, adapter: ChatMemoryContextProvider, name: str, number: int) -> None:
        said = [Message("user", [f"我喜欢喝{number}号茶。"]), Message("user", [f"我喜欢吃{number}号饼。"])]
        context = SessionContext(session_id="会话", input_messages=said)
        await adapter.after_run(
            agent=cast("Agent", None), session=AgentSession(session_id=name), context=context, state={}
        )

    async def numbers(self, adapter: ChatMemoryContextProvider, name: str) -> list[int]:
        kept = [one.content for one in reversed(await all_kept(adapter._runtime, Namespace(name)))]
        teas, cakes = (
            [int(re.findall(r"\d+", one)[0]) for one in kept if what in one] for what in ("茶", "饼")
        )
        assert teas == cakes, "nothing is kept by halves"
        return teas
