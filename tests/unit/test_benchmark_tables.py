"""The figures of docs/benchmarks.md come from benchmarks that are there; ``benchmarks/tables.py`` writes them."""

import importlib
import json
import shlex
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
BENCHMARKS: Final = ROOT / "benchmarks"
PAGE: Final = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
DAY: Final = "3 February 2026"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("tables")


def test_each_table_names_benchmarks_that_write_figures(tables: Any) -> None:
    marked = tables.tables_of(PAGE)
    assert len(marked) == PAGE.count("figures: ") == PAGE.count(tables.END)
    for command in (command for table in marked for command in table.commands):
        name, *_ = shlex.split(command)
        text = (BENCHMARKS / name).read_text(encoding="utf-8")
        assert "json_option(" in text, f"{name} takes no --json"
        assert "write(" in text, f"{name} writes no figures"
    assert "|" not in tables.MARKED.sub("", PAGE), "a table of figures is typed by hand"


def test_what_benchmarks_have_written_takes_the_place_of_what_was_there(tables: Any, tmp_path: Path) -> None:
    readme = "before\n<!-- figures: a.py; b.py 3 -->\n| | ours |\n|---|---|\n| old | 1/s |\n<!-- end of figures -->\nafter\n"
    (wanted,) = tables.tables_of(readme)
    assert (wanted.commands, wanted.is_thorough, wanted.columns) == (["a.py", "b.py 3"], False, {"ours"})
    runs = []
    for name, rows in (("a", {"adds": {"ours": "2/s", "theirs": "1/s"}}), ("b", {"reads": {"ours": "3 µs"}})):
        (tmp_path / name).write_text(json.dumps(rows), encoding="utf-8")
        runs.append(tables.read(tmp_path / name))
    filled = tables.filled(readme, wanted, tables.replaced(wanted, runs, DAY))
    head, *rows, empty, source, end = filled.splitlines()[2:-1]
    assert head == "|  | ours | theirs |"
    assert rows == ["| --- | --- | --- |", "| adds | 2/s | 1/s |", "| reads | 3 µs |  |"]
    assert (empty, end) == ("", "<!-- end of figures -->")
    assert source.startswith("*`a.py`, `b.py 3`; 3 February 2026, ")
    # Again, with other figures: nothing of the former stays.
    (again,) = tables.tables_of(filled)
    runs[0] = {"adds": {"ours": "4/s", "theirs": "1/s"}}
    assert "2/s" not in tables.filled(filled, again, tables.replaced(again, runs, DAY))


def test_a_table_that_would_lose_a_peer_stays_as_it_is(tables: Any) -> None:
    readme = "<!-- thorough figures: a.py -->\n| | ours | theirs |\n<!-- end of figures -->\n"
    (wanted,) = tables.tables_of(readme)
    assert wanted.is_thorough
    with pytest.raises(LookupError, match="theirs"):
        tables.replaced(wanted, [{"adds": {"ours": "2/s"}}], DAY)
