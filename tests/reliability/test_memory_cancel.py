"""Work on memories that is cancelled at a random moment is done whole or not at all, and the store goes on."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from itertools import count
from pathlib import Path

import pytest

from chatmemory import LongTermMemory, Namespace
from chatmemory_layers.embedding.hashed import hashed
from tests.postgres_server import fresh_database
from tests.reliability.store import open_memories
from tests.reliability.test_cancel import ROUNDS, Canceller, cancel_scope, cancel_task, nothing_is_left
from tests.reliability.turns import TURNS, Turn, check_turns, disagreements

LONGEST_SECONDS = 0.03  # some turns of each kind


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with fresh_database() as dsn:
            yield dsn


@pytest.fixture(params=[cancel_task, cancel_scope])
def cancel(request: pytest.FixtureRequest) -> Canceller:
    return request.param


async def go_on(memory: LongTermMemory, user: Namespace, turn: Turn, done: Counter[str]) -> None:
    """Take turn after turn until something stops it."""
    for number in count():
        await turn(memory, user, number)
        done[turn.__name__] += 1


async def test_cancelled_work_on_memories_is_whole_or_absent(address: str, cancel: Canceller) -> None:
    runs: dict[str, Counter[str]] = {}
    async with nothing_is_left(address), open_memories(address, embedder=hashed) as memory:
        for round_ in range(ROUNDS):
            user = Namespace(f"用户{round_}")
            done = runs[user.user] = Counter[str]()

            async def work(user: Namespace = user, done: Counter[str] = done) -> None:
                async with asyncio.TaskGroup() as turns:
                    for turn in TURNS:
                        turns.create_task(go_on(memory, user, turn, done))

            await cancel(work, random.uniform(0, LONGEST_SECONDS))
    async with open_memories(address, embedder=hashed) as memory:
        for name, done in runs.items():
            await check_turns(memory, Namespace(name), done)
    assert await disagreements(address) == []
    assert sum(runs.values(), Counter()).total() > 0
