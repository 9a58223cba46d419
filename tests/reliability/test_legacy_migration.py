"""A file of the desktop application is migrated whole by several processes at once."""

from pathlib import Path

from tests.reliability.programs.at_once import run_at_once
from tests.thorough import rounds
from tests.unit.sqlite.desktop_files import beside, desktop_file, fetched, rows_of

ROWS = 2000
PROCESSES = 4
FILES = rounds(1, thorough=2)

OURS = "id, timestamp, content, tags, session_id, create_time, coalesce(app_type, ''), embedding"


def backups(path: Path) -> list[Path]:
    return [copy for copy in path.parent.glob(path.name + ".v5.backup*") if copy.suffix != ".unfinished"]


def waiting(path: Path) -> int:
    return int(fetched(path, "SELECT count(*) FROM atomic_memory WHERE memory_id IS NULL")[0][0])


def is_ours(path: Path) -> bool:
    return ("memory_fts",) in fetched(path, "SELECT name FROM sqlite_schema") and waiting(path) == 0


def test_four_processes_migrate_one_file_at_once(tmp_path: Path) -> None:
    for number in range(FILES):
        path = desktop_file(tmp_path / f"desktop{number}.db", rows=ROWS)
        rows, others = rows_of(path, OURS), beside(path)
        ended = run_at_once(*[("open_it", path)] * PROCESSES)
        assert [said for said, _ in ended] == ["open\n"] * PROCESSES
        assert sum("is copied to" in warned for _, warned in ended) == 1
        assert is_ours(path)
        assert (rows_of(path, OURS), beside(path)) == (rows, others)
        (backup,) = backups(path)
        assert rows_of(backup, OURS) == rows
