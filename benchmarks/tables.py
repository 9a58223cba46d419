"""Measures anew, and writes the tables of docs/benchmarks.md: ``python benchmarks/tables.py [--thorough] [--data FOLDER] [NAME ...]``.

Each table stands between two comments, the first of which names the benchmarks whose figures it shows::

    <!-- figures: append.py; read.py -->
    ...
    <!-- end of figures -->

They run with ``--json``, and what stood between the comments is replaced: by the table, and by what was run on which day
on what.  No figure is typed by hand.  ``thorough figures`` take long, an hour together, and are left alone without
``--thorough``; DATA in a command is the folder with recorded conversations, and what needs it is left alone without one.
A table that would lose a column, because a peer is not installed here, stays as it is.  NAMEs choose the tables of some
benchmarks.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from figures import OPTION, Rows, read, table

HERE: Final = Path(__file__).parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
DATA: Final = "DATA"
END: Final = "<!-- end of figures -->"
MARKED: Final = re.compile(
    rf"(?P<start><!-- (?P<thorough>thorough )?figures: (?P<commands>[^>]+?) -->\n)(?P<shown>.*?)(?P<end>{END})",
    re.DOTALL,
)


@frozen
class Marked:
    """A table of the page.

    Attributes:
        commands: benchmarks with their arguments.
        is_thorough: whether they take long.
        shown: what stands between the comments.
    """

    commands: Sequence[str]
    is_thorough: bool
    shown: str

    @property
    def columns(self) -> set[str]:
        return {cell.strip() for cell in self.shown.partition("\n")[0].split("|")} - {""}

    @property
    def files(self) -> Sequence[str]:
        return [command.split()[0] for command in self.commands]


def marked(found: re.Match[str]) -> Marked:
    commands = [command.strip() for command in found["commands"].split(";")]
    return Marked(commands, found["thorough"] is not None, found["shown"])


def tables_of(readme: str) -> list[Marked]:
    """Return the tables of *readme* that stand between comments."""
    return [marked(found) for found in MARKED.finditer(readme)]


def figures_of(command: str, data: Path | None) -> Rows:
    """Run a benchmark, let it print, and return its figures; a bar that it misses is its own business.

    Raises:
        LookupError: it has written none.
    """
    name, *words = shlex.split(command)
    words = [str(data) if word == DATA else word for word in words]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        print(f"\n== {command}", flush=True)
        done = subprocess.run([sys.executable, str(HERE / name), *words, OPTION, str(file)], check=False)
        if not file.exists():
            msg = f"{command} ended with {done.returncode} and without figures.  Its table stays as it was"
            raise LookupError(msg)
        return read(file)


def written(commands: Sequence[str], runs: Sequence[Rows], day: str) -> str:
    """Return what stands between the comments: the table, and where it comes from."""
    ran = ", ".join(f"`{command}`" for command in commands)
    machine = f"CPython {platform.python_version()}, {os.cpu_count()} processors"
    return f"{table(runs)}\n\n*{ran}; {day}, {machine}*\n"


def replaced(before: Marked, runs: Sequence[Rows], day: str) -> str:
    """Return what takes the place of *before*.

    Raises:
        LookupError: a column is missing that stood there.
    """
    shown = written(before.commands, runs, day)
    if lost := before.columns - Marked(before.commands, before.is_thorough, shown).columns:
        msg = f"no figures of {', '.join(sorted(lost))}: is it installed?  The table stays as it was"
        raise LookupError(msg)
    return shown


def filled(readme: str, wanted: Marked, shown: str) -> str:
    """Return *readme* with *shown* where the commands of *wanted* stand."""
    return MARKED.sub(
        lambda found: (
            found["start"] + shown + found["end"] if marked(found).commands == wanted.commands else found[0]
        ),
        readme,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as append.py")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    is_whole = True
    for wanted in tables_of(PAGE.read_text(encoding="utf-8")):
        if asked.names and not set(asked.names) & set(wanted.files):
            continue
        if (wanted.is_thorough and not asked.thorough) or (
            asked.data is None and any(DATA in command.split() for command in wanted.commands)
        ):
            print(f"\n== left alone: {'; '.join(wanted.commands)}")
            continue
        try:
            shown = replaced(
                wanted,
                [figures_of(command, asked.data) for command in wanted.commands],
                time.strftime("%-d %B %Y"),
            )
        except LookupError as error:
            print(error, file=sys.stderr)
            is_whole = False
            continue
        # Written at once: a later benchmark may fail, or be interrupted.
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), wanted, shown), encoding="utf-8")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
