"""Memory services of Google's ADK, theirs and ours: ``python benchmarks/memory_services.py [--json FILE]``.

Everybody syncs each commit.  Each user has said a hundred things; events are added two at a time, and one of the hundred
is searched for.  Theirs finds by words; ours by words and by meaning, and by words alone where it is named so.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import warnings
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from attrs import define, field
from contest import MICROSECONDS, Target, durable, in_turns, judge, show
from contestants import WAL_FULL
from figures import first, json_option, per_second, write
from google.adk.events import Event
from google.adk.memory._sqlite_memory_service import SqliteMemoryService
from google.adk.memory.base_memory_service import BaseMemoryService
from stores import rate

from chatmemory import ManagedRuntime, ThreadRuntime
from chatmemory.integrations.google_adk import ChatMemoryMemoryService
from chatmemory_layers.embedding.none import none
from chatmemory_layers.stacks import embedded

TASKS = (1, 16, 64)
ROUNDS = 3
USERS = 8
SAID = 100
APP = "harbor"

THEIRS = "ADK, SQLite"
OURS = "ours"
OURS_BY_WORDS = "ours, words alone"
OURS_IN_A_THREAD = "ours, ThreadRuntime"


def said(number: int) -> Event:
    text = f"Room {number} at the harbor has a view. 港口的{number}号房间能看见海。"
    return Event(id=f"e{number}", author="user", message=text)


@define(eq=False)
class Contestant:
    """A service that is open."""

    name: str
    service: BaseMemoryService
    numbers: Any = field(factory=lambda: count(SAID))

    async def add(self) -> None:
        number = 2 * next(self.numbers)
        await self._add(number % USERS, [said(number), said(number + 1)])

    async def search(self) -> None:
        number = next(self.numbers)
        found = await self.service.search_memory(
            app_name=APP, user_id=f"u{number % USERS}", query=f"room {number % SAID}"
        )
        assert found.memories

    async def fill(self) -> None:
        for user in range(USERS):
            await self._add(user, [said(number) for number in range(SAID)])

    async def _add(self, user: int, events: list[Event]) -> None:
        await self.service.add_events_to_memory(
            app_name=APP, user_id=f"u{user}", session_id="s", events=events
        )


async def contestants(stack: AsyncExitStack, folder: Path) -> list[Contestant]:
    words_alone = embedded(folder / "words.db", embedder=none)
    runtimes = {
        OURS: await stack.enter_async_context(ManagedRuntime(embedded(folder / "ours.db"))),
        OURS_BY_WORDS: await stack.enter_async_context(ManagedRuntime(words_alone)),
        OURS_IN_A_THREAD: await stack.enter_async_context(ThreadRuntime(embedded(folder / "thread.db"))),
    }
    ours = [Contestant(name, ChatMemoryMemoryService(runtime)) for name, runtime in runtimes.items()]
    return [Contestant(THEIRS, SqliteMemoryService(str(folder / "theirs.db"))), *ours]


async def main(file: Path | None) -> None:
    cells: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            opened = await contestants(stack, Path(folder))
            for one in opened:
                await one.fill()
            for action in ("search", "add"):
                for tasks in TASKS:
                    laps = await in_turns(opened, partial(rate, action=action, tasks=tasks), rounds=ROUNDS)
                    rates = {one.name: median(laps[one]) for one in opened}
                    rows = {
                        name: (each, MICROSECONDS * tasks / each if each else 0.0)
                        for name, each in rates.items()
                    }
                    show(f"{action}, {tasks} tasks", [f"{action}/s", "us each"], rows)
                    judge([Target(one.name, THEIRS, 1) for one in opened[1:]], rates)
                    cells[f"{action}, {tasks} tasks"] = first(
                        OURS, {name: per_second(each) for name, each in rates.items()}
                    )
    durability = dict.fromkeys((OURS, THEIRS, OURS_BY_WORDS, OURS_IN_A_THREAD), WAL_FULL)
    write(file, {**cells, "an answer to an add means": durability})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    json_option(parser)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # ADK calls its own service experimental
    with durable():
        asyncio.run(main(arguments.json))
