"""Several processes write to one SQLite file at once: none fails, no batch is torn, each finds its own order kept."""

import asyncio
import sys
from pathlib import Path

from tests.reliability.numbered import check_batches, full_view
from tests.reliability.programs.append_some import SHARED
from tests.reliability.store import open_store

PROCESSES = 8
BATCHES = 20
MIGRATIONS = 5


async def run_at_once(address: str, writers: list[str], *, batches: int) -> None:
    """Start a process for each writer, let all loose at one moment, and see that each ends well and says nothing."""
    pipe = asyncio.subprocess.PIPE
    program = ["-m", "tests.reliability.programs.append_some", address]
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, *program, writer, str(batches), stdin=pipe, stdout=pipe, stderr=pipe
        )
        for writer in writers
    ]
    for child in children:
        assert child.stdout is not None
        assert await child.stdout.readline() == b"ready\n"
    ended = await asyncio.gather(*(child.communicate(b"go\n") for child in children))
    assert [
        (child.returncode, errors.decode()) for child, (_, errors) in zip(children, ended, strict=True)
    ] == [(0, "") for _ in children]


async def test_eight_processes_append_to_one_file(tmp_path: Path) -> None:
    address = str(tmp_path / "chat.db")
    writers = [f"process{number}" for number in range(PROCESSES)]
    await run_at_once(address, writers, batches=BATCHES)
    async with open_store(address) as memory:
        assert check_batches(await full_view(memory, SHARED)) == dict.fromkeys(writers, BATCHES)
        for writer in writers:
            assert check_batches(await full_view(memory, writer)) == {writer: BATCHES}


async def test_two_processes_create_and_migrate_one_file(tmp_path: Path) -> None:
    for number in range(MIGRATIONS):
        address = str(tmp_path / f"chat{number}.db")
        await run_at_once(address, ["one", "other"], batches=1)
        async with open_store(address) as memory:
            assert check_batches(await full_view(memory, SHARED)) == {"one": 1, "other": 1}
