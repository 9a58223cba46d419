"""Adds a number of numbered batches, some to a conversation of its own and some to one that others write to, then ends.

    python -m tests.reliability.programs.append_some ADDRESS WRITER BATCHES

It opens the store when a line arrives on stdin, so that several of them can be let loose at one moment.
"""

import asyncio
import os
import sys

from tests.reliability.numbered import numbered_batch
from tests.reliability.store import open_store

SHARED = "shared"


async def main(address: str, writer: str, batches: str) -> None:
    os.write(sys.stdout.fileno(), b"ready\n")
    sys.stdin.readline()
    async with open_store(address) as memory:
        for number in range(int(batches)):
            for conversation_id in (writer, SHARED):
                await memory.add_messages(conversation_id, numbered_batch(writer, number)).or_raise()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
