"""Puts, removes, takes back and forgets items until it is killed, and prints a line for each round that was acknowledged.

    python -m tests.reliability.programs.keep_items_for_ever ADDRESS RUN

The steps of a round stand in ``rounds_of_items.py``.
"""

import asyncio
import os
import sys
from itertools import count

from chatmemory import ItemRepositoryTag, ManagedRuntime
from tests.reliability.rounds_of_items import steps_of
from tests.reliability.store import chat_store


async def main(address: str, run: str) -> None:
    async with ManagedRuntime(chat_store(address)) as runtime:
        items = await runtime.service(ItemRepositoryTag)
        for number in count():
            for step in steps_of(items, f"{run}-{number}"):
                await step
            # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
            os.write(sys.stdout.fileno(), f"{run} {number}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
