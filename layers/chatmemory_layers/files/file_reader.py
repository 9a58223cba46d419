"""The bytes of a file: as much of it as there was when it was first opened, so that two passes see the same."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, final

from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.formats.reading.byte_lines import without_mark
from chatmemory_layers.files.paths import Confinement, real_path, shown_path
from chatmemory_layers.files.zstd_blocks import COMPRESSED, decompressed, is_compressed

BLOCK_BYTES: Final = 1 << 18
ABSENT: Final = (-1, -1)
"""What is noted of a file that was looked for and not found: it may come."""


@final
class FileReader:
    """A ``TrackedReader`` of *path*, as it is shown; it sees nothing near it that *confinement* leaves out."""

    def __init__(
        self,
        path: str,
        also: dict[str, tuple[int, int]] | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        self._confinement = confinement
        self._real = real_path(path)
        self._first_seen: tuple[int, int, int] | None = None
        self.path = path
        self.also: dict[str, tuple[int, int]] = {} if also is None else also

    @property
    def name(self) -> str:
        """The last part of the path, without the ending that says how it is compressed."""
        name = os.path.basename(self.path)
        return name[: -len(COMPRESSED)] if is_compressed(name) else name

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, without a byte order mark.

        Raises:
            UnreadableHistoryError: it cannot be read, or was replaced or cut off since it was first opened.
        """
        blocks = self._blocks()
        return without_mark(decompressed(blocks) if is_compressed(self.path) else blocks)

    def _blocks(self) -> Iterator[bytes]:
        try:
            # O_NONBLOCK: a pipe that took the file's place would wait for a writer.
            descriptor = os.open(
                self._real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            )
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                left = self._size(os.fstat(descriptor))
                while left > 0:
                    block = file.read(min(left, BLOCK_BYTES))
                    if not block:
                        raise UnreadableHistoryError("it was cut off while it was read")
                    left -= len(block)
                    yield block
        except OSError as reason:
            raise UnreadableHistoryError((reason.strerror or str(reason)).lower()) from reason

    def _size(self, now: os.stat_result) -> int:
        if not stat.S_ISREG(now.st_mode):
            raise UnreadableHistoryError("it is no file any more")
        device, inode, size = self._first_seen = self._first_seen or (now.st_dev, now.st_ino, now.st_size)
        if (now.st_dev, now.st_ino) != (device, inode) or now.st_size < size:
            raise UnreadableHistoryError("it was replaced while it was read")
        return size

    def sibling(self, relative: str, /) -> "FileReader | None":
        """Return the reader of a file near this one, None when there is none; both answers are recorded."""
        real = self._near(relative)
        if self._is_left_out(real):
            return None
        shown = shown_path(real)
        self.also[shown], is_file = look(real)
        return FileReader(shown, self.also, self._confinement) if is_file else None

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder near it, sorted; the folder is noted."""
        real = self._near(relative)
        if self._is_left_out(real):
            return ()
        self.also[shown_path(real)], _ = look(real)
        try:
            return sorted(os.listdir(real))
        except OSError:
            return ()

    def _is_left_out(self, real: str) -> bool:
        return self._confinement is not None and self._confinement.is_outside(real)

    def _near(self, relative: str) -> str:
        return os.path.normpath(Path(self._real).parent / relative)


def look(real: str) -> tuple[tuple[int, int], bool]:
    """Return size and time of the last change of what is there, and whether it is a file."""
    try:
        found = os.stat(real)
    except (OSError, ValueError):
        return ABSENT, False
    return (found.st_size, found.st_mtime_ns), stat.S_ISREG(found.st_mode)


def is_absent(real: str) -> bool:
    """Tell whether there is nothing; False where that cannot be seen."""
    try:
        os.stat(real)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False
