"""What the store survives."""

from __future__ import annotations

from typing import ClassVar

import pytest

pytest.importorskip("langgraph.store.base", reason="pip install 'chatmemory-effect[langgraph]'")

from langgraph.store.base import PutOp

from chatmemory.integrations.langgraph import ChatMemoryStore
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime

PARTS = ("甲", "乙", "丙")


class TestEndurance(AdapterEndurance):
    """A batch puts one key into three namespaces."""

    program: ClassVar[str] = """
import sys
from chatmemory import ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory_layers.stacks import embedded
from langgraph.store.base import PutOp

store = ChatMemoryStore(ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])
for number in range(many):
    store.batch([PutOp((part, name), str(number), {"text": f"第{number}"}) for part in "甲乙丙"])
    print(number, flush=True)
"""
    failure: ClassVar[type[Exception]] = RuntimeError

    def adapter(self, runtime: Runtime) -> ChatMemoryStore:
        return ChatMemoryStore(runtime)

    async def write(self, adapter: ChatMemoryStore, name: str, number: int) -> None:
        await adapter.abatch([PutOp((part, name), str(number), {"text": f"第{number}"}) for part in PARTS])

    async def numbers(self, adapter: ChatMemoryStore, name: str) -> list[int]:
        parts = [await adapter.asearch((part, name), limit=100_000) for part in PARTS]
        keys = [[item.key for item in items] for items in parts]
        assert set(keys[0]) == set(keys[1]) == set(keys[2]), "no batch is torn"
        return list(map(int, reversed(keys[0])))  # a search without a query gives the newest first
