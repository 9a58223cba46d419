"""``ADDRESS RUN [inline | background] [deleting]``: adds numbered batches until it is killed; a line for each acknowledged one."""

import asyncio
import os
import sys
from itertools import count

from chatmemory import ChatMemory, StrategySettings
from tests.reliability.numbered import numbered_batch
from tests.reliability.store import SUMMARY_SECONDS, open_store

CONVERSATIONS = 2
WRITERS = 3  # in each of them


def summarizing(*words: str) -> StrategySettings:
    """Return the strategy that *words* of the command line mean."""
    if not words:
        return StrategySettings()
    return StrategySettings(
        type="summarize",
        summarize_every_n=10,
        keep_last=4,
        execution="inline" if "inline" in words else "background",
        delete_summarized_messages="deleting" in words,
    )


def names(run: str) -> dict[str, list[str]]:
    return {
        f"{run}-{conversation}": [f"{run}-{conversation}-{writer}" for writer in range(WRITERS)]
        for conversation in range(CONVERSATIONS)
    }


def acknowledge(writer: str, number: int) -> None:
    # One write of one line: it reaches the pipe whole, or not at all, whenever the end comes.
    os.write(sys.stdout.fileno(), f"{writer} {number}\n".encode())


async def add_for_ever(memory: ChatMemory, conversation_id: str, writer: str, pause_seconds: float) -> None:
    for number in count():
        await memory.add_messages(conversation_id, numbered_batch(writer, number)).or_raise()
        acknowledge(writer, number)
        await asyncio.sleep(pause_seconds)  # lets the others in


async def main(address: str, run: str, *words: str) -> None:
    pause_seconds = SUMMARY_SECONDS if words else 0.0  # or the summaries would fall behind for ever
    async with open_store(address, summarizing(*words)) as memory, asyncio.TaskGroup() as writers:
        for conversation_id, its_writers in names(run).items():
            for writer in its_writers:
                writers.create_task(add_for_ever(memory, conversation_id, writer, pause_seconds))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
