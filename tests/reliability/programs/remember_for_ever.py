"""Remembers, supersedes, uses, re-embeds and forgets until it is killed, and prints a line for each that was acknowledged.

    python -m tests.reliability.programs.remember_for_ever ADDRESS USER

Each kind of turn goes on beside the others.
"""

import asyncio
import os
import sys
from itertools import count

from chatmemory import LongTermMemory, Namespace
from chatmemory_layers.embedding.hashed import hashed
from tests.reliability.store import open_memories
from tests.reliability.turns import TURNS, Turn


async def go_on_for_ever(memory: LongTermMemory, user: Namespace, turn: Turn) -> None:
    for number in count():
        await turn(memory, user, number)
        # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
        os.write(sys.stdout.fileno(), f"{turn.__name__} {number}\n".encode())


async def main(address: str, user: str) -> None:
    async with open_memories(address, embedder=hashed) as memory, asyncio.TaskGroup() as writers:
        for turn in TURNS:
            writers.create_task(go_on_for_ever(memory, Namespace(user), turn))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
