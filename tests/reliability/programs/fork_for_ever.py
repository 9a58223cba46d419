"""Forks, and takes from the parents what their branches share, until it is killed; prints a line for each round that was
acknowledged.

    python -m tests.reliability.programs.fork_for_ever ADDRESS RUN

A round makes a conversation of numbered messages and two branches of it, removes its newest message, adds to the first
branch, clears the conversation, and removes from the second branch what it shared.
"""

import asyncio
import os
import sys
from itertools import count

from chatmemory import ChatMemory, NewMessage
from tests.reliability.store import open_store

MESSAGES = 8
SHARED = 5  # by the branches
REMOVED = 2


def said(*names: str) -> list[NewMessage]:
    return [NewMessage("user", f"第{name}句", name) for name in names]


async def one_round(memory: ChatMemory, talk: str) -> None:
    await memory.add_messages(talk, said(*map(str, range(MESSAGES)))).or_raise()
    for branch in ("a", "b"):
        await memory.fork(talk, f"{talk} {branch}", at=f"{SHARED - 1}").or_raise()
    await memory.remove_newest(talk).or_raise()
    await memory.add_messages(f"{talk} a", said("own")).or_raise()
    await memory.clear_messages(talk).or_raise()
    for _ in range(REMOVED):
        await memory.remove_newest(f"{talk} b").or_raise()


async def main(address: str, run: str) -> None:
    async with open_store(address) as memory:
        for number in count():
            await one_round(memory, f"{run}-{number}")
            os.write(sys.stdout.fileno(), f"{run} {number}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
