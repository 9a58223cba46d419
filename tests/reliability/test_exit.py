"""A program that never closes its store still ends, at once and without a word, and what it was told is stored is there.

Each program here is one that people write: they forget, they fail, they keep a global.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import run_forked
from tests.reliability.store import open_store

# {ending}: what main() does with the open store after its message was acknowledged.
PROGRAM = """
import asyncio, sys
from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage, StrategySettings
from tests.reliability.store import chat_store

kept = []

async def open_and_add():
    runtime = ManagedRuntime(chat_store(sys.argv[1], StrategySettings(type="summarize", execution="background")))
    await runtime.__aenter__()
    memory = await runtime.service(ChatMemoryService)
    await memory.add_messages("c", [NewMessage("user", "记住我", id="m")]).or_raise()
    return runtime, memory

async def main():
    runtime, memory = await open_and_add()
    {ending}

asyncio.run(main())
"""


ADD = 'kept.append(asyncio.ensure_future(memory.add_messages("d", [NewMessage("user", "x")]).or_raise()))'


def run(program: str, path: Path) -> subprocess.CompletedProcess[str]:
    return run_forked(sys.executable, "-c", program, path)


async def stored_ids(path: Path) -> list[str]:
    async with open_store(str(path)) as memory:
        return [message.id for message in await memory.get_messages("c").or_raise()]


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("pass", id="forgets to close"),
        pytest.param("kept.append((runtime, memory))", id="keeps it in a global variable"),
        pytest.param("sys.exit()", id="exits in the middle"),
        pytest.param("asyncio.create_task(asyncio.Event().wait()); kept.append(runtime)", id="leaves a task"),
        pytest.param(f"{ADD}; await asyncio.sleep(0)", id="leaves an add on its way"),
    ],
)
async def test_a_program_that_does_not_close_ends_quietly(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ended = run(PROGRAM.replace("{ending}", ending), path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert await stored_ids(path) == ["m"]


async def test_a_program_that_fails_shows_its_own_exception_only(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ended = run(PROGRAM.replace("{ending}", 'kept.append(runtime); raise KeyError("mine")'), path)
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback") == 1
    assert ended.stderr.endswith("KeyError: 'mine'\n")
    assert await stored_ids(path) == ["m"]
