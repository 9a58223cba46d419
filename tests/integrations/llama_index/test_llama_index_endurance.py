"""What a memory block and a chat store of LlamaIndex survive."""

from typing import ClassVar

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: the extra llama-index has it")

from llama_index.core.base.llms.types import ChatMessage

from chatmemory import EffectFailed
from chatmemory.integrations.llama_index import ChatMemoryBlock, ChatMemoryChatStore
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime
from tests.integrations.long_term import MEI, all_kept


class TestBlock(AdapterEndurance):
    """Each writer is a session.  A turn is a fact and two sides; whoever dies in between keeps them when it is shown again."""

    failure: ClassVar[type[Exception]] = RuntimeError
    failure_of_looking = EffectFailed

    def adapter(self, runtime: Runtime) -> ChatMemoryBlock:
        return ChatMemoryBlock(namespace=MEI, runtime=runtime)

    async def write(self, adapter: ChatMemoryBlock, name: str, number: int) -> None:
        said = ChatMessage(f"我喜欢喝{name}的{number}号茶。", additional_kwargs={"session_id": name})
        answer = ChatMessage(f"好的 {number}", role="assistant", additional_kwargs={"session_id": name})
        await adapter.aput([said, answer])

    async def numbers(self, adapter: ChatMemoryBlock, name: str) -> list[int]:
        kept = await all_kept(adapter.runtime, session_id=name)
        facts = {f"{one.content}。" for one in kept if one.memory_type == "long_term"}
        questions = {one.content for one in kept if one.memory_type == "short_term" and one.role == "user"}
        answers = [one.content for one in reversed(kept) if one.role == "assistant"]
        numbers = [int(answer.split()[1]) for answer in answers]
        whole = {f"我喜欢喝{name}的{number}号茶。" for number in numbers}
        assert whole <= facts & questions, "no turn is torn"
        assert len(facts | questions) <= len(whole) + 1, "kill -9 leaves one half at most"
        return numbers


def batch(name: str, number: int) -> list[ChatMessage]:
    return [ChatMessage(f"{name} {number} {part}") for part in "abc"]


class TestChatStore(AdapterEndurance):
    """Each writer has a key, and sets its messages anew, three more each time."""

    failure: ClassVar[type[Exception]] = RuntimeError

    def adapter(self, runtime: Runtime) -> ChatMemoryChatStore:
        return ChatMemoryChatStore(runtime=runtime)

    async def write(self, adapter: ChatMemoryChatStore, name: str, number: int) -> None:
        known = await adapter.aget_messages(name)
        await adapter.aset_messages(name, [*known, *batch(name, number)])

    async def numbers(self, adapter: ChatMemoryChatStore, name: str) -> list[int]:
        messages = await adapter.aget_messages(name)
        assert len(messages) % 3 == 0
        numbers = [int((one.content or "").split()[1]) for one in messages[::3]]
        assert messages == [one for number in numbers for one in batch(name, number)], "no batch is torn"
        return numbers
