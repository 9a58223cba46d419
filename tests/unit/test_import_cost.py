"""Heavy modules are loaded by whoever uses them, when they do, and the way of a call stays short."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from chatmemory_layers import entry
from tests.forked import modules_loaded_by
from tests.patience import PATIENCE_SECONDS

HEAVY = {
    "aiosqlite",
    "asyncpg",
    "cattrs",
    "fastapi",
    "httpx",
    "litestar",
    "numpy",
    "opentelemetry",
    "sentence_transformers",
    "sqlite3",
    "starlette",
    "trio",
    "uvicorn",
}


def test_an_import_loads_neither_numpy_nor_a_driver_nor_a_web_framework_and_hardly_anything() -> None:
    nothing = modules_loaded_by("pass")
    loaded = {
        statement: modules_loaded_by(statement)
        for statement in (
            "import chatmemory",
            "import chatmemory.effect",
            "from chatmemory import LongTermMemoryService, MemoryRepositoryTag",
            "from chatmemory import ChatMemory, Effect, Layer, ManagedRuntime",
            "from chatmemory_layers import stacks",
        )
    }
    for statement, modules in loaded.items():
        assert modules & HEAVY == set(), statement
        assert "chatmemory" in modules
    for statement in ("import chatmemory", "from chatmemory_layers import stacks"):
        assert len(loaded[statement] - nothing) <= 30
    assert "sqlite3" in modules_loaded_by("import sqlite3") & HEAVY  # so the test can fail


MESSAGES_ONLY = """
import asyncio
from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers import stacks

async def chat():
    async with ManagedRuntime(stacks.embedded("chat.db")) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("c1", [NewMessage(role="user", content="早上好")]).or_raise()
        assert len(await memory.get_messages("c1").or_raise()) == 1

asyncio.run(chat())
"""


WITHOUT_VECTORS = """
import asyncio
from chatmemory import LongTermMemoryService, ManagedRuntime, Namespace, NewMemory
from chatmemory_layers import stacks
from chatmemory_layers.embedding.none import none

async def remember():
    async with ManagedRuntime(stacks.embedded("memory.db", embedder=none)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        await memory.remember(Namespace("小明"), [NewMemory("绿茶")]).or_raise()
        assert len((await memory.recall(Namespace("小明"), "绿茶").or_raise()).hits) == 1

asyncio.run(remember())
"""


def test_numpy_is_not_loaded_before_vectors_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = "from chatmemory_layers import stacks; stacks.embedded('chat.db')"
    for script in (made, MESSAGES_ONLY, WITHOUT_VECTORS):
        assert "numpy" not in modules_loaded_by(script), script


COMMAND = """
import sys
from chatmemory_layers.entry import pastchats_memory
try:
    pastchats_memory()
finally:
    print(*sys.modules, file=sys.stderr)
"""

TOO_SLOW_FOR_A_RECALL = HEAVY - {"sqlite3"} | {
    "anyio",
    "asyncio",
    "chatmemory.errors.caller_errors",
    "chatmemory.errors.service_errors",
    "chatmemory.pastchats.formats.histories",
    "chatmemory.longterm.memories",
    "chatmemory.pastchats.past_chats",
    "chatmemory.programs.pastchats.printed_past_chats",
    "chatmemory_layers.sqlite.engine.migrations",
    "difflib",
    "chatmemory.pastchats.indexing.prompt_drafts",
    "chatmemory.settings.memory_settings",
    "importlib.metadata",
    "logging",
    "random",
    "snowballstemmer",
    "ssl",
    "tomllib",
}


def test_a_recall_loads_nothing_that_takes_longer_than_it(tmp_path: Path) -> None:
    index = tmp_path / "索引.db"
    history = tmp_path / "history.jsonl"
    turns = [
        {"role": "user", "content": "重试 webhook 吗？"},
        {"role": "assistant", "content": "Use a queue."},
    ]
    history.write_text(json.dumps({"messages": turns}) + "\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CHATMEMORY_")}
    for arguments in (
        ["index", "--db", str(index), "--input", str(history)],
        ["recall", "--db", str(index), "--query", "how do I 重试 a webhook?"],
    ):
        program = [sys.executable, "-c", COMMAND, *arguments]
        done = subprocess.run(program, check=True, capture_output=True, text=True, env=environment)
    assert "Use a queue." in done.stdout
    loaded = set(done.stderr.split())
    assert "chatmemory.pastchats.finding.past_chats_live" in loaded
    assert loaded & TOO_SLOW_FOR_A_RECALL == set()


def test_a_command_does_not_collect_again_and_again_what_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.get_threshold()
    try:
        for command in ("pastchats_memory", "chatmemory"):
            monkeypatch.setattr(sys, "argv", [command, "--help"])
            gc.set_threshold(700)
            with pytest.raises(SystemExit):
                getattr(entry, command)()
            assert gc.get_threshold()[0] >= 10_000
    finally:
        gc.set_threshold(*before)


PATH: Final = Path(__file__).parents[2] / "benchmarks" / "path.py"

AT_MOST: Final = {
    "get_messages": {"files": 6, "backs": 3},
    "add_messages": {"files": 9, "backs": 5},
    "remember": {"files": 25, "backs": 72},
    "recall": {"files": 19, "backs": 46},
    "HTTP GET messages": {"files": 19, "backs": 19},
}
"""What was reached.  A way that has become shorter lowers its bound here."""


def test_the_way_of_a_call_is_no_longer_than_it_was() -> None:
    # In a process of its own: a profiler of this one would see the other tests, and be seen by their coverage.
    command = [sys.executable, str(PATH), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    counted: dict[str, dict[str, int]] = json.loads(done.stdout)
    assert counted.keys() == AT_MOST.keys()
    assert all(counts["files"] > 1 for counts in counted.values())
    longer = {
        call: counted[call]
        for call, most in AT_MOST.items()
        if any(counted[call][what] > bound for what, bound in most.items())
    }
    assert longer == {}, f"{sys.executable} {PATH} --steps CALL shows the way"
