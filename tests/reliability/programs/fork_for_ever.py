"""Forks, summarizes, removes, clears and takes back until it is killed; prints a line for each round that was acknowledged.

    python -m tests.reliability.programs.fork_for_ever ADDRESS RUN

The steps of a round stand in ``rounds_of_trees.py``.
"""

import asyncio
import os
import sys
from itertools import count

from chatmemory import ManagedRuntime, MessageRepositoryTag
from tests.reliability.rounds_of_trees import steps_of
from tests.reliability.store import chat_store


async def main(address: str, run: str) -> None:
    async with ManagedRuntime(chat_store(address)) as runtime:
        messages = await runtime.service(MessageRepositoryTag)
        for number in count():
            async for _ in steps_of(messages, f"{run}-{number}"):
                pass
            # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
            os.write(sys.stdout.fileno(), f"{run} {number}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
