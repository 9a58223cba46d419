"""Sessions of openai-agents, theirs and ours: ``python benchmarks/sessions.py [--json FILE]``.

Everybody syncs each commit.  Adds are raced as in ``append.py``; gets ask for the last 20 items of 1,000.  Import times
are processor times of a fresh interpreter.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from append import CONTENT, race
from attrs import define
from contest import MICROSECONDS, Target, durable, in_turns, judge, show
from contestants import (
    OpenaiAsyncSqlite,
    OpenaiSqlite,
    OurSessions,
    OurSessionsInAThread,
    Reader,
    openai_agents,
)
from figures import first, json_option, per_second, write

TASKS = (1, 16, 64)
ROUNDS = 5
SLICE_SECONDS = 0.3
SESSIONS = 4
STORED = 1_000
LAST = 20

IMPORTS = {
    OpenaiAsyncSqlite.name: "import agents; from agents.extensions.memory import AsyncSQLiteSession",
    OurSessions.name: "import agents; from chatmemory.integrations.openai_agents import ChatMemorySession",
    "... and the stack": (
        "import agents; from chatmemory.integrations.openai_agents import ChatMemorySession; "
        "from chatmemory_layers.stacks import embedded"
    ),
}
MOST_BESIDE_MS = 150


@define(eq=False)
class Asked:
    """A contestant that is asked for the end of its sessions."""

    contestant: Reader


async def get_for(asked: Asked, session_ids: Sequence[str], *, tasks: int) -> float:
    """Get from *tasks* tasks for a slice of time; return gets per second."""
    stop = time.perf_counter() + SLICE_SECONDS
    gets = 0

    async def get_on() -> None:
        nonlocal gets
        while time.perf_counter() < stop:
            assert len(await asked.contestant.last(random.choice(session_ids), LAST)) == LAST
            gets += 1

    start = time.perf_counter()
    await asyncio.gather(*(get_on() for _ in range(tasks)))
    return gets / (time.perf_counter() - start)


async def race_gets(kinds: Sequence[type[Reader]], targets: Sequence[Target]) -> dict[str, dict[str, str]]:
    """Let *kinds* race at getting; return the rows of a table."""
    cells: dict[str, dict[str, str]] = {}
    session_ids = [f"session {number}" for number in range(SESSIONS)]
    with tempfile.TemporaryDirectory() as folder:
        asked = [Asked(kind()) for kind in kinds]
        for one in asked:
            await one.contestant.open(Path(folder), SESSIONS)
            for session_id in session_ids:
                await one.contestant.load(session_id, [CONTENT] * STORED)
        for tasks in TASKS:
            laps = await in_turns(asked, lambda one: get_for(one, session_ids, tasks=tasks), rounds=ROUNDS)  # noqa: B023  awaited here
            rates = {one.contestant.name: median(laps[one]) for one in asked}
            rows = {name: (rate, MICROSECONDS * tasks / rate) for name, rate in rates.items()}
            show(f"{tasks} tasks, the last {LAST} of {STORED} items", ["gets/s", "us per get"], rows)
            judge(targets, rates)
            cells[f"the last {LAST} of {STORED:,} items, {tasks} tasks"] = first(
                OurSessions.name, {name: per_second(rate) for name, rate in rates.items()}
            )
        for one in asked:
            await one.contestant.close()
    return cells


def race_imports() -> None:
    """Show what an import of each costs."""
    program = "import time; start = time.process_time(); {}; print((time.process_time() - start) * 1e3)"
    took: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(1 + ROUNDS):
        for name, imports in IMPORTS.items():
            command = [sys.executable, "-c", program.format(imports)]
            took[name].append(
                float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            )
    figures = {name: min(times) for name, times in took.items()}
    show("import, processor time", ["ms"], {name: (figure,) for name, figure in figures.items()})
    theirs, *ours = figures.values()
    for figure in ours:
        verdict = "met" if figure - theirs <= MOST_BESIDE_MS else "MISSED"
        print(f"  {figure - theirs:+.0f} ms beside theirs  {verdict} <= {MOST_BESIDE_MS}")


async def main(file: Path | None) -> None:
    peers = openai_agents()
    kinds = [*peers, OurSessions, OurSessionsInAThread]
    rivals = [OpenaiAsyncSqlite.name, OpenaiSqlite.name]
    targets = [
        Target(kind.name, rival, 1) for kind in (OurSessions, OurSessionsInAThread) for rival in rivals
    ]
    rows: dict[str, dict[str, str]] = {}
    with durable():
        for tasks in TASKS:
            ran = await race(kinds, targets, tasks=tasks, conversations=SESSIONS)
            cells = {name: per_second(rate) for name, rate in ran.rates.items()}
            rows[f"add a message, {tasks} tasks"] = first(OurSessions.name, cells)
        rows |= await race_gets(kinds, targets)
    durability = {kind.name: kind.durability for kind in kinds}
    write(file, {**rows, "an answer to an add means": first(OurSessions.name, durability)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    json_option(parser)
    arguments = parser.parse_args()
    race_imports()
    asyncio.run(main(arguments.json))
