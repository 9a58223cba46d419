"""What every adapter survives: cancelling at any moment, kill -9, several processes, a damaged file, leaving unclosed.

``class TestEndurance(AdapterEndurance)`` beside the tests of an adapter says how that adapter is made, written and read.
"""

import asyncio
import inspect
import sqlite3
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory_layers.stacks import MemoryTags, embedded
from tests.forked import ROOT, Forked, imports_of
from tests.patience import PATIENCE_SECONDS
from tests.thorough import rounds, thorough

ATTEMPTS = rounds(36, thorough=100)
KILLS = rounds(1, thorough=3)
PROCESSES = rounds(2, thorough=8)
AWAY_MOST = 12
"""How many rounds of the event loop a write gets at most before it is cancelled."""

PROGRAM = """
import asyncio, sys
from chatmemory import ThreadRuntime
from chatmemory_layers.stacks import embedded
from {module} import {kind}

async def write():
    endurance = {kind}()
    adapter = endurance.adapter(ThreadRuntime(embedded(sys.argv[1])))
    for number in range(int(sys.argv[3])):
        await endurance.write(adapter, sys.argv[2], number)
        print(number, flush=True)

asyncio.run(write())
"""
Runtime = ManagedRuntime[MemoryTags] | ThreadRuntime[MemoryTags]


class AdapterEndurance:
    """A batch is what an adapter stores at once; it has several parts, so that half of it could be there."""

    failure: ClassVar[type[Exception]] = RuntimeError
    """What the framework's user sees of a damaged store."""

    failure_when_closed: ClassVar[type[Exception] | None] = None
    """What the user sees of a runtime that is closed, where it is another class."""

    failure_of_looking: ClassVar[type[Exception] | None] = None
    """What ``numbers`` sees of it, where it looks at memories beside an adapter that has no list of them."""

    def adapter(self, runtime: Runtime) -> Any:
        """Return the adapter on *runtime*."""
        raise NotImplementedError

    async def write(self, adapter: Any, name: str, number: int) -> None:
        """Store batch *number* of the writer *name*, whose parts say both."""
        raise NotImplementedError

    async def numbers(self, adapter: Any, name: str) -> list[int]:
        """Return the numbers of the batches of *name* in their order, and assert that each has all its parts."""
        raise NotImplementedError

    async def write_many(self, adapter: Any) -> None:
        for number in range(60):
            await self.write(adapter, "甲", number)

    def writing(self, path: Path, name: str, many: int) -> Forked:
        """Start a program that writes the batches 0 to *many* - 1 of *name* and never closes its runtime."""
        file = Path(inspect.getfile(type(self))).relative_to(ROOT)
        program = PROGRAM.format(module=".".join(file.with_suffix("").parts), kind=type(self).__name__)
        command = (sys.executable, "-W", "always", "-c", program, path, name, str(many))
        return Forked(*command, loaded=imports_of(program))

    async def numbers_in(self, path: Path, *names: str) -> list[list[int]]:
        async with ThreadRuntime(embedded(path)) as runtime:
            adapter = self.adapter(runtime)
            return [await self.numbers(adapter, name) for name in names]

    @pytest.mark.parametrize("kind", [ManagedRuntime, ThreadRuntime])
    async def test_a_write_that_is_cancelled_at_any_moment_has_happened_whole_or_not_at_all(
        self, tmp_path: Path, kind: type[Runtime]
    ) -> None:
        async with kind(embedded(tmp_path / "a.db", durability="process")) as runtime:
            adapter = self.adapter(runtime)
            await self.write(adapter, "甲", 1000)  # the file is open
            expected, cancelled = [1000], 0
            for number in range(ATTEMPTS):
                task = asyncio.ensure_future(self.write(adapter, "甲", number))
                for _ in range(number % AWAY_MOST):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task], timeout=PATIENCE_SECONDS)
                cancelled += task.cancelled()
                known = await self.numbers(adapter, "甲")
                assert known in (expected, [*expected, number]), "whole or not at all, and none comes in late"
                expected = known
            assert cancelled > ATTEMPTS // 5
            await self.write(adapter, "甲", 1001)
            assert await self.numbers(adapter, "甲") == [*expected, 1001]

    async def test_what_was_acknowledged_survives_kill_9(self, tmp_path: Path) -> None:
        path = tmp_path / "a.db"
        acknowledged: dict[str, int] = {}
        for round_ in range(KILLS):
            with self.writing(path, f"r{round_}", 100_000) as process:
                lines = [process.stdout.readline() for _ in range(20 + 7 * round_)]
                assert all(lines), process.stderr.read()
                process.kill()
                lines += process.stdout.readlines()
            acknowledged[f"r{round_}"] = len(lines)
        found = await self.numbers_in(path, *acknowledged)
        for numbers, many in zip(found, acknowledged.values(), strict=True):
            is_right = numbers in (list(range(many)), list(range(many + 1)))
            assert is_right, f"{many} were acknowledged, one more may have been on its way; found {numbers}"

    async def test_processes_that_leave_without_closing_write_into_one_store_and_leave_quietly(
        self, tmp_path: Path
    ) -> None:
        path, names = tmp_path / "a.db", [f"p{number}" for number in range(PROCESSES)]
        with ExitStack() as running:
            for process in [running.enter_context(self.writing(path, name, 10)) for name in names]:
                printed, complained = process.communicate()
                expected = "".join(f"{number}\n" for number in range(10))
                assert (process.wait(), printed, complained) == (0, expected, "")
        assert await self.numbers_in(path, *names) == [list(range(10))] * PROCESSES
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    @pytest.mark.parametrize("damage", ["half of its pages", pytest.param("written over", marks=thorough)])
    async def test_a_damaged_file_and_a_closed_runtime_are_exceptions_of_the_framework_and_no_hang(
        self, tmp_path: Path, damage: str
    ) -> None:
        path = tmp_path / "a.db"
        async with ThreadRuntime(embedded(path, durability="process")) as runtime:
            await self.write_many(self.adapter(runtime))
        path.write_bytes(damaged(path.read_bytes(), damage))
        async with asyncio.timeout(PATIENCE_SECONDS):
            runtime = ThreadRuntime(embedded(path))
            adapter = self.adapter(runtime)
            with pytest.raises(self.failure_of_looking or self.failure, match=r"damaged|not a store"):
                await self.numbers(adapter, "甲")
            with pytest.raises(self.failure, match=r"damaged|not a store"):
                await self.write_many(adapter)  # some may find a page that is whole
            await asyncio.to_thread(runtime.close)
            with pytest.raises(self.failure_when_closed or self.failure, match="is closed"):
                await self.write(adapter, "甲", 0)


def damaged(content: bytes, damage: str) -> bytes:
    """Return the file as it is damaged; what the store says of other damages, the tests of its reliability ask."""
    if damage == "written over":
        return "你好".encode() * 1000
    page_size = int.from_bytes(content[16:18], "big")
    half = len(content) // page_size // 2 * page_size
    return content[:half] + b"\xff" * half
