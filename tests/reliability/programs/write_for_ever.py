"""Writes messages, memories, items and forks into one store until it is killed; prints a line for each that was acknowledged.

    python -m tests.reliability.programs.write_for_ever ADDRESS RUN

A line is ``WRITER NUMBER``.  The writers are those of ``append_for_ever``, the turns of ``turns.py``, and the rounds of items
and of trees.
"""

import asyncio
import os
import sys
from itertools import count

from chatmemory import (
    ChatMemoryService,
    ItemRepository,
    ItemRepositoryTag,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MessageRepository,
    MessageRepositoryTag,
    Namespace,
)
from chatmemory_layers.embedding.hashed import hashed
from tests.reliability import rounds_of_items, rounds_of_trees
from tests.reliability.programs.append_for_ever import add_for_ever, names, summarizing
from tests.reliability.store import SUMMARY_SECONDS, chat_store
from tests.reliability.turns import TURNS, Turn

ITEMS = "items"
TREES = "trees"


def acknowledge(writer: str, number: int) -> None:
    # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
    os.write(sys.stdout.fileno(), f"{writer} {number}\n".encode())


async def take_turns(memory: LongTermMemory, user: Namespace, turn: Turn) -> None:
    for number in count():
        await turn(memory, user, number)
        acknowledge(turn.__name__, number)


async def keep_items(items: ItemRepository, run: str) -> None:
    for number in count():
        async for _ in rounds_of_items.steps_of(items, f"items-{run}-{number}"):
            pass
        acknowledge(ITEMS, number)


async def keep_trees(messages: MessageRepository, run: str) -> None:
    for number in count():
        async for _ in rounds_of_trees.steps_of(messages, f"trees-{run}-{number}"):
            pass
        acknowledge(TREES, number)


async def main(address: str, run: str) -> None:
    store = chat_store(address, summarizing("inline"), embedder=hashed)
    async with ManagedRuntime(store) as runtime, asyncio.TaskGroup() as writers:
        chat = await runtime.service(ChatMemoryService)
        for conversation_id, its_writers in names(run).items():
            for writer in its_writers:
                writers.create_task(add_for_ever(chat, conversation_id, writer, SUMMARY_SECONDS))
        memory = await runtime.service(LongTermMemoryService)
        for turn in TURNS:
            writers.create_task(take_turns(memory, Namespace(run), turn))
        writers.create_task(keep_items(await runtime.service(ItemRepositoryTag), run))
        writers.create_task(keep_trees(await runtime.service(MessageRepositoryTag), run))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
