"""What a fork costs: ``python benchmarks/fork.py [--postgres DSN] [--messages 100000]``.

A conversation of 100,000 messages is stored, and branches of it begin at its end, at a message in the middle and at a
version in the middle; each writes one row, however long the conversation is.  Figures are medians of many forks, with
their commits.  At the end a branch is read and must hold what it shares.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from uuid import uuid4

from chatmemory import ChatMemory, ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers import stacks

FORKS = 51
BATCH = 1000
MILLISECONDS = 1000
MOST_MILLISECONDS = 5  # promised for 100,000 messages


async def fill(memory: ChatMemory, talk: str, messages: int) -> None:
    for start in range(0, messages, BATCH):
        batch = [
            NewMessage("user", "屋顶的事我们说到哪里了？", f"{number}")
            for number in range(start, start + BATCH)
        ]
        await memory.add_messages(talk, batch).or_raise()


async def timed(memory: ChatMemory, talk: str, at: str | int | None, name: Callable[[], str]) -> float:
    """Return the median milliseconds of a fork."""
    spent: list[float] = []
    for _ in range(FORKS):
        start = time.perf_counter()
        await memory.fork(talk, name(), at=at).or_raise()
        spent.append((time.perf_counter() - start) * MILLISECONDS)
    return median(spent)


async def measure(stack: stacks.Stack, title: str, messages: int) -> None:
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(ChatMemoryService)
        talk = f"long {uuid4()}"
        await fill(memory, talk, messages)
        middle = messages // 2
        for what, at in (
            ("its end", None),
            ("a message in the middle", f"{middle}"),
            ("a version in the middle", middle // BATCH),
        ):
            cost = await timed(memory, talk, at, lambda: f"branch {uuid4()}")
            verdict = "ok" if cost < MOST_MILLISECONDS else "too slow"
            print(
                f"{title:10} {messages} messages, a fork at {what:24} {cost:6.2f} ms  {verdict}", flush=True
            )
        branch = f"branch {uuid4()}"
        await memory.fork(talk, branch, at=f"{middle}").or_raise()
        (last,) = await memory.get_messages(branch, limit=1).or_raise()
        assert last.id == f"{middle}"


def main() -> None:
    """Measure the embedded store, and a server when one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--messages", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(stacks.embedded(Path(folder) / "fork.db"), "SQLite", options.messages))
    if options.postgres:
        asyncio.run(measure(stacks.postgres(options.postgres), "PostgreSQL", options.messages))


if __name__ == "__main__":
    main()
