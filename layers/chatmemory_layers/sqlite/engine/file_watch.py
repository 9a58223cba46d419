"""``FileWatch``: notices that a file of an open store was moved, deleted or truncated.

SQLite does not notice such a change.  It goes on writing to files that no process will open again, and past the end of a
truncated file; the writes that it acknowledges then are lost when the process ends.
"""

import os
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, final

from chatmemory.errors import RepositoryProblem
from chatmemory_layers.forked import descriptors_of

GONE: Final = "the {} was moved, replaced or deleted while it was open: close the store and open it again"
CUT_OFF: Final = "the {} was cut off while it was open: close the store"

# Positions in SQLite's file formats: the page count in the database header, and the frame count in the header of the log
# index.  Lengths in bytes: the headers of the log index, of the log, and of a frame.
_PAGES: Final = slice(28, 32)
_INDEX_HEADER_BYTES: Final = 48
_FRAMES: Final = slice(16, 20)
_LOG_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24


@final
class FileWatch:
    """Finds out what is wrong with the database file, its write-ahead log and the index of the log.

    Attributes:
        seen: the files by path, as they were at the last check.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Remember the files of *connection*; a database with a rollback journal has only its own file."""
        (self._page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        self._path, self._log_path, self._index_path = os.fspath(path), f"{path}-wal", f"{path}-shm"
        self.seen = {self._path: os.stat(self._path)}
        if os.path.exists(self._log_path) and os.path.exists(self._index_path):
            self.seen |= {beside: os.stat(beside) for beside in (self._log_path, self._index_path)}

    def problem(self, connection: sqlite3.Connection) -> tuple[RepositoryProblem, str] | None:
        """Return the problem of files that are not as they were *seen*, and what to do about it; None: there is none.

        Without a problem, their present state becomes *seen*.  Call it outside a transaction: the content of a deleted or
        moved log is saved through *connection*.
        """
        names = {
            self._path: "file",
            self._log_path: "log beside the file (-wal)",
            self._index_path: "index beside the file (-shm)",
        }
        for path, before in self.seen.items():
            now = _stat(path)
            if now is None and path == self._log_path:
                # No other process has begun another log: copy into the file what only this process can read now.
                with suppress(sqlite3.Error, MemoryError):
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if now is None or not os.path.samestat(now, before):
                return "unavailable", GONE.format(names[path])
            if now.st_size < before.st_size and not self._is_whole(path, now):
                return "damaged", CUT_OFF.format(names[path])
            self.seen[path] = now
        return None

    def _is_whole(self, path: str, now: os.stat_result) -> bool:
        """Return whether a file that became shorter still has all its content; SQLite may truncate an index."""
        if path == self._path:
            return self._has_all_pages(now)
        return path != self._log_path or self._has_all_frames()

    def _has_all_pages(self, file: os.stat_result) -> bool:
        """Return whether a file that became shorter was vacuumed: its header names no page past the end."""
        header = _read(file, _PAGES.stop)
        # None: the file is empty.
        return header is None or 0 < int.from_bytes(header[_PAGES]) * self._page_bytes <= file.st_size

    def _has_all_frames(self) -> bool:
        """Return whether a log that became shorter was emptied by a checkpoint: its index names no frame past the end.

        Another thread or process may write meanwhile, so the length is measured between two readings of the same header.
        """
        index = self.seen[self._index_path]
        header = _read(index, _INDEX_HEADER_BYTES)
        while header is not None:
            frames = int.from_bytes(header[_FRAMES], sys.byteorder)
            log = _stat(self._log_path)
            if log is None:
                return True  # the next check finds that it is gone
            if not frames or log.st_size >= _LOG_HEADER_BYTES + frames * (
                _FRAME_HEADER_BYTES + self._page_bytes
            ):
                return True
            before, header = header, _read(index, _INDEX_HEADER_BYTES)
            if header == before:
                return False
        return True


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _read(file: os.stat_result, count: int) -> bytes | None:
    """Return the first bytes of a file that SQLite has open; None where its descriptors cannot be listed.

    They are read through SQLite's own descriptor: closing another one would drop all locks of this process.
    """
    with suppress(OSError):
        for descriptor in descriptors_of(file):
            return os.pread(descriptor, count, 0)
    return None
