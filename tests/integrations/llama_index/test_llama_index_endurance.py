"""What a memory block of LlamaIndex survives."""

from typing import ClassVar

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: the extra llama-index has it")

from llama_index.core.base.llms.types import ChatMessage

from chatmemory import LongTermMemoryService, Memory, Namespace
from chatmemory.integrations.llama_index import ChatMemoryBlock
from chatmemory.integrations.llama_index.messages import RAISING
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime

MEI = Namespace("mei")


class TestEndurance(AdapterEndurance):
    """Each writer is a session.  A turn is a fact and two sides; whoever dies in between keeps them when it is shown again."""

    program: ClassVar[str] = """
import asyncio, sys
from chatmemory import Namespace, ThreadRuntime
from chatmemory.integrations.llama_index import ChatMemoryBlock
from chatmemory_layers.stacks import embedded
from llama_index.core.base.llms.types import ChatMessage

block = ChatMemoryBlock(namespace=Namespace("mei"), runtime=ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])
session = {"session_id": name}

async def talk():
    for number in range(many):
        said = ChatMessage(f"我喜欢喝{name}的{number}号茶。", additional_kwargs=session)
        answer = ChatMessage(f"好的 {number}", role="assistant", additional_kwargs=session)
        await block.aput([said, answer])
        print(number, flush=True)

asyncio.run(talk())
"""
    failure: ClassVar[type[Exception]] = RuntimeError

    def adapter(self, runtime: Runtime) -> ChatMemoryBlock:
        return ChatMemoryBlock(namespace=MEI, runtime=runtime)

    async def write(self, adapter: ChatMemoryBlock, name: str, number: int) -> None:
        said = ChatMessage(f"我喜欢喝{name}的{number}号茶。", additional_kwargs={"session_id": name})
        answer = ChatMessage(f"好的 {number}", role="assistant", additional_kwargs={"session_id": name})
        await adapter.aput([said, answer])

    async def numbers(self, adapter: ChatMemoryBlock, name: str) -> list[int]:
        kept = await all_kept(adapter, name)
        facts = {f"{one.content}。" for one in kept if one.memory_type == "long_term"}
        questions = {one.content for one in kept if one.memory_type == "short_term" and one.role == "user"}
        answers = [one.content for one in reversed(kept) if one.role == "assistant"]
        numbers = [int(answer.split()[1]) for answer in answers]
        whole = {f"我喜欢喝{name}的{number}号茶。" for number in numbers}
        assert whole <= facts & questions, "no turn is torn"
        assert len(facts | questions) <= len(whole) + 1, "kill -9 leaves one half at most"
        return numbers


async def all_kept(block: ChatMemoryBlock, session_id: str) -> list[Memory]:
    """Return all that is kept of a session, newest first."""
    kept: list[Memory] = []
    after: str | None = None
    while True:
        page = await RAISING.run(
            block.runtime,
            LongTermMemoryService.use(
                lambda memory, after=after: memory.list(MEI, limit=500, session_id=session_id, after=after)
            ),
        )
        kept += page.memories
        if page.next is None:
            return kept
        after = page.next
