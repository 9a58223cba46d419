"""``FileReader``: reads a file up to the size that it had when it was first opened, so that two passes see the same bytes.

``decompressed`` reads zstd files, such as Codex's rollouts, which Codex compresses after a week without use
(``.jsonl.zst``).
"""

import importlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol, cast, final

from chatmemory.extra import installing
from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.formats.reading.text_lines import without_mark
from chatmemory_layers.files.paths import AllowedFolders, real_path, shown_path
from chatmemory_layers.files.zip_archive import BOMB_BYTES, MAX_RATIO

COMPRESSED: Final = ".zst"
BLOCK_BYTES: Final = 1 << 18
ABSENT: Final = (-1, -1)
"""The recorded state of a file that was looked for and not found; it may appear later."""

_MAGIC: Final = b"\x28\xb5\x2f\xfd"  # of zstd


@final
class FileReader:
    """A ``TrackedReader`` of the file *path*; it opens no neighbouring file outside *allowed*."""

    def __init__(
        self,
        path: str,
        also: dict[str, tuple[int, int]] | None = None,
        allowed: AllowedFolders | None = None,
    ) -> None:
        self._allowed = allowed
        self._real = real_path(path)
        self._first_seen: tuple[int, int, int] | None = None
        self.path = path
        self.also: dict[str, tuple[int, int]] = {} if also is None else also

    @property
    def name(self) -> str:
        """The last part of the path, without the suffix of its compression."""
        name = os.path.basename(self.path)
        return name[: -len(COMPRESSED)] if is_compressed(name) else name

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, without a byte order mark.

        Raises:
            UnreadableHistoryError: the file cannot be read, or was replaced or truncated since it was first opened.
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
        """Return the reader of a neighbouring file, or None if it does not exist; both answers are recorded."""
        real = self._near(relative)
        if self._is_left_out(real):
            return None
        shown = shown_path(real)
        self.also[shown], is_file = look(real)
        return FileReader(shown, self.also, self._allowed) if is_file else None

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the sorted names in a neighbouring folder; the folder is recorded."""
        real = self._near(relative)
        if self._is_left_out(real):
            return ()
        self.also[shown_path(real)], _ = look(real)
        try:
            return sorted(os.listdir(real))
        except OSError:
            return ()

    def _is_left_out(self, real: str) -> bool:
        return self._allowed is not None and self._allowed.is_outside(real)

    def _near(self, relative: str) -> str:
        return os.path.normpath(Path(self._real).parent / relative)


def look(real: str) -> tuple[tuple[int, int], bool]:
    """Return the size and the modification time of *path*, and whether it is a regular file."""
    try:
        found = os.stat(real)
    except (OSError, ValueError):
        return ABSENT, False
    return (found.st_size, found.st_mtime_ns), stat.S_ISREG(found.st_mode)


def is_absent(real: str) -> bool:
    """Return whether *path* does not exist; False if that cannot be determined."""
    try:
        os.stat(real)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def is_compressed(path: str) -> bool:
    """Return whether *path* has the suffix of a zstd file."""
    return path.lower().endswith(COMPRESSED)


def decompressed(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress *blocks*, frame by frame.

    Raises:
        UnreadableHistoryError: the file is damaged or truncated, expands too much, or no zstd library is installed.
    """
    frame: _Decompressor | None = None
    is_first = True
    given = taken = 0
    for block in blocks:
        if is_first and not block.startswith(_MAGIC):
            raise UnreadableHistoryError("it is not compressed with zstd, although its name says so")
        is_first = False
        taken += len(block)
        rest = block
        while rest:
            frame = frame or _decompressor()
            try:
                whole = frame.decompress(rest)
            except Exception as reason:  # each library raises its own errors
                raise UnreadableHistoryError(f"it is damaged: {reason}") from reason
            rest = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
            given += len(whole)
            if given > BOMB_BYTES and given > MAX_RATIO * taken:
                raise UnreadableHistoryError(f"{given:,} bytes and more out of {taken:,}")
            if whole:
                yield whole
    if frame is not None:
        raise UnreadableHistoryError("it is compressed, and cut off")


class _Decompressor(Protocol):
    """The common interface of the zstd libraries: decompresses one frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _decompressor() -> _Decompressor:
    for module, make in (("compression.zstd", "ZstdDecompressor"), ("zstandard", "")):
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        made = getattr(found, make)() if make else found.ZstdDecompressor().decompressobj()
        return cast("_Decompressor", made)
    raise UnreadableHistoryError(f"it is compressed with zstd: {installing('zstd')}, or Python 3.14")
