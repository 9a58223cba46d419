"""Remembers, supersedes, uses, re-embeds and forgets until it is killed, and prints a line for each that was acknowledged.

    python -m tests.reliability.programs.remember_for_ever ADDRESS USER

Each of the writers numbers its turns, from 0; their ids and contents say whose turn it is, and which.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final

from chatmemory import Embedding, LongTermMemory, Namespace, NewMemory
from chatmemory_layers.embedding.hashed import hashed
from tests.reliability.store import open_memories

BATCH_SIZE: Final = 3
OLDER: Final = Embedding("older", [0.6, 0.8])
COUNTER: Final = "计数"

Turn = Callable[[LongTermMemory, Namespace, int], Awaitable[object]]


def word(writer: str, number: int, part: int = 0) -> str:
    """Return what no other memory says."""
    return f"{writer}x{number}x{part}"


def id_of(user: Namespace, writer: str, number: int, part: int = 0) -> str:
    """Return the id of a memory; ids are unique in the store, not in the namespace."""
    return f"{user.user}/{writer}/{number}/{part}"


def batch(user: Namespace, writer: str, number: int) -> list[NewMemory]:
    """Return the memories of a turn that stores several."""
    return [
        NewMemory(
            f"第{number}批 {word(writer, number, part)}",
            id=id_of(user, writer, number, part),
            session_id=f"{writer}/{number}",
        )
        for part in range(BATCH_SIZE)
    ]


async def remember(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.remember(user, batch(user, "remember", number)).or_raise()


async def forget(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.remember(user, batch(user, "forget", number)).or_raise()
    await memory.forget_where(user, session_id=f"forget/{number}").or_raise()


async def supersede(memory: LongTermMemory, user: Namespace, number: int) -> None:
    newer = NewMemory(word("supersede", number), id=id_of(user, "supersede", number))
    if number == 0:
        await memory.remember(user, [newer]).or_raise()
    else:
        await memory.supersede(user, id_of(user, "supersede", number - 1), newer).or_raise()


async def put(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.put_value(user, COUNTER, number, content=word("put", number)).or_raise()


async def re_embed(memory: LongTermMemory, user: Namespace, number: int) -> None:
    older = NewMemory(word("embed", number), id=id_of(user, "re_embed", number), embedding=OLDER)
    await memory.remember(user, [older]).or_raise()
    await memory.re_embed(user).or_raise()


async def use(memory: LongTermMemory, user: Namespace, number: int) -> None:
    used = id_of(user, "use", 0)
    if number == 0:
        await memory.remember(user, [NewMemory(word("use", 0), id=used)]).or_raise()
    await memory.record_use(user, [used], use_id=str(number), session_id=f"s{number}").or_raise()


TURNS: Final[tuple[Turn, ...]] = (remember, forget, supersede, put, re_embed, use)


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
