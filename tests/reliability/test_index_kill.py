"""``pastchats-memory index`` is killed (kill -9) at any moment, or the log loses its end: what is there agrees, the next run completes."""

import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from attrs import frozen

from tests.forked import Forked
from tests.formats.every_home import ELSEWHERE, make_home
from tests.past_chats_command import PROGRAM
from tests.past_turns import disagreement
from tests.patience import PATIENCE_SECONDS
from tests.reliability.mixed_histories import held, write_histories
from tests.thorough import rounds
from tests.unit.sqlite.desktop_files import fetched

KILLS = rounds(1, thorough=8)
KILLS_OF_A_HOME = rounds(2, thorough=20)
SIGKILL = -9
SELECT_LAST_TABLE = "SELECT 1 FROM sqlite_schema WHERE name = 'prompt_vectors'"


@frozen
class Undisturbed:
    """A run that nobody disturbed: over which *histories*, and what it made."""

    histories: Path
    made: Sequence[object]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    histories = write_histories(folder / "历史")
    assert index(histories, folder / "past.db") == 0
    assert disagreement(folder / "past.db") == ""
    return Undisturbed(histories, held(folder / "past.db"))


def index(
    histories: Path | None,
    database: Path,
    *,
    kill_after_seconds: float = PATIENCE_SECONDS,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run the command, kill it after a while unless it has ended, and return what it returns; None: over the whole home."""
    command = [PROGRAM, "index", "--db", database, *([] if histories is None else [histories])]
    with Forked(*command, environment=environment) as child:
        try:
            return child.wait(kill_after_seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()


def is_begun(database: Path) -> bool:
    """Tell whether the tables are there; the last step brings the one that is looked for."""
    if not database.exists():
        return False
    return bool(fetched(database, SELECT_LAST_TABLE))


def check_and_complete(undisturbed: Undisturbed, database: Path) -> None:
    """See that what is there agrees and is part of the whole, and that one more run makes the whole of it."""
    if is_begun(database):
        assert disagreement(database) == ""
        assert set(held(database)) <= set(undisturbed.made)
    assert index(undisturbed.histories, database) == 0
    assert disagreement(database) == ""
    assert held(database) == undisturbed.made


@pytest.fixture(scope="module")
def logged(undisturbed: Undisturbed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of which all but the tables stands in the log: somebody has been reading since before the run."""
    database = tmp_path_factory.mktemp("logged") / "past.db"
    (database.parent / "none").mkdir()
    index(database.parent / "none", database)
    with closing(sqlite3.connect(database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM prompts").fetchall()
        assert index(undisturbed.histories, database) == 0
        copy = database.with_name("copy.db")
        for suffix in ("", "-wal"):
            shutil.copy(f"{database}{suffix}", f"{copy}{suffix}")
    return copy


@pytest.mark.parametrize("cut", range(KILLS))
def test_a_log_that_lost_its_end_leaves_the_index_of_a_moment_before(
    undisturbed: Undisturbed, logged: Path, tmp_path: Path, cut: int
) -> None:
    database, log = tmp_path / f"{cut}.db", tmp_path / f"{cut}.db-wal"
    shutil.copy(logged, database)
    shutil.copy(f"{logged}-wal", log)
    os.truncate(log, random.randrange(log.stat().st_size))
    check_and_complete(undisturbed, database)


def test_everything_at_once_killed_again_and_again_becomes_what_one_run_makes(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    environment = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    environment["HOME"] = str(home)
    clean, killed = tmp_path / "clean.db", tmp_path / "killed.db"
    started = time.perf_counter()
    assert index(None, clean, environment=environment) == 0
    seconds = time.perf_counter() - started
    made = held(clean)
    assert sum(map(len, made)) > 0
    for kill in range(KILLS_OF_A_HOME):
        # Each time a little later, or none would come behind the first file.
        killed_after = random.uniform(0.3, 1) * seconds * (kill + 1) / KILLS_OF_A_HOME
        assert index(None, killed, kill_after_seconds=killed_after, environment=environment) in {SIGKILL, 0}
        if is_begun(killed):
            assert disagreement(killed) == ""
            assert set(held(killed)) <= set(made)
    assert index(None, killed, environment=environment) == 0
    assert (held(killed), disagreement(killed)) == (made, "")
