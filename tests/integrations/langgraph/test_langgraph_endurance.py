"""What the store survives: cancelling at any moment, kill -9, eight processes, a damaged file, leaving without close."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("langgraph.store.base", reason="pip install 'chatmemory-effect[langgraph]'")

from langgraph.store.base import PutOp

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory_layers.stacks import embedded

PATIENCE_SECONDS = 60
PARTS = ("甲", "乙", "丙")

PROGRAM = """
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


def puts(name: str, number: int) -> list[PutOp]:
    return [PutOp((part, name), str(number), {"text": f"第{number}"}) for part in PARTS]


def putting(path: Path, name: str, many: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "always", "-c", PROGRAM, str(path), name, str(many)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def numbers_of(store: ChatMemoryStore, name: str) -> list[int]:
    """Return the numbers that *name* has put, each of them in all three namespaces."""
    parts = [{item.key for item in await store.asearch((part, name), limit=100_000)} for part in PARTS]
    assert parts[0] == parts[1] == parts[2], "no batch is torn"
    return sorted(map(int, parts[0]))


@pytest.mark.parametrize("kind", [ManagedRuntime, ThreadRuntime])
async def test_a_batch_that_is_cancelled_at_any_moment_has_happened_whole_or_not_at_all(
    tmp_path: Path, kind: type[ManagedRuntime[object] | ThreadRuntime[object]]
) -> None:
    async with kind(embedded(tmp_path / "a.db")) as runtime:
        store = ChatMemoryStore(runtime)
        await store.abatch(puts("安", 1000))  # the file is open
        cancelled = 0
        for number in range(100):
            task = asyncio.create_task(store.abatch(puts("安", number)))
            for _ in range(number % 12):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE_SECONDS)
            cancelled += task.cancelled()
            await numbers_of(store, "安")
        assert cancelled > 20
        await store.abatch(puts("安", 1001))
        assert {1000, 1001} <= set(await numbers_of(store, "安"))


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for round_ in range(3):
        process = putting(path, f"r{round_}", 100_000)
        assert process.stdout is not None
        for _ in range(20 + 7 * round_):
            assert process.stdout.readline()
        process.kill()
        acknowledged = 20 + 7 * round_ + process.communicate(timeout=PATIENCE_SECONDS)[0].count("\n")
        async with ThreadRuntime(embedded(path)) as runtime:
            numbers = await numbers_of(ChatMemoryStore(runtime), f"r{round_}")
        assert numbers in (list(range(acknowledged)), list(range(acknowledged + 1)))


async def test_eight_processes_put_into_one_store(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    processes = [putting(path, f"p{index}", 10) for index in range(8)]
    for process in processes:
        _, stderr = await asyncio.to_thread(process.communicate, timeout=PATIENCE_SECONDS)
        assert (process.returncode, stderr) == (0, "")
    async with ThreadRuntime(embedded(path)) as runtime:
        store = ChatMemoryStore(runtime)
        for index in range(8):
            assert await numbers_of(store, f"p{index}") == list(range(10))


async def test_a_program_that_leaves_without_closing_leaves_quietly_and_loses_nothing(tmp_path: Path) -> None:
    process = putting(tmp_path / "a.db", "安", 3)
    stdout, stderr = await asyncio.to_thread(process.communicate, timeout=PATIENCE_SECONDS)
    assert (process.returncode, stdout, stderr) == (0, "0\n1\n2\n", "")
    async with ThreadRuntime(embedded(tmp_path / "a.db")) as runtime:
        assert await numbers_of(ChatMemoryStore(runtime), "安") == [0, 1, 2]
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_damaged_file_is_an_exception_and_no_hang(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with ThreadRuntime(embedded(path)) as runtime:
        store = ChatMemoryStore(runtime)
        await store.abatch([PutOp(("a",), str(number), {"text": "x" * 2000}) for number in range(50)])
    content = bytearray(path.read_bytes())
    page_size = int.from_bytes(content[16:18], "big")
    for page in range(len(content) // page_size // 2, len(content) // page_size):
        content[page * page_size : page * page_size + page_size] = b"\xff" * page_size
    path.write_bytes(content)
    async with asyncio.timeout(PATIENCE_SECONDS):
        runtime = ThreadRuntime(embedded(path))
        with pytest.raises(RuntimeError, match="damaged"):
            await ChatMemoryStore(runtime).asearch((), limit=100)
        await asyncio.to_thread(runtime.close)
