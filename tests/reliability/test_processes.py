"""Several processes write to one file of SQLite at once: none fails, nothing is torn, each finds what it wrote."""

import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from chatmemory import Namespace
from chatmemory_layers.embedding.local import hashed
from tests.forked import Forked
from tests.reliability.numbered import check_batches, full_view
from tests.reliability.programs.at_once import EVERYBODY, SHARED
from tests.reliability.store import open_memories, open_store
from tests.reliability.turns import TURNS, check_turns, disagreements, true_now
from tests.thorough import rounds

WRITERS = [f"process{number}" for number in range(rounds(4, thorough=6))]
BATCHES = 20
ROUNDS = 3


def run_at_once(work: str, address: str, *, times: int) -> None:
    """Start a process for each writer, let all loose at one moment, and see that each ends well and says nothing."""
    with ExitStack() as running:
        command = (sys.executable, "-m", "tests.reliability.programs.at_once", work, address)
        children = [running.enter_context(Forked(*command, writer, str(times))) for writer in WRITERS]
        for child in children:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
        for child in children:
            child.stdin.write("go\n")
            child.stdin.flush()
        for child in children:
            _, errors = child.communicate()
            assert (child.wait(), errors) == (0, "")


async def test_several_processes_append_to_one_file(tmp_path: Path) -> None:
    address = str(tmp_path / "chat.db")
    run_at_once("append", address, times=BATCHES)
    async with open_store(address) as memory:
        assert check_batches(await full_view(memory, SHARED)) == dict.fromkeys(WRITERS, BATCHES)
        for writer in WRITERS:
            assert check_batches(await full_view(memory, writer)) == {writer: BATCHES}


async def test_several_processes_remember_and_recall_in_one_file(tmp_path: Path) -> None:
    address = str(tmp_path / "chat.db")
    run_at_once("remember", address, times=ROUNDS)
    done = Counter({turn.__name__: ROUNDS for turn in TURNS})
    async with open_memories(address, embedder=hashed) as memory:
        for writer in WRITERS:
            await check_turns(memory, Namespace(writer), done)
        assert len(await true_now(memory, EVERYBODY)) == len(WRITERS) * ROUNDS
    assert await disagreements(address) == []
