"""Takes some turns of each kind in a namespace of its own, remembers and recalls in one that others share, then ends.

    python -m tests.reliability.programs.remember_some ADDRESS WRITER TURNS

It opens the store when a line arrives on stdin, so that several of them can be let loose at one moment.
"""

import asyncio
import logging
import os
import sys
from typing import Final

from chatmemory import Namespace, NewMemory
from chatmemory_layers.embedding.hashed import hashed
from tests.reliability.store import open_memories
from tests.reliability.turns import TURNS, id_of, word

SHARED: Final = Namespace("大家")


async def main(address: str, writer: str, turns: str) -> None:
    os.write(sys.stdout.fileno(), b"ready\n")
    sys.stdin.readline()
    async with open_memories(address, embedder=hashed) as memory:
        for number in range(int(turns)):
            for turn in TURNS:
                await turn(memory, Namespace(writer), number)
            mine = NewMemory(word(writer, number), id=id_of(SHARED, writer, number))
            await memory.remember(SHARED, [mine]).or_raise()
            first, *_ = (await memory.recall(SHARED, mine.content).or_raise()).hits
            assert first.memory.id == mine.id


if __name__ == "__main__":
    # While seven others read, the log cannot always be emptied after a forget; the next one does it.
    logging.getLogger("chatmemory_layers.sqlite.engine.database").setLevel(logging.ERROR)
    asyncio.run(main(*sys.argv[1:]))
