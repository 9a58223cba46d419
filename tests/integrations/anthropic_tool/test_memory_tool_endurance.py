"""What the memory tool survives: what every adapter does, all agents writing into one file; moves that are cancelled."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("anthropic", reason="pip install 'chatmemory-effect[anthropic]'")

from anthropic.lib.tools import ToolError

from chatmemory import ManagedRuntime, Namespace
from chatmemory.integrations.anthropic import ChatMemoryTool
from chatmemory.integrations.anthropic.file_tree import size_text
from chatmemory_layers.stacks import embedded
from tests.integrations.adapter_endurance import PATIENCE_SECONDS, AdapterEndurance, Runtime

LOG = "/memories/日志.md"
PARTS = "abc"


def lines(name: object, number: int) -> str:
    return "\n".join(f"{name} {number} {part}" for part in PARTS)


class TestEndurance(AdapterEndurance):
    """A batch is three lines that are put before the others; the listing, an item of its own, has to know the size."""

    failure: ClassVar[type[Exception]] = ToolError

    def adapter(self, runtime: Runtime) -> ChatMemoryTool:
        return ChatMemoryTool(Namespace("梅"), runtime)

    async def write(self, adapter: ChatMemoryTool, name: str, number: int) -> None:
        insert = {"command": "insert", "path": LOG, "insert_line": 0, "insert_text": lines(name, number)}
        try:
            await adapter.call(insert)
        except ToolError as refusal:
            if "does not exist" not in str(refusal):
                raise
            with suppress(ToolError):  # another process has created it meanwhile
                await adapter.call({"command": "create", "path": LOG, "file_text": ""})
            await adapter.call(insert)

    async def numbers(self, adapter: ChatMemoryTool, name: str) -> list[int]:
        shown: Any = await adapter.call({"command": "view", "path": LOG})
        text = "".join([line.split("\t")[1] + "\n" for line in shown.split("\n")[1:-1]])
        heads = [line.split() for line in text.splitlines()[:: len(PARTS)]]
        assert text == "".join([lines(head[0], int(head[1])) + "\n" for head in heads]), "no batch is torn"
        listing: Any = await adapter.call({"command": "view", "path": "/memories"})
        size = len(text.encode())
        assert listing.endswith(f"\n{size_text(size)}\t{LOG}"), "nor the two items"
        return [int(head[1]) for head in reversed(heads) if head[0] == name]


async def test_a_directory_whose_move_is_cancelled_stands_in_one_place_with_all_its_files(
    tmp_path: Path,
) -> None:
    async with ManagedRuntime(embedded(tmp_path / "a.db", durability="process")) as runtime:
        tool = ChatMemoryTool(Namespace("梅"), runtime)
        for number in range(20):
            path = f"/memories/a/{number:02}.md"
            await tool.call({"command": "create", "path": path, "file_text": f"第{number}个"})
        place, moves = "a", 0
        for number in range(40):
            other = "b" if place == "a" else "a"
            move = {"command": "rename", "old_path": f"/memories/{place}", "new_path": f"/memories/{other}"}
            task = asyncio.ensure_future(tool.call(move))
            for _ in range(number % 10):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE_SECONDS)
            listing: Any = await tool.call({"command": "view", "path": "/memories"})
            paths = [line.split("\t")[1] for line in listing.splitlines()[2:]]
            moves += paths[0] != f"/memories/{place}/"
            place = paths[0].split("/")[2]
            assert paths == [
                f"/memories/{place}/",
                *(f"/memories/{place}/{each:02}.md" for each in range(20)),
            ]
            shown: Any = await tool.call({"command": "view", "path": paths[1 + number % 20]})
            assert shown.endswith(f"\t第{number % 20}个")
        assert moves > 0
