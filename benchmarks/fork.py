"""What a fork costs: ``python benchmarks/fork.py [--postgres DSN]``.

Conversations of 1,000 and of 100,000 messages are forked at their end, at a message in the middle and at a version in the
middle.  A fork copies messages, so on SQLite each figure stands beside the same rows copied by one plain statement, with its
commit.  Figures are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3  # noqa: TID251  the raw driver stands beside ours
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import median

from chatmemory import ChatMemory, ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers import stacks

SIZES = (1_000, 100_000)
FORKS = 7
BATCH = 500
MILLISECONDS = 1_000
COLUMNS = "seq, place, id, role, sent_at_us, tokens, covered_by, metadata, content, version, stored_at_us"
COPY = f"""
INSERT INTO chat_message (conversation_key, {COLUMNS})
SELECT ?, {COLUMNS} FROM chat_message
WHERE conversation_key = (SELECT conversation_key FROM chat_conversation WHERE conversation_id = ?) AND seq <= ?
"""


async def fill(memory: ChatMemory, talk: str, messages: int) -> None:
    for start in range(0, messages, BATCH):
        batch = [
            NewMessage("user", "屋顶的事我们说到哪里了？", f"{number}")
            for number in range(start, start + BATCH)
        ]
        await memory.add_messages(talk, batch).or_raise()


async def milliseconds_of_a_fork(
    memory: ChatMemory, talk: str, at: str | int | None, names: count[int]
) -> float:
    spent: list[float] = []
    for _ in range(FORKS):
        start = time.perf_counter()
        await memory.fork(talk, f"branch {next(names)}", at=at).or_raise()
        spent.append((time.perf_counter() - start) * MILLISECONDS)
    return median(spent)


def milliseconds_of_a_plain_copy(file: Path, talk: str, messages: int) -> float:
    spent: list[float] = []
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for number in range(FORKS):
            start = time.perf_counter()
            connection.execute(COPY, (10**9 + number, talk, messages))
            spent.append((time.perf_counter() - start) * MILLISECONDS)
            connection.execute("DELETE FROM chat_message WHERE conversation_key = ?", (10**9 + number,))
    return median(spent)


async def measure(stack: stacks.Stack, title: str, plain: Callable[[str, int], float] | None = None) -> None:
    async with ManagedRuntime(stack) as runtime:
        memory, names = await runtime.service(ChatMemoryService), count()
        for messages in SIZES:
            talk, middle = f"{messages} messages", messages // 2
            await fill(memory, talk, messages)
            for what, at, copied in (
                ("its end", None, messages),
                ("a message in the middle", f"{middle - 1}", middle),
                ("a version in the middle", middle // BATCH, middle),
            ):
                cost = await milliseconds_of_a_fork(memory, talk, at, names)
                beside = f"{cost / plain(talk, copied):5.2f} x a plain copy" if plain else ""
                print(
                    f"{title:10} {messages:7} messages, a fork at {what:24} {cost:8.1f} ms  {beside}",
                    flush=True,
                )


def main() -> None:
    """Measure the embedded store, and a server when one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", metavar="DSN")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fork.db"

        def plain(talk: str, messages: int) -> float:
            return milliseconds_of_a_plain_copy(file, talk, messages)

        asyncio.run(measure(stacks.embedded(file), "SQLite", plain))
    if options.postgres:
        asyncio.run(measure(stacks.postgres(options.postgres), "PostgreSQL"))


if __name__ == "__main__":
    main()
