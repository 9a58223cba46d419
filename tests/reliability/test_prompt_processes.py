"""Several processes index into one file at once: all of them succeed, and each turn is there once."""

from pathlib import Path

from tests.past_turns import contents, disagreement, open_past_chats
from tests.reliability.indexed import TURNS, check_round
from tests.reliability.programs.index_some import SHARED
from tests.reliability.test_processes import run_at_once

PROCESSES = 4
ROUNDS = 2


def test_processes_index_into_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "past.db"
    writers = [f"process{number}" for number in range(PROCESSES)]
    run_at_once("index_some", str(path), writers, times=ROUNDS)
    assert disagreement(path) == ""
    with open_past_chats(path) as past:
        for writer in writers:
            for number in range(ROUNDS):
                check_round(past, writer, number)
        assert len(contents(past, SHARED)) == TURNS
