"""Long-term stores of LangGraph, theirs and ours: ``python benchmarks/stores.py [--json FILE]``.

Everybody syncs each commit, and nobody embeds but in the searches, where all use one function.  Each is asked from 1, 16
and 64 tasks (theirs that only blocks: from threads).  Import times are those of a fresh interpreter, the rest of which
is taken off.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3  # noqa: TID251  what a peer raises
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from attrs import define, field
from contest import MICROSECONDS, Target, durable, in_turns, judge, show, tells_of_a_lock
from contestants import WAL_FULL
from figures import first, json_option, per_second, write
from langgraph.store.base import BaseStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory_layers.stacks import embedded

TASKS = (1, 16, 64)
ROUNDS = 3
SLICE_SECONDS = 0.3
STORED = 1_000
DIMS = 64
USER = ("users", "mei")
VALUE = {"text": "She is allergic to peanuts. 她对花生过敏。"}

IMPORTS = {
    "AsyncSqliteStore": "import langgraph.store.base; from langgraph.store.sqlite.aio import AsyncSqliteStore",
    "ours": (
        "import langgraph.store.base; from chatmemory import ThreadRuntime; "
        "from chatmemory_layers.stacks import embedded; "
        "from chatmemory.integrations.langgraph import ChatMemoryStore"
    ),
}
MOST_BESIDE_MS = 150


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Count characters: what embedding costs is not what is compared."""
    rows = [[0.0] * DIMS for _ in texts]
    for row, text in zip(rows, texts, strict=True):
        for character in text:
            row[ord(character) % DIMS] += 1.0
    return rows


INDEX: Any = {"dims": DIMS, "embed": embed, "text_fields": ["text"]}


@define(eq=False)
class Contestant:
    """A store that is open; *blocks* when it cannot be awaited."""

    name: str
    open: Callable[[AsyncExitStack, Path, Any], Awaitable[BaseStore]]
    blocks: bool = False
    store: BaseStore = field(init=False)
    is_indexed: bool = field(default=False, init=False)
    next_key: int = field(default=0, init=False)

    async def put(self) -> None:
        self.next_key += 1
        value = {**VALUE, "n": self.next_key % 100}
        await self._do("put", USER, str(self.next_key), value, index=None if self.is_indexed else False)

    async def get(self) -> None:
        self.next_key = self.next_key % STORED + 1
        assert await self._do("get", USER, str(self.next_key)) is not None

    async def search(self) -> None:
        self.next_key = self.next_key % STORED + 1
        assert len(await self._do("search", USER, query=f"peanuts {self.next_key}", limit=5)) == 5

    async def filter(self) -> None:
        self.next_key = (
            self.next_key % STORED + 1
        )  # another each time: theirs runs the same ones of a moment once
        assert len(await self._do("search", USER, filter={"n": self.next_key % 100}, limit=5)) == 5

    async def _do(self, method: str, *words: Any, **options: Any) -> Any:
        if self.blocks:
            return await asyncio.to_thread(getattr(self.store, method), *words, **options)
        return await getattr(self.store, "a" + method)(*words, **options)


async def open_ours(stack: AsyncExitStack, folder: Path, index: Any) -> BaseStore:
    runtime = await stack.enter_async_context(ManagedRuntime(embedded(folder / "ours.db")))
    return ChatMemoryStore(runtime, index=index)


async def open_ours_in_a_thread(stack: AsyncExitStack, folder: Path, index: Any) -> BaseStore:
    runtime = await stack.enter_async_context(ThreadRuntime(embedded(folder / "thread.db")))
    return ChatMemoryStore(runtime, index=index)


async def open_async(stack: AsyncExitStack, folder: Path, index: Any) -> BaseStore:
    opening = AsyncSqliteStore.from_conn_string(str(folder / "async.db"), index=index)
    store = await stack.enter_async_context(opening)
    await store.setup()
    return store


async def open_sync(stack: AsyncExitStack, folder: Path, index: Any) -> BaseStore:
    store = stack.enter_context(SqliteStore.from_conn_string(str(folder / "sync.db"), index=index))
    store.setup()
    return store


def contestants() -> list[Contestant]:
    return [
        Contestant("AsyncSqliteStore", open_async),
        Contestant("SqliteStore, threads", open_sync, blocks=True),
        Contestant("ours", open_ours),
        Contestant("ours, ThreadRuntime", open_ours_in_a_thread),
    ]


TARGETS = [
    Target(ours, theirs, 1)
    for ours in ("ours", "ours, ThreadRuntime")
    for theirs in ("AsyncSqliteStore", "SqliteStore, threads")
]


async def rate(one: Contestant, action: str, *, tasks: int) -> float:
    """Do it from *tasks* tasks for a slice of time; return how often a second it succeeded."""
    stop = time.perf_counter() + SLICE_SECONDS
    done = refused = 0

    async def go_on() -> None:
        nonlocal done, refused
        while time.perf_counter() < stop:
            try:
                await getattr(one, action)()
            except sqlite3.OperationalError as error:
                if not tells_of_a_lock(error):
                    raise
                refused += 1
                continue
            done += 1

    start = time.perf_counter()
    await asyncio.gather(*(go_on() for _ in range(tasks)))
    if refused:
        print(f"  {one.name}: {refused} calls raised 'database is locked'")
    return done / (time.perf_counter() - start)


async def race(actions: Sequence[str], *, index: Any) -> dict[str, dict[str, str]]:
    cells: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            opened = []
            for one in contestants():
                try:
                    one.store, one.is_indexed = await one.open(stack, Path(folder), index), index is not None
                except (
                    AttributeError
                ):  # this Python's sqlite3 loads no extension, which theirs needs for vectors
                    print(f"  {one.name}: cannot search by vector here")
                    continue
                for _ in range(STORED):
                    await one.put()
                opened.append(one)
            for action in actions:
                for tasks in TASKS:
                    laps = await in_turns(opened, partial(rate, action=action, tasks=tasks), rounds=ROUNDS)
                    rates = {one.name: median(laps[one]) for one in opened}
                    rows = {
                        name: (each, MICROSECONDS * tasks / each if each else 0.0)
                        for name, each in rates.items()
                    }
                    show(f"{action}, {tasks} tasks", [f"{action}/s", "us each"], rows)
                    judge(TARGETS, rates)
                    cells[f"{action}, {tasks} tasks"] = first(
                        "ours", {name: per_second(each) for name, each in rates.items()}
                    )
    return cells


def race_imports() -> None:
    program = "import time; {}; start = time.perf_counter(); {}; print((time.perf_counter() - start) * 1e3)"
    took: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(1 + ROUNDS):
        for name, imports in IMPORTS.items():
            command = [sys.executable, "-c", program.format(*imports.split("; ", 1))]
            took[name].append(
                float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            )
    figures = {name: median(times[1:]) for name, times in took.items()}
    show("import", ["ms"], {name: (figure,) for name, figure in figures.items()})
    theirs, ours = figures.values()
    verdict = "met" if ours - theirs <= MOST_BESIDE_MS else "MISSED"
    print(f"  {ours - theirs:+.0f} ms beside theirs  {verdict} <= {MOST_BESIDE_MS}")


async def main(file: Path | None) -> None:
    with durable():
        rows = await race(["get", "filter", "put"], index=None)
        rows |= await race(["search"], index=INDEX)
    write(file, {**rows, "an answer to a put means": {one.name: WAL_FULL for one in contestants()}})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    json_option(parser)
    arguments = parser.parse_args()
    race_imports()
    asyncio.run(main(arguments.json))
