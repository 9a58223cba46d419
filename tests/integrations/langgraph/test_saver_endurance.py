"""What the checkpointer survives."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

pytest.importorskip("langgraph.checkpoint.base", reason="pip install 'chatmemory-effect[langgraph]'")

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6

from chatmemory.integrations.langgraph import ChatMemorySaver
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime

PARTS = "甲乙丙"


class TestEndurance(AdapterEndurance):
    """A batch is a checkpoint with the new values of three channels."""

    program: ClassVar[str] = """
import sys
from chatmemory import ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemorySaver
from chatmemory_layers.stacks import embedded
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6

saver = ChatMemorySaver(ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])
config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
for number in range(many):
    values = dict.fromkeys("甲乙丙", number)
    checkpoint = {**empty_checkpoint(), "id": str(uuid6()), "channel_values": values, "channel_versions": values}
    saver.put(config, checkpoint, {}, values)
    print(number, flush=True)
"""
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
