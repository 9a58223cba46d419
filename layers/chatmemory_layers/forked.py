"""What does not outlive a fork: ``PROCESS.generation`` tells whether this process was forked since, ``is_inherited`` from what.

A child of ``os.fork``, or of multiprocessing's "fork", has the memory of its parent and none of its threads.  SQLite's
table of locks, which is a part of that memory, says that the child holds what its parent holds; the sockets to a server
are used by both.  So nothing that was open goes on in a child, and no file that was open is opened there again.
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
    """This process, as it knows itself.

    Attributes:
        generation: how many forks lie between the first process of this program and this one.
        opened: files that were opened here, by device and number; only a child keeps them.
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
"""``PROCESS.generation`` has another value in a forked child."""


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
    """Remember that this process itself has opened *path*."""
    if PROCESS.generation:
        file = path.stat()
        PROCESS.opened.add((file.st_dev, file.st_ino))


def descriptors_of(file: os.stat_result) -> Iterator[int]:
    """Yield the descriptors with which this process has *file* open; none where the system cannot list them."""
    with suppress(OSError):
        for name in os.listdir("/dev/fd"):  # noqa: PTH208  names are all that is wanted
            with suppress(OSError):
                if os.path.samestat(os.fstat(int(name)), file):
                    yield int(name)
