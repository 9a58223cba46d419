"""What a chat store of LlamaIndex survives."""

from typing import ClassVar

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: the extra llama-index has it")

from llama_index.core.base.llms.types import ChatMessage

from chatmemory.integrations.llama_index import ChatMemoryChatStore
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime


def batch(name: str, number: int) -> list[ChatMessage]:
    return [ChatMessage(f"{name} {number} {part}") for part in "abc"]


class TestEndurance(AdapterEndurance):
    """Each writer has a key, and sets its messages anew, three more each time."""

    program: ClassVar[str] = """
import sys
from chatmemory import ThreadRuntime
from chatmemory.integrations.llama_index import ChatMemoryChatStore
from chatmemory_layers.stacks import embedded
from llama_index.core.base.llms.types import ChatMessage

store = ChatMemoryChatStore(runtime=ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])
said = []
for number in range(many):
    said += [ChatMessage(f"{name} {number} {part}") for part in "abc"]
    store.set_messages(name, said)
    print(number, flush=True)
"""
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
