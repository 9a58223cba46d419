"""Several processes write to one file of SQLite at once: none fails, nothing is torn, each finds what it wrote."""

from collections import Counter
from pathlib import Path

from chatmemory import Namespace
from chatmemory_layers.embedding.local import hashed
from tests.reliability.numbered import check_batches, full_view
from tests.reliability.programs.at_once import EVERYBODY, SHARED, run_at_once
from tests.reliability.store import open_memories, open_store
from tests.reliability.turns import TURNS, check_turns, disagreements, true_now
from tests.thorough import rounds

WRITERS = [f"process{number}" for number in range(rounds(4, thorough=6))]
BATCHES = 20
ROUNDS = 3


def write_at_once(work: str, address: str, *, times: int) -> None:
    """Run a process for each writer, and see that none says anything."""
    assert run_at_once(*((work, address, writer, times) for writer in WRITERS)) == [("", "")] * len(WRITERS)


async def test_several_processes_append_to_one_file(tmp_path: Path) -> None:
    address = str(tmp_path / "chat.db")
    write_at_once("append", address, times=BATCHES)
    async with open_store(address) as memory:
        assert check_batches(await full_view(memory, SHARED)) == dict.fromkeys(WRITERS, BATCHES)
        for writer in WRITERS:
            assert check_batches(await full_view(memory, writer)) == {writer: BATCHES}


async def test_several_processes_remember_and_recall_in_one_file(tmp_path: Path) -> None:
    address = str(tmp_path / "chat.db")
    write_at_once("remember", address, times=ROUNDS)
    done = Counter({turn.__name__: ROUNDS for turn in TURNS})
    async with open_memories(address, embedder=hashed) as memory:
        for writer in WRITERS:
            await check_turns(memory, Namespace(writer), done)
        assert len(await true_now(memory, EVERYBODY)) == len(WRITERS) * ROUNDS
    assert await disagreements(address) == []
