"""Health checks that the file of a store and an index of past chats have in common; they write nothing."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Final, ParamSpec, TypeAlias

from chatmemory.pastchats.past_chats import Finding, Severity

Seen: TypeAlias = tuple[Severity, str, str]
"""What a check has found: its severity, a message, and what repairs it."""

MOST_COMPLAINTS: Final = 3
PRIVATE: Final = 0o077
ROOM_OF_FILE: Final = 0.5
"""The part of its own size that a file may need in addition: for a log, or an index of words that is merged."""
LEAST_ROOM_BYTES: Final = 100 * 1024 * 1024
GIB: Final = 2**30

QUICK_CHECK = f"PRAGMA quick_check({MOST_COMPLAINTS})"

P = ParamSpec("P")


def findings(
    checks: Mapping[str, Callable[P, Iterator[Seen]]],
    repair_of_damage: str,
    errors: tuple[type[Exception], ...],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Iterator[Finding]:
    """Make *checks*, by their codes; a file that is too damaged for one of them, which raises one of *errors*, is a finding too."""
    for code, look in checks.items():
        try:
            for severity, message, repair in look(*args, **kwargs):
                yield Finding(code=code, severity=severity, message=message, repair=repair)
        except errors as error:
            message = f"could not be looked at: {error}"
            yield Finding(code=code, severity="error", message=message, repair=repair_of_damage)


def damage(connection: sqlite3.Connection) -> list[str]:
    """Return the first complaints of SQLite about the pages of the file; none if it is whole."""
    complaints = [text for (text,) in connection.execute(QUICK_CHECK).fetchall()]
    return [] if complaints == ["ok"] else complaints


def privacy(path: Path) -> Iterator[Seen]:
    """Check who may read the file."""
    if os.name != "posix":
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & PRIVATE:
        yield "warning", f"others may read the file (mode {mode:04o})", f"chmod 600 {quote(str(path))}"
    else:
        yield "ok", f"only you may read the file (mode {mode:04o})", ""


def room(path: Path, size_bytes: int) -> Iterator[Seen]:
    """Check the free space on the disk of a file of *size_bytes*."""
    free = shutil.disk_usage(path.parent).free
    needed = max(LEAST_ROOM_BYTES, int(size_bytes * ROOM_OF_FILE))
    message = f"{free / GIB:.1f} GiB are free on the disk"
    if free < needed:
        yield "warning", message, f"make room: {needed / GIB:.1f} GiB should be free"
    else:
        yield "ok", message, ""
