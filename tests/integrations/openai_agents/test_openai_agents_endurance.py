"""What sessions survive: cancelling at any moment, kill -9, eight processes, a damaged file, leaving without close."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="pip install 'chatmemory-effect[openai-agents]'")

from agents.exceptions import AgentsException

from chatmemory import ThreadRuntime
from chatmemory.contracts import ChatMemoryService
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded

PATIENCE_SECONDS = 60

PROGRAM = """
import asyncio, sys
from chatmemory import ThreadRuntime
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers.stacks import embedded

session = ChatMemorySession("会话", ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])

async def talk():
    for number in range(many):
        await session.add_items([{"role": "user", "content": f"{name} {number} {part}"} for part in "abc"])
        print(number, flush=True)

asyncio.run(talk())
"""


def batch(name: object, number: int) -> list[Any]:
    return [{"role": "user", "content": f"{name} {number} {part}"} for part in "abc"]


def talking(path: Path, name: str, many: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "always", "-c", PROGRAM, str(path), name, str(many)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def items_in(path: Path) -> list[Any]:
    async with ThreadRuntime(embedded(path)) as runtime:
        return list(await ChatMemorySession("会话", runtime).get_items())


async def test_an_add_that_is_cancelled_at_any_moment_has_happened_whole_or_not_at_all(
    runtime: ThreadRuntime[ChatMemoryService],
) -> None:
    session = ChatMemorySession("会话", runtime)
    expected: list[Any] = []
    cancelled = 0
    for number in range(120):
        task = asyncio.create_task(session.add_items(batch("甲", number)))
        for _ in range(number % 6):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_SECONDS)
        cancelled += task.cancelled()
        known = await session.get_items()
        assert known in (expected, [*expected, *batch("甲", number)]), "whole or not at all"
        expected = known
    assert cancelled > 50
    await session.add_items(batch("乙", 0))
    assert await session.get_items() == [*expected, *batch("乙", 0)], "and nothing came in late"


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
        await asyncio.sleep(0.005)
        assert await session.get_items() == known, "nothing goes late"


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    acknowledged = 0
    for round_ in range(3):
        process = talking(path, f"r{round_}", 100_000)
        assert process.stdout is not None
        for _ in range(20 + 7 * round_):
            assert process.stdout.readline()
        process.kill()
        said = process.communicate(timeout=PATIENCE_SECONDS)[0]
        acknowledged += 20 + 7 * round_ + said.count("\n")
        items = await items_in(path)
        assert len(items) % 3 == 0
        assert len(items) // 3 - acknowledged in range(round_ + 2), "at most one was on its way in each round"
        for start in range(0, len(items), 3):
            name, number, _ = items[start]["content"].split()
            assert items[start : start + 3] == batch(name, int(number))


async def test_eight_processes_talk_into_one_session(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    processes = [talking(path, f"p{index}", 10) for index in range(8)]
    for process in processes:
        _, stderr = await asyncio.to_thread(process.communicate, timeout=PATIENCE_SECONDS)
        assert (process.returncode, stderr) == (0, "")
    items = await items_in(path)
    heads = [tuple(items[start]["content"].split()[:2]) for start in range(0, len(items), 3)]
    for head, start in zip(heads, range(0, len(items), 3), strict=True):
        assert items[start : start + 3] == batch(head[0], int(head[1])), "no batch is torn"
    for index in range(8):
        assert [int(number) for name, number in heads if name == f"p{index}"] == list(range(10))


def test_a_program_that_leaves_without_closing_leaves_quietly_and_loses_nothing(tmp_path: Path) -> None:
    process = talking(tmp_path / "a.db", "甲", 3)
    stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, stdout, stderr) == (0, "0\n1\n2\n", "")
    assert len(asyncio.run(items_in(tmp_path / "a.db"))) == 9
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_damaged_file_is_an_exception_and_no_hang(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with ThreadRuntime(embedded(path)) as runtime:
        session = ChatMemorySession("会话", runtime)
        for number in range(50):
            await session.add_items([{"role": "user", "content": f"{number} " + "x" * 2000}])
    content = bytearray(path.read_bytes())
    page_size = int.from_bytes(content[16:18], "big")
    for page in range(len(content) // page_size // 2, len(content) // page_size):
        content[page * page_size : page * page_size + page_size] = b"\xff" * page_size
    path.write_bytes(content)
    async with asyncio.timeout(PATIENCE_SECONDS):
        runtime = ThreadRuntime(embedded(path))
        with pytest.raises(AgentsException, match="damaged"):
            await ChatMemorySession("会话", runtime).get_items()
        await asyncio.to_thread(runtime.close)
