"""How fast memories with given vectors are stored, 100 in a batch: ``python benchmarks/remember.py``.

Beside chatmemory a loop over ``sqlite3`` writes the very same rows into the same tables, with their indexes: it copies
what chatmemory has made of them before, and has nothing to think of.  Both sync every batch.
"""

from __future__ import annotations

import asyncio
import sqlite3  # noqa: TID251  what chatmemory is compared with
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Protocol

from contest import Target, durable, in_turns, judge, show
from memories import DIM, NAMESPACE, World, given_vectors

from chatmemory import LongTermMemory, LongTermMemoryService, ManagedRuntime
from chatmemory_layers.stacks import embedded

ROUNDS = 7
BATCH = 100
BATCHES = 10  # in a lap
MEMORIES = (1 + ROUNDS) * BATCHES * BATCH

TABLES = ("memory_user", "memory_space", "atomic_memory", "memory_embedding")


class Rememberer(Protocol):
    """A way to store memories."""

    name: ClassVar[str]

    async def store(self, start: int) -> None:
        """Store a batch durably, the memories from *start* on."""


class Ours:
    """chatmemory: rules, words, deduplication, all of it."""

    name: ClassVar[str] = "chatmemory"

    def __init__(self, memory: LongTermMemory, world: World) -> None:
        self.memory = memory
        self.memories = world.memories(0, MEMORIES)

    async def store(self, start: int) -> None:
        batch = self.memories[start : start + BATCH]
        report = await self.memory.remember(NAMESPACE, batch).or_raise()
        assert len(report.stored) == BATCH


class Raw:
    """A loop of inserts."""

    name: ClassVar[str] = "limit: sqlite3, same rows"

    def __init__(self, made: Path, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        with sqlite3.connect(made) as source:
            rows = {table: source.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}
        for table in TABLES[:2]:
            self.connection.executemany(_insert(table, rows[table]), rows[table])
        self.pairs = list(zip(rows["atomic_memory"], rows["memory_embedding"], strict=True))
        self.insert_memory, self.insert_embedding = (_insert(table, rows[table]) for table in TABLES[2:])

    async def store(self, start: int) -> None:
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        for memory, embedding in self.pairs[start : start + BATCH]:
            execute(self.insert_memory, memory)
            execute(self.insert_embedding, embedding)
        execute("COMMIT")


def _insert(table: str, rows: Sequence[Sequence[Any]]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"


async def store_some(starts: dict[str, Iterator[int]], contestant: Rememberer) -> float:
    """Store the next lap's memories; return memories per second."""
    start = time.perf_counter()
    for _ in range(BATCHES):
        await contestant.store(next(starts[contestant.name]))
    return BATCHES * BATCH / (time.perf_counter() - start)


async def main() -> None:
    world = World(MEMORIES, 1)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(durable())

        async def opened(path: Path) -> LongTermMemory:
            runtime = ManagedRuntime(embedded(path, embedder=given_vectors(world)))
            return await (await stack.enter_async_context(runtime)).service(LongTermMemoryService)

        made = Ours(await opened(folder / "made.db"), world)
        for start in range(0, MEMORIES, BATCH):
            await made.store(start)
        async with ManagedRuntime(embedded(folder / "raw.db")):
            pass
        ours, raw = Ours(await opened(folder / "ours.db"), world), Raw(folder / "made.db", folder / "raw.db")
        starts = {one.name: iter(range(0, MEMORIES, BATCH)) for one in (ours, raw)}
        laps = await in_turns([raw, ours], lambda contestant: store_some(starts, contestant), rounds=ROUNDS)
    rates = {contestant.name: median(lap) for contestant, lap in laps.items()}
    title = f"batches of {BATCH} memories with vectors of {DIM} dimensions"
    show(title, ["memories/s"], {name: [rate] for name, rate in rates.items()})
    judge([Target(Ours.name, Raw.name, 0.5)], rates)


if __name__ == "__main__":
    asyncio.run(main())
