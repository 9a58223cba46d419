"""Detects forks: ``PROCESS.generation`` changes in a forked child, ``is_inherited`` names files that its parent had open.

A child of ``os.fork``, or of multiprocessing's "fork", has the memory of its parent but none of its threads.  SQLite's
lock table, which is part of that memory, claims that the child holds its parent's locks, and both would use the same
sockets to a server.  So the child must not use anything that was open, nor reopen a file that its parent had open.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, final

HOW_TO_START = (
    "this process was forked while its parent had the store open: start it by multiprocessing's "
    '"spawn" or "forkserver", or open the store in the parent after the fork'
)


@final
class _Process:
    """The state of this process.

    Attributes:
        generation: the number of forks between the first process of this program and this one.
        opened: the files that this process opened, by device and inode; only a child records them.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.opened: set[tuple[int, int]] = set()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.generation += 1
        self.opened.clear()


PROCESS: Final = _Process()
"""The process record; ``PROCESS.generation`` differs in a forked child."""


def is_inherited(path: Path) -> bool:
    """Return whether a parent of this process had *path* open when it forked."""
    if not PROCESS.generation:
        return False
    try:
        file = path.stat()
    except OSError:
        return False
    return (file.st_dev, file.st_ino) not in PROCESS.opened and any(descriptors_of(file))


def note_opened(path: Path) -> None:
    """Record that this process has opened *path* itself."""
    if PROCESS.generation:
        file = path.stat()
        PROCESS.opened.add((file.st_dev, file.st_ino))


def descriptors_of(file: os.stat_result) -> Iterator[int]:
    """Yield the descriptors under which this process has *file* open; none if the system cannot list them."""
    with suppress(OSError):
        for name in os.listdir("/dev/fd"):  # noqa: PTH208  names are all that is wanted
            with suppress(OSError):
                if os.path.samestat(os.fstat(int(name)), file):
                    yield int(name)
