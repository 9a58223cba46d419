"""What histories and conversations of pydantic-ai survive."""

from typing import ClassVar

import pytest

pytest.importorskip("pydantic_ai.agent", reason="pydantic-ai is not installed: the extra pydantic-ai has it")

from pydantic_ai.conversation import Conversation
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart

from chatmemory.integrations.pydantic_ai import ChatMemoryConversations, ChatMemoryHistory
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime


class TestHistory(AdapterEndurance):
    """All writers append runs to one history: a question, a call and an answer."""

    failure: ClassVar[type[Exception]] = AgentRunError

    def adapter(self, runtime: Runtime) -> ChatMemoryHistory:
        return ChatMemoryHistory("午饭", runtime)

    async def write(self, adapter: ChatMemoryHistory, name: str, number: int) -> None:
        await adapter.append(run(name, number))

    async def numbers(self, adapter: ChatMemoryHistory, name: str) -> list[int]:
        messages = await adapter.load()
        runs = [messages[start : start + 3] for start in range(0, len(messages), 3)]
        return [number for speaker, number in map(whole_run, runs) if speaker == name]


class TestConversations(AdapterEndurance):
    """Each writer has a conversation, which grows by three messages at a time."""

    failure: ClassVar[type[Exception]] = AgentRunError

    def adapter(self, runtime: Runtime) -> ChatMemoryConversations:
        return ChatMemoryConversations(runtime)

    async def write(self, adapter: ChatMemoryConversations, name: str, number: int) -> None:
        conversation = await adapter.load(name, limit=1) or Conversation(conversation_id=name)
        conversation.messages += run(name, number)
        await adapter.save(conversation)

    async def numbers(self, adapter: ChatMemoryConversations, name: str) -> list[int]:
        conversation = await adapter.load(name)
        messages = [] if conversation is None else conversation.messages
        return [whole_run(messages[start : start + 3])[1] for start in range(0, len(messages), 3)]


def run(name: str, number: int) -> list[ModelMessage]:
    said = f"{name} {number}"
    call, answer = ModelResponse([ToolCallPart("查", {"n": number})]), ModelResponse([TextPart(said)])
    return [ModelRequest.user_text_prompt(said), call, answer]


def whole_run(messages: list[ModelMessage]) -> tuple[str, int]:
    """Return who says which number in all three messages of a run."""
    (question,), (call,), (answer,) = (message.parts for message in messages)
    name, number = question.content.split()
    assert (call.args, answer.content) == ({"n": int(number)}, question.content), "no run is torn"
    return name, int(number)
