"""What the store and the checkpointer survive."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

pytest.importorskip("langgraph.store.base", reason="pip install 'chatmemory-effect[langgraph]'")

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.store.base import PutOp

from chatmemory.integrations.langgraph import ChatMemorySaver, ChatMemoryStore
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime

PARTS = "甲乙丙"


class TestStore(AdapterEndurance):
    """A batch puts one key into three namespaces."""

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


class TestSaver(AdapterEndurance):
    """A batch is a checkpoint with the new values of three channels."""

    failure: ClassVar[type[Exception]] = RuntimeError

    def adapter(self, runtime: Runtime) -> ChatMemorySaver:
        return ChatMemorySaver(runtime)

    async def write(self, adapter: ChatMemorySaver, name: str, number: int) -> None:
        config: Any = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        values: Any = dict.fromkeys(PARTS, number)
        checkpoint: Any = {
            **empty_checkpoint(),
            "id": str(uuid6()),
            "channel_values": values,
            "channel_versions": values,
        }
        await adapter.aput(config, checkpoint, {}, values)

    async def numbers(self, adapter: ChatMemorySaver, name: str) -> list[int]:
        config: Any = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        found = [each.checkpoint["channel_values"] async for each in adapter.alist(config)]
        assert all([*values] == [*PARTS] and len({*values.values()}) == 1 for values in found), "none is torn"
        return [values["甲"] for values in reversed(found)]
