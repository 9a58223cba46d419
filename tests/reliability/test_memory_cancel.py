"""Work on memories that is cancelled at a random moment is done whole or not at all, and the store goes on."""

import asyncio
from collections import Counter
from itertools import count

import pytest

from chatmemory import LongTermMemory, Namespace
from chatmemory_layers.embedding.hashed import hashed
from tests.reliability.store import open_memories
from tests.reliability.test_cancel import (
    ROUNDS,
    Canceller,
    cancel_scope,
    cancel_task,
    nothing_is_left,
    so_many,
)
from tests.reliability.turns import TURNS, Turn, check_turns, disagreements

MOST_TURNS = 60  # that are acknowledged before a round is cancelled


@pytest.fixture(params=[cancel_task, cancel_scope])
def cancel(request: pytest.FixtureRequest) -> Canceller:
    return request.param


async def cancelled_turns(
    memory: LongTermMemory, user: Namespace, cancel: Canceller, *, after: int
) -> Counter[str]:
    """Take turns of each kind, cancel them *after* so many were acknowledged, and count them by kind."""
    done = Counter[str]()
    acknowledged = asyncio.Semaphore(0)

    async def go_on(turn: Turn) -> None:
        for number in count():
            await turn(memory, user, number)
            done[turn.__name__] += 1
            acknowledged.release()

    async def work() -> None:
        async with asyncio.TaskGroup() as turns:
            for turn in TURNS:
                turns.create_task(go_on(turn))

    await cancel(work, lambda: so_many(acknowledged, after))
    return done


async def test_cancelled_work_on_memories_is_whole_or_absent(address: str, cancel: Canceller) -> None:
    runs: dict[str, Counter[str]] = {}
    async with nothing_is_left(address), open_memories(address, embedder=hashed) as memory:
        for round_ in range(ROUNDS):
            user = Namespace(f"用户{round_}")
            runs[user.user] = await cancelled_turns(memory, user, cancel, after=7 * round_ % MOST_TURNS)
    async with open_memories(address, embedder=hashed) as memory:
        for name, done in runs.items():
            await check_turns(memory, Namespace(name), done)
    assert await disagreements(address) == []
    assert sum(runs.values(), Counter()).total() > 0
