"""``ADDRESS RUN``: writes messages, memories, items and forks until it is killed; ``WRITER NUMBER`` for each acknowledged one."""

import asyncio
import os
import sys
from itertools import count
from typing import Any

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    ItemRepositoryTag,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MessageRepositoryTag,
    Namespace,
)
from chatmemory_layers.embedding.local import hashed
from tests.reliability import rounds_of_items, rounds_of_trees
from tests.reliability.numbered import numbered_batch
from tests.reliability.store import SUMMARIZING, SUMMARY_SECONDS, chat_store
from tests.reliability.turns import TURNS, Turn
from tests.thorough import rounds

CONVERSATIONS = 2
WRITERS = 3  # in each of them
ITEMS = "items"
TREES = tuple(f"trees{number}" for number in range(rounds(1, thorough=8)))


def names(run: str) -> dict[str, list[str]]:
    return {
        f"{run}-{conversation}": [f"{run}-{conversation}-{writer}" for writer in range(WRITERS)]
        for conversation in range(CONVERSATIONS)
    }


def acknowledge(writer: str, number: int) -> None:
    # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
    os.write(sys.stdout.fileno(), f"{writer} {number}\n".encode())


async def add_for_ever(memory: ChatMemory, conversation_id: str, writer: str) -> None:
    for number in count():
        await memory.add_messages(conversation_id, numbered_batch(writer, number)).or_raise()
        acknowledge(writer, number)
        await asyncio.sleep(SUMMARY_SECONDS)  # or the summaries would fall behind for ever


async def take_turns(memory: LongTermMemory, user: Namespace, turn: Turn) -> None:
    for number in count():
        await turn(memory, user, number)
        acknowledge(turn.__name__, number)


async def keep_rounds(steps: Any, repository: Any, name: str, run: str) -> None:
    for number in count():
        async for _ in steps.steps_of(repository, f"{name}-{run}-{number}"):
            pass
        acknowledge(name, number)


async def main(address: str, run: str) -> None:
    store = chat_store(address, SUMMARIZING, embedder=hashed)
    async with ManagedRuntime(store) as runtime, asyncio.TaskGroup() as writers:
        chat = await runtime.service(ChatMemoryService)
        for conversation_id, its_writers in names(run).items():
            for writer in its_writers:
                writers.create_task(add_for_ever(chat, conversation_id, writer))
        memory = await runtime.service(LongTermMemoryService)
        for turn in TURNS:
            writers.create_task(take_turns(memory, Namespace(run), turn))
        items, messages = (
            await runtime.service(ItemRepositoryTag),
            await runtime.service(MessageRepositoryTag),
        )
        writers.create_task(keep_rounds(rounds_of_items, items, ITEMS, run))
        for name in TREES:
            writers.create_task(keep_rounds(rounds_of_trees, messages, name, run))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
