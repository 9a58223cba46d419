"""A file of the desktop application is migrated whole by processes that are killed, and by several at once."""

import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.forked import Forked
from tests.reliability.store import open_store
from tests.thorough import rounds
from tests.unit.sqlite.desktop_files import beside, desktop_file, fetched, rows_of, version_of

ROWS = 2000
KILLS = rounds(2, thorough=12)
MOST_SECONDS = 0.05  # from a moment that can be seen to the kill
PROCESSES = 4
FILES = rounds(1, thorough=2)

OURS = "id, timestamp, content, tags, session_id, create_time, coalesce(app_type, ''), embedding"


def started(path: Path) -> Forked:
    child = Forked(sys.executable, "-m", "tests.reliability.programs.at_once", "open_it", path)
    assert child.stdout.readline() == "ready\n", child.stderr.read()
    return child


def killed(child: Forked, *, once_copied: Path | None) -> None:
    """Let *child* migrate, and kill it at a moment soon after the start or, if there is a file, after its copy is there."""
    with child:
        child.stdin.write("go\n")
        child.stdin.flush()
        while child.poll() is None and once_copied is not None and not backups(once_copied):
            time.sleep(0.001)  # between two looks at the folder
        time.sleep(random.uniform(0, MOST_SECONDS))  # any moment of the migration
        child.kill()
        assert child.wait() in {0, -9}


def backups(path: Path) -> list[Path]:
    return [copy for copy in path.parent.glob(path.name + ".v5.backup*") if copy.suffix != ".unfinished"]


def waiting(path: Path) -> int:
    return int(fetched(path, "SELECT count(*) FROM atomic_memory WHERE memory_id IS NULL")[0][0])


def is_ours(path: Path) -> bool:
    return ("memory_fts",) in fetched(path, "SELECT name FROM sqlite_schema") and waiting(path) == 0


async def test_a_migration_that_is_killed_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    path = desktop_file(tmp_path / "desktop.db", rows=ROWS)
    rows, others, half_way = rows_of(path, OURS), beside(path), 0
    for kill in range(KILLS):
        killed(started(path), once_copied=path if kill % 2 else None)
        assert version_of(path) in {5, 6}
        assert (rows_of(path, OURS), beside(path)) == (rows, others)
        for backup in backups(path):
            assert (version_of(backup), rows_of(backup, OURS), beside(backup)) == (5, rows, others)
        if version_of(path) == 6 and is_ours(path):
            path = desktop_file(tmp_path / f"desktop{kill}.db", rows=ROWS)
        elif backups(path):
            half_way += 1
    async with open_store(str(path)):
        pass
    assert is_ours(path)
    assert (rows_of(path, OURS), beside(path)) == (rows, others)
    assert len(backups(path)) == 1
    assert half_way > 0


def test_four_processes_migrate_one_file_at_once(tmp_path: Path) -> None:
    for number in range(FILES):
        path = desktop_file(tmp_path / f"desktop{number}.db", rows=ROWS)
        rows, others = rows_of(path, OURS), beside(path)
        with ExitStack() as running:
            children = [running.enter_context(started(path)) for _ in range(PROCESSES)]
            for child in children:
                child.stdin.write("go\n")
                child.stdin.flush()
            ended = [child.communicate() for child in children]
            assert [child.wait() for child in children] == [0] * PROCESSES
            assert [said for said, _ in ended] == ["open\n"] * PROCESSES
        assert sum("is copied to" in warned for _, warned in ended) == 1
        assert is_ours(path)
        assert (rows_of(path, OURS), beside(path)) == (rows, others)
        (backup,) = backups(path)
        assert rows_of(backup, OURS) == rows
