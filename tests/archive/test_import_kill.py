"""An import that is killed, and run again, leaves what one run leaves."""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import ManagedRuntime
from chatmemory.laws.kit.samples import START, batch, said
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory_layers import stacks
from tests.archive.rich_store import MEI, export_of, fill
from tests.forked import Forked, run_forked
from tests.http.served import CHATMEMORY
from tests.patience import PATIENCE_SECONDS
from tests.thorough import rounds

pytestmark = pytest.mark.usefixtures("everybody")

KILLS = rounds(2, thorough=20)


async def a_long_export() -> list[str]:
    async with ManagedRuntime(stacks.testing()) as runtime:
        await fill(runtime)
        messages = await runtime.service(MessageRepositoryTag)
        memories = await runtime.service(MemoryRepositoryTag)
        for number in range(3):
            drafts = [said(f"m{one}", f"第 {one} 句") for one in range(700)]
            await messages.append(batch(f"long/{number}", *drafts, now=START)).or_raise()
        facts = [remembered(f"f{number}", f"fact {number}", namespace=MEI) for number in range(600)]
        await memories.store(tuple(facts)).or_raise()
        return await export_of(runtime)


async def exported_by(place: Path) -> list[str]:
    async with ManagedRuntime(stacks.embedded(place)) as runtime:
        return await export_of(runtime)


def wait_for_messages(place: Path) -> None:
    """Wait until an import that goes on has stored something."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if place.exists():
            try:
                with closing(sqlite3.connect(place)) as connection:
                    if connection.execute("SELECT count(*) FROM chat_message").fetchone()[0]:
                        return
            except sqlite3.OperationalError:
                pass  # its tables are being made
        time.sleep(0.01)  # between two looks at the file


def test_an_import_that_is_killed_and_run_again_is_as_one_run(tmp_path: Path) -> None:
    lines = asyncio.run(a_long_export())
    place = tmp_path / "二.db"
    for number in range(1, KILLS + 1):
        with Forked(CHATMEMORY, "import", "--store", place) as process:
            process.stdin.write("".join(lines[: len(lines) * number // (KILLS + 1)]))
            process.stdin.flush()
            wait_for_messages(place)
            assert process.poll() is None  # it waits for the rest of its lines
            process.kill()
    exported = tmp_path / "all.jsonl"
    exported.write_text("".join(lines), encoding="utf-8")
    assert run_forked(CHATMEMORY, "import", exported, "--store", place).returncode == 0
    assert asyncio.run(exported_by(place)) == lines
