"""A process that is killed (kill -9) while it forks, removes and clears leaves every conversation of the tree whole."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from chatmemory import ChatMemory
from chatmemory.effect import Failure
from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.reliability.killed import killed_at_random
from tests.reliability.programs.fork_for_ever import MESSAGES, REMOVED, SHARED
from tests.reliability.store import open_store
from tests.thorough import rounds

KILLS = rounds(2, thorough=6)
WHOLE = [f"{number}" for number in range(MESSAGES)]
PARENT = (WHOLE, WHOLE[:-1], [])
A = ([], WHOLE[:SHARED], [*WHOLE[:SHARED], "own"])
B = ([], *(WHOLE[: SHARED - removed] for removed in range(REMOVED + 1)))


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with fresh_database() as dsn:
            yield dsn


async def ids_of(memory: ChatMemory, conversation_id: str) -> list[str]:
    read = await memory.get_messages(conversation_id, view="full")
    ids = [] if isinstance(read, Failure) else [message.id for message in read.unwrap()]
    assert await memory.count(conversation_id, view="full").or_raise() == len(ids)
    return ids


async def test_a_tree_is_whole_whenever_its_writer_is_killed(address: str) -> None:
    for kill in range(KILLS):
        run = f"run{kill}"
        acknowledged = await killed_at_random("fork_for_ever", address, run, life=range(1, 30))
        async with open_store(address) as memory:
            for number in range(acknowledged[run]):
                talk = f"{run}-{number}"
                tree = [await ids_of(memory, name) for name in (talk, f"{talk} a", f"{talk} b")]
                assert tree == [PARENT[-1], A[-1], B[-1]]
            talk = f"{run}-{acknowledged[run]}"
            assert await ids_of(memory, talk) in PARENT
            assert await ids_of(memory, f"{talk} a") in A
            assert await ids_of(memory, f"{talk} b") in B
