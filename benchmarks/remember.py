"""How fast memories with vectors are stored, 100 in a batch: ``python benchmarks/remember.py [--without-log] [--json FILE]``.

Beside chatmemory a loop over ``sqlite3`` writes the very same rows into the same tables, with their indexes: it copies
what chatmemory has made of them before, and has nothing to think of.  LangGraph's store runs without an index of
vectors, where it is installed: it keeps the text alone, as nobody who searches would; beside vectors it runs in
``memory_contest.py``.  All sync every batch (write-ahead log, ``synchronous=FULL``).
``--without-log`` races a store whose log of events is off beside the real one, and nobody else.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3  # noqa: TID251  what chatmemory is compared with
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Protocol

from attrs import define
from contest import MICROSECONDS, Target, durable, in_turns, judge, show
from contestants import without_log
from figures import json_option, per_second, write
from memories import DIM, NAMESPACE, World, given_vectors

from chatmemory import LongTermMemory, LongTermMemoryService, ManagedRuntime
from chatmemory_layers.stacks import embedded

ROUNDS = 7
BATCH = 100
BATCHES = 10  # in a lap
MEMORIES = (1 + ROUNDS) * BATCHES * BATCH

LOG_COSTS = 1.15  # CPU of a memory with the log, beside one without

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


class OursWithoutLog(Ours):
    """The same, in a file of its own, with the log of events off."""

    name: ClassVar[str] = "chatmemory, log off"

    async def store(self, start: int) -> None:
        with without_log():
            await super().store(start)


class LangGraph:
    """LangGraph's ``SqliteStore`` without an index: no words, no vectors."""

    name: ClassVar[str] = "LangGraph SqliteStore, text"

    def __init__(self, stack: AsyncExitStack, path: Path, world: World) -> None:
        from langgraph.store.sqlite import SqliteStore

        self.given = world.memories(0, MEMORIES)
        self.keeper = stack.enter_context(SqliteStore.from_conn_string(str(path)))
        self.keeper.setup()

    async def store(self, start: int) -> None:
        from langgraph.store.base import PutOp

        place = (NAMESPACE.user, NAMESPACE.app)
        batch = self.given[start : start + BATCH]
        self.keeper.batch([PutOp(place, str(one.id), {"text": one.content}) for one in batch])


def _insert(table: str, rows: Sequence[Sequence[Any]]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"


@define
class Lap:
    """What a lap of memories has cost, by the clock and in CPU of the whole process."""

    per_second: float
    cpu_us: float


async def store_some(starts: dict[str, Iterator[int]], contestant: Rememberer) -> Lap:
    """Store the next lap's memories."""
    start, cpu_start = time.perf_counter(), time.process_time()
    for _ in range(BATCHES):
        await contestant.store(next(starts[contestant.name]))
    stored, cpu = BATCHES * BATCH, time.process_time() - cpu_start
    return Lap(stored / (time.perf_counter() - start), cpu / stored * MICROSECONDS)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--without-log", action="store_true")
    json_option(parser)
    arguments = parser.parse_args()
    world = World(MEMORIES, 1)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(durable())

        async def opened(path: Path) -> LongTermMemory:
            runtime = ManagedRuntime(embedded(path, embedder=given_vectors(world)))
            return await (await stack.enter_async_context(runtime)).service(LongTermMemoryService)

        # It also shows the stemmer the words, which it knows after a while.
        made = Ours(await opened(folder / "made.db"), world)
        for start in range(0, MEMORIES, BATCH):
            await made.store(start)
        racers: list[Rememberer] = [Ours(await opened(folder / "ours.db"), world)]
        if arguments.without_log:
            racers.append(OursWithoutLog(await opened(folder / "without_log.db"), world))
        else:
            async with ManagedRuntime(embedded(folder / "raw.db")):
                pass
            racers.insert(0, Raw(folder / "made.db", folder / "raw.db"))
            try:
                racers.append(LangGraph(stack, folder / "langgraph.db", world))
            except ImportError:
                print(
                    "LangGraph's store is not installed and left out: pip install langgraph-checkpoint-sqlite"
                )
        starts = {one.name: iter(range(0, MEMORIES, BATCH)) for one in racers}
        laps = await in_turns(racers, lambda contestant: store_some(starts, contestant), rounds=ROUNDS)
    rates = {racer.name: median(lap.per_second for lap in laps[racer]) for racer in racers}
    cpu = {racer.name: median(lap.cpu_us for lap in laps[racer]) for racer in racers}
    show(
        f"batches of {BATCH} memories with vectors of {DIM} dimensions",
        ["memories/s", "CPU us"],
        {name: [rate, cpu[name]] for name, rate in rates.items()},
    )
    if arguments.without_log:
        judge([Target(Ours.name, OursWithoutLog.name, LOG_COSTS, at_most=True)], cpu)
    else:
        judge([Target(Ours.name, Raw.name, 0.6)], rates)
        cells = {"chatmemory": per_second(rates[Ours.name]), "by hand": per_second(rates[Raw.name])}
        write(arguments.json, {f"memories stored, {BATCH} at once": cells})


if __name__ == "__main__":
    asyncio.run(main())
