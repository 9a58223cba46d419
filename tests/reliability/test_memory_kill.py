"""A process that is killed (kill -9) loses no memory that it has acknowledged, and leaves rows, words and vectors that agree."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from chatmemory import Namespace
from chatmemory_layers.embedding.hashed import hashed
from tests.empty_store import empty_store
from tests.reliability.killed import Acknowledged, killed_at_random
from tests.reliability.store import open_memories
from tests.reliability.turns import TURNS, check_turns, disagreements
from tests.thorough import rounds

KILLS = rounds(1, thorough=8)


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with empty_store() as dsn:
            yield dsn


async def test_no_acknowledged_memory_is_lost_torn_or_back_again(address: str) -> None:
    runs: dict[str, Acknowledged] = {}
    for kill in range(KILLS):
        user = f"用户{kill}"
        runs[user] = await killed_at_random(
            "remember_for_ever", address, user, life=range(30, 100), writers=len(TURNS)
        )
        async with open_memories(address, embedder=hashed) as memory:
            for earlier, acknowledged in runs.items():
                await check_turns(memory, Namespace(earlier), acknowledged)
        assert await disagreements(address) == []
        assert runs[user].keys() == {turn.__name__ for turn in TURNS}
