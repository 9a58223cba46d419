"""``pastchats-memory index`` beside others, in a folder that cannot be written, over a file that goes: whole, or a typed failure."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.forked import Forked, run_forked
from tests.indexed import Indexed, open_index
from tests.past_chats_command import PROGRAM
from tests.past_turns import disagreement
from tests.reliability.mixed_histories import held, write_histories
from tests.reliability.store import reason_of
from tests.thorough import rounds, thorough

Held = Sequence[object]
UNUSABLE = 5  # the exit code of an index that cannot be used
DISK_BYTES = 2_000_000


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_histories(tmp_path_factory.mktemp("at_once") / "历史")


@pytest.fixture(scope="module")
def undisturbed(histories: Path) -> Held:
    database = histories.parent / "alone.db"
    assert ends(database, [histories]) == [0]
    return held(database)


def ends(database: Path, *runs: Sequence[Path]) -> list[int]:
    """Index the inputs of all runs at once, and return what the runs return; those that succeed say nothing on the side."""
    with ExitStack() as running:
        command = (PROGRAM, "index", "--db", database)
        started = [running.enter_context(Forked(*command, *inputs)) for inputs in runs]
        said = [run.communicate()[1] for run in started]
        returned = [run.wait() for run in started]
    assert [errors for code, errors in zip(returned, said, strict=True) if code == 0 and errors] == []
    assert [errors for errors in said if "Traceback" in errors] == []
    return returned


@pytest.mark.parametrize("runs", [2, pytest.param(4, marks=thorough)])
def test_runs_over_the_same_files_make_together_what_one_makes(
    histories: Path, undisturbed: Held, tmp_path: Path, runs: int
) -> None:
    database = tmp_path / "past.db"
    assert ends(database, *[[histories]] * runs) == [0] * runs
    assert disagreement(database) == ""
    assert held(database) == undisturbed


def test_runs_over_parts_make_together_what_one_makes_over_all(
    histories: Path, undisturbed: Held, tmp_path: Path
) -> None:
    database = tmp_path / "past.db"
    parts = sorted(histories.iterdir())
    runs = rounds(2, thorough=len(parts))
    assert len(parts) >= runs
    assert ends(database, *(parts[first::runs] for first in range(runs))) == [0] * runs
    assert ends(database, [histories]) == [0]
    assert disagreement(database) == ""
    # Who of two files brought a turn is whoever came first.
    assert len(held(database)) == len(undisturbed)


def test_a_disk_that_fills_up_ends_the_run_and_room_lets_the_next_one_complete(
    histories: Path, undisturbed: Held, tmp_path: Path
) -> None:
    database = tmp_path / "past.db"
    limited = f'ulimit -f {DISK_BYTES // 512}; trap "" XFSZ; exec "$@"'
    command = ("sh", "-c", limited, "sh", PROGRAM, "index", "--db", database, histories)
    assert subprocess.run(command, check=False, capture_output=True).returncode == UNUSABLE
    assert disagreement(database) == ""
    assert ends(database, [histories]) == [0]
    assert held(database) == undisturbed


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    with open_index(tmp_path) as indexed:
        indexed.write("s1.jsonl", ("user", "first 一"))
        indexed.index()
        yield indexed


@pytest.mark.parametrize("what_happens", ["deleted", "moved", "replaced"])
def test_a_run_over_a_file_that_is_gone_says_so(past: Indexed, what_happens: str) -> None:
    elsewhere = past.database.with_name("elsewhere.db")
    if what_happens == "deleted":
        past.database.unlink()
    else:
        past.database.rename(elsewhere)
    if what_happens == "replaced":
        shutil.copy(elsewhere, past.database)
    past.write("s2.jsonl", ("user", "second 二"))
    reason = reason_of(past.try_index())
    assert (reason.problem, "meanwhile" in str(reason)) == ("unavailable", True)


def test_the_program_waits_for_a_lock_and_then_says_that_it_is_busy(past: Indexed) -> None:
    past.write("s2.jsonl", ("user", "second 二"))
    environment = {**os.environ, "CHATMEMORY_MEMORY_PAST_CHATS_BUSY_TIMEOUT_SECONDS": "0.1"}
    with closing(sqlite3.connect(past.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = run_forked(PROGRAM, "index", "--db", past.database, past.folder, environment=environment)
        other.execute("ROLLBACK")
    told, page = ended.stderr.splitlines()
    assert (ended.returncode, "busy" in told, page) == (UNUSABLE, True, "help: docs/guides/past-chats.md")
    assert past.index().turns.new == 1
