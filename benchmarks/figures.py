"""What a benchmark hands to ``tables.py``: the rows of a table, written by ``--json FILE``.

A row has a label, and a cell for each of its columns; whoever writes a figure says its unit with it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

OPTION: Final = "--json"
DIGITS: Final = 2  # no benchmark on a shared machine is true to three

Rows: TypeAlias = Mapping[str, Mapping[str, str]]
"""The cells of each row by their column, the rows by their label."""


def json_option(parser: argparse.ArgumentParser) -> None:
    """Let *parser* take a file for the figures."""
    parser.add_argument(OPTION, type=Path, metavar="FILE", help="write the figures into a file")


def write(file: Path | None, rows: Rows) -> None:
    """Write *rows* to *file*; None: nobody has asked for them."""
    if file is not None:
        file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def read(file: Path) -> Rows:
    """Return what a benchmark has written."""
    rows: Rows = json.loads(file.read_text(encoding="utf-8"))
    return rows


def first(name: str, cells: Mapping[str, str]) -> dict[str, str]:
    """Return *cells* with the column *name* in front."""
    return {name: cells[name], **cells}


def per_second(rate: float) -> str:
    return f"{rounded(rate)}/s"


def duration(seconds: float) -> str:
    """Return a span in the unit that suits it."""
    for unit, least in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= least:
            return f"{rounded(seconds / least)} {unit}"
    return f"{rounded(seconds * 1e6)} µs"


def rounded(figure: float) -> str:
    """Return *figure* with so many digits as are true."""
    short = float(f"{figure:.{DIGITS}g}")
    return f"{short:,.0f}" if abs(short) >= 10 ** (DIGITS - 1) else f"{short:g}"


def table(runs: Sequence[Rows]) -> str:
    """Return the rows of several *runs* as one table in Markdown; a cell that a run does not have is empty."""
    rows = {label: cells for run in runs for label, cells in run.items()}
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    lines = [["", *columns], ["---"] * (1 + len(columns))]
    lines += [[label, *(cells.get(column, "") for column in columns)] for label, cells in rows.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
