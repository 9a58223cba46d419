"""``back_up``: copies a file to a new name beside it, whole or not at all, and never overwrites another copy.

``legacy_file.py`` decides when a copy is made.
"""

import filecmp
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path


def back_up(path: Path, version: int) -> Path:
    """Copy the database *path* to ``<path>.v<version>.backup``, and return the path of the copy.

    No other process may write to the database or back it up meanwhile.  If a different copy has the name, a number is
    added; the same copy is not stored twice.

    Args:
        path: the database.
        version: its schema version, for the name of the copy.

    Raises:
        OSError: the copy cannot be written.
        sqlite3.Error: the copy cannot be written, or *path* cannot be read.
    """
    name = f"{path.name}.v{version}.backup"
    unfinished = path.with_name(name + ".unfinished")
    unfinished.unlink(missing_ok=True)  # left by a process that was killed
    unfinished.touch(mode=0o600, exist_ok=False)
    try:
        _copy(path, unfinished)
        _sync(unfinished)
    except BaseException:
        unfinished.unlink()  # the disk may be full
        raise
    copy = next(
        copy
        for copy in _names(path, name)
        if not copy.exists() or filecmp.cmp(unfinished, copy, shallow=False)
    )
    if copy.exists():  # the process that made it was killed before the first change
        unfinished.unlink()
        return copy
    unfinished.rename(copy)
    with suppress(PermissionError):  # Windows cannot open a folder
        _sync(path.parent)
    return copy


def _names(path: Path, name: str) -> Iterator[Path]:
    yield path.with_name(name)
    for number in count(2):
        yield path.with_name(f"{name}.{number}")


def _copy(path: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(path.as_uri() + "?mode=ro", uri=True)) as reader,
        closing(sqlite3.connect(target)) as writer,
    ):
        # A journal that outlives its writer would be applied to the next copy.
        writer.execute("PRAGMA journal_mode = OFF")
        reader.backup(writer)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
