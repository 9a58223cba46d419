"""A pytest plugin that lets the SDK's own tests of its memory tools, which keep files on disk, run on ours.

They look at the disk and put files there.  So the tools here take in what lies on the disk before a command, and lay out
what the store has behind it; the commands in between are ours alone.  ``test_foreign_suites.py`` starts it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import anthropic.tools.memory
from anyio import Path as AsyncPath

from chatmemory import Effect, Namespace, ThreadRuntime
from chatmemory.integrations.anthropic import BlockingChatMemoryTool, ChatMemoryTool, FileBounds
from chatmemory.integrations.anthropic.memory_files import MemoryFiles
from chatmemory.items.item_repository import ItemRepositoryTag, ItemSearch, StoredItem
from chatmemory_layers.stacks import embedded

# Where the SDK's tests take its tools from: the module in which they are defined.
theirs = sys.modules[anthropic.tools.memory.BetaLocalFilesystemMemoryTool.__module__]
BREAK = os.environ.get(
    "BREAK_TOOL", ""
)  # the name of a command that is to do nothing, to see the suite notice it
NOW = datetime(2026, 11, 22, tzinfo=UTC)
MEI = Namespace("梅", "suite")
THEIR_BOUNDS = FileBounds(
    file_bytes=8 * 1024 * 1024
)  # they know none, and one of their files has a million lines


class Disk:
    """The folder that the tests look at, and the store of the tool under test."""

    in_use: ClassVar[list[Disk]] = []

    def __init__(self, base_path: str) -> None:
        self.root = Path(base_path) / "memories"
        self.root.mkdir(parents=True, exist_ok=True)
        self.store = Path(tempfile.mkdtemp())
        self.runtime = ThreadRuntime(embedded(self.store / "a.db", durability="process"))
        self.files = MemoryFiles(MEI, THEIR_BOUNDS)
        self.in_use.append(self)

    def take_in(self) -> None:
        stored = self.stored()
        for path in self.root.rglob("*"):
            name = f"/{path.relative_to(self.root)}"
            if path.is_file() and stored.get(name) != path.read_bytes():
                if name in stored:
                    self.run(self.files.delete(f"/memories{name}"))
                self.run(self.files.create(f"/memories{name}", path.read_bytes().decode()))

    def lay_out(self) -> None:
        shutil.rmtree(self.root)
        self.root.mkdir()
        for name, content in self.stored().items():
            path = self.root / name[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def stored(self) -> dict[str, bytes]:
        search = ItemSearch(self.files.labels, 100)
        items: tuple[StoredItem, ...] = self.run(
            ItemRepositoryTag.use(lambda items: items.search(search, now=NOW))
        )
        return {
            item.name.key: json.loads(item.value)["text"].encode() for item in items if item.name.key != "/"
        }

    def leave(self) -> None:
        self.runtime.close()
        shutil.rmtree(self.store)

    def run(self, effect: Effect[Any, Any, Any]) -> Any:
        return self.runtime.run_blocking(effect).unwrap()


class BetaLocalFilesystemMemoryTool(BlockingChatMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        self.disk = Disk(base_path)
        self.base_path, self.memory_root = Path(base_path), self.disk.root
        super().__init__(MEI, self.disk.runtime, bounds=THEIR_BOUNDS)

    def _run(self, effect: Any) -> str:
        self.disk.take_in()
        try:
            return super()._run(effect)
        finally:
            self.disk.lay_out()


class BetaAsyncLocalFilesystemMemoryTool(ChatMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        self.disk = Disk(base_path)
        self.base_path, self.memory_root = AsyncPath(base_path), AsyncPath(self.disk.root)
        super().__init__(MEI, self.disk.runtime, bounds=THEIR_BOUNDS)

    async def _run(self, effect: Any) -> str:
        self.disk.take_in()
        try:
            return await super()._run(effect)
        finally:
            self.disk.lay_out()


def pytest_runtest_teardown() -> None:
    while Disk.in_use:
        Disk.in_use.pop().leave()


def does_nothing(*_: object) -> str:
    return "done"


async def does_nothing_later(*_: object) -> str:
    return "done"


if BREAK:
    setattr(BetaLocalFilesystemMemoryTool, BREAK, does_nothing)
    setattr(BetaAsyncLocalFilesystemMemoryTool, BREAK, does_nothing_later)
for tool in (BetaLocalFilesystemMemoryTool, BetaAsyncLocalFilesystemMemoryTool):
    setattr(theirs, tool.__name__, tool)
