"""``append | remember ADDRESS WRITER TIMES`` or ``open_it ADDRESS``: works on one file from a line on stdin on.

So several can be let loose, or killed, at one moment; each works in a place of its own and in one that all share.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from chatmemory import Namespace, NewMemory
from chatmemory_layers.embedding.local import hashed
from tests.forked import Forked
from tests.reliability.numbered import numbered_batch
from tests.reliability.store import open_memories, open_store
from tests.reliability.turns import TURNS, id_of, word

SHARED: Final = "shared"
EVERYBODY: Final = Namespace("大家")


async def append(address: str, writer: str, times: int) -> None:
    async with open_store(address) as memory:
        for number in range(times):
            for conversation_id in (writer, SHARED):
                await memory.add_messages(conversation_id, numbered_batch(writer, number)).or_raise()


async def remember(address: str, writer: str, times: int) -> None:
    # While others read, the log cannot always be emptied after a forget; the next one does it.
    logging.getLogger("chatmemory_layers.sqlite.engine.jobs").setLevel(logging.ERROR)
    async with open_memories(address, embedder=hashed) as memory:
        for number in range(times):
            for turn in TURNS:
                await turn(memory, Namespace(writer), number)
            mine = NewMemory(word(writer, number), id=id_of(EVERYBODY, writer, number))
            await memory.remember(EVERYBODY, [mine]).or_raise()
            first, *_ = (await memory.recall(EVERYBODY, mine.content).or_raise()).hits
            assert first.memory.id == mine.id


async def open_it(address: str) -> None:
    async with open_store(address):
        os.write(sys.stdout.fileno(), b"open\n")


def run_at_once(*runs: Sequence[str | int | Path]) -> list[tuple[str, str]]:
    """Start a process for the words of each of *runs*, let all loose at one moment, and return what each has printed."""
    with ExitStack() as running:
        command = (sys.executable, "-m", __name__)
        children = [running.enter_context(Forked(*command, *map(str, words))) for words in runs]
        for child in children:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
        for child in children:
            child.stdin.write("go\n")
            child.stdin.flush()
        ended = [child.communicate() for child in children]
        assert [child.wait() for child in children] == [0] * len(runs), ended
        return ended


def main(work: str, *words: str) -> None:
    os.write(sys.stdout.fileno(), b"ready\n")
    sys.stdin.readline()
    match work, words:
        case "open_it", (address,):
            asyncio.run(open_it(address))
        case "append", (address, writer, times):
            asyncio.run(append(address, writer, int(times)))
        case "remember", (address, writer, times):
            asyncio.run(remember(address, writer, int(times)))


if __name__ == "__main__":
    main(*sys.argv[1:])
