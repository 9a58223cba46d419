"""What sessions survive: what every adapter does, removals that are cancelled, and a compaction that is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")

from agents.exceptions import AgentsException

from chatmemory import ThreadRuntime
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded
from tests.forked import Forked, imports_of
from tests.integrations.adapter_endurance import KILLS, PATIENCE_SECONDS, AdapterEndurance, Runtime


def batch(name: object, number: int) -> list[Any]:
    return [{"role": "user", "content": f"{name} {number} {part}"} for part in "abc"]


class TestEndurance(AdapterEndurance):
    """All writers talk into one session."""

    failure: ClassVar[type[Exception]] = AgentsException

    def adapter(self, runtime: Runtime) -> ChatMemorySession:
        return ChatMemorySession("会话", runtime)

    async def write(self, adapter: ChatMemorySession, name: str, number: int) -> None:
        await adapter.add_items(batch(name, number))

    async def numbers(self, adapter: ChatMemorySession, name: str) -> list[int]:
        items: list[Any] = await adapter.get_items()
        assert len(items) % 3 == 0
        heads = [items[start]["content"].split() for start in range(0, len(items), 3)]
        assert items == [item for head in heads for item in batch(head[0], int(head[1]))], "no batch is torn"
        return [int(head[1]) for head in heads if head[0] == name]


@pytest.mark.parametrize("method", ["pop_item", "clear_session"])
async def test_a_removal_that_is_cancelled_has_a_known_end(
    runtime: ThreadRuntime[ChatMemoryService], method: str
) -> None:
    session = ChatMemorySession("会话", runtime)
    for number in range(20):
        await session.add_items(batch(method, number))
        before = await session.get_items()
        task = asyncio.create_task(getattr(session, method)())
        for _ in range(number % 4):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_SECONDS)
        known = await session.get_items()
        assert known in (before, before[:-1] if method == "pop_item" else [])
        await asyncio.sleep(0.005)  # what would still come would come now
        assert await session.get_items() == known, "nothing goes late"


COMPACTING = """
import asyncio, sys
from types import SimpleNamespace

from agents.memory import OpenAIResponsesCompactionSession

from chatmemory import ThreadRuntime
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded

done = int(sys.argv[2])

class Responses:
    async def compact(self, **_):
        return SimpleNamespace(output=[{"role": "user", "content": f"{done} {part}"} for part in "abc"], usage=None)

async def talk():
    global done
    kept = ChatMemorySession("会话", ThreadRuntime(embedded(sys.argv[1])))
    session = OpenAIResponsesCompactionSession("会话", kept, client=SimpleNamespace(responses=Responses()))
    await session.add_items([{"role": "user", "content": f"{done} {part}"} for part in "abc"])
    print("begun", flush=True)
    while True:
        done += 1
        await session.run_compaction({"force": True, "compaction_mode": "input"})
        print(done, flush=True)

asyncio.run(talk())
"""


async def test_a_compaction_that_is_killed_leaves_what_was_there_or_what_takes_its_place(
    tmp_path: Path,
) -> None:
    path, done = tmp_path / "a.db", 0
    for round_ in range(KILLS):
        command = (sys.executable, "-c", COMPACTING, path, str(done))
        with Forked(*command, loaded=imports_of(COMPACTING)) as process:
            lines = [process.stdout.readline() for _ in range(3 + 5 * round_)]
            assert all(lines), process.stderr.read()
            process.kill()
            lines += process.stdout.readlines()
        last = done + len(lines) - 1
        async with ThreadRuntime(embedded(path)) as runtime:
            items: list[Any] = await ChatMemorySession("会话", runtime).get_items()
        contents = [item["content"] for item in items]
        known = [[f"{number} {part}" for part in "abc"] for number in (last, last + 1)]
        assert contents in known, "what was acknowledged last, or the one that was on its way"
        done = int(contents[0].split()[0])
        async with ThreadRuntime(embedded(path)) as runtime:
            await ChatMemorySession("会话", runtime).clear_session()
