"""``FileWatch``: notices that somebody moved, deleted or cut off a file of an open store.

SQLite does not notice.  It goes on with files that nobody will open again, and behind the end of what was cut off, and
what it acknowledges then is gone with the process.
"""

import os
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, final

from chatmemory.errors import RepositoryProblem
from chatmemory_layers.forked import descriptors_of

GONE: Final = "the {} was moved, replaced or deleted while it was open: close the store and open it again"
CUT_OFF: Final = "the {} was cut off while it was open: close the store"

# Of the file formats of SQLite: where the header of a database says how many pages there are, and the index of a log
# how many frames, and how long the headers of a log and of a frame are.
_PAGES_AT: Final = 28
_FRAMES_AT: Final = 16
_LOG_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24


class Trouble(NamedTuple):
    """What is wrong with the files, and what to do."""

    problem: RepositoryProblem
    detail: str


@final
class FileWatch:
    """The database, its log and the index of the log, as they were when they were opened and seen last."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Look at the files of *connection*; one that keeps a rollback journal has no log."""
        (self._page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        self._path = os.fspath(path)
        self._log_path, self._index_path = f"{path}-wal", f"{path}-shm"
        self._file = os.stat(self._path)
        self._has_log = os.path.exists(self._log_path) and os.path.exists(self._index_path)
        if self._has_log:
            self._log, self._index = os.stat(self._log_path), os.stat(self._index_path)

    def trouble(self, connection: sqlite3.Connection) -> Trouble | None:
        """Look at the files; call it outside of a transaction.

        Args:
            connection: of the store; what a log holds that was deleted or moved is saved through it.

        Returns:
            what is wrong; None: they are all there.
        """
        file = _stat(self._path)
        if file is None or not os.path.samestat(file, self._file):
            return Trouble("unavailable", GONE.format("file"))
        if file.st_size < self._file.st_size and not self._has_all_pages(file):
            return Trouble("damaged", CUT_OFF.format("file"))
        self._file = file
        return self._trouble_with_log(connection) if self._has_log else None

    def note_sizes(self) -> None:
        """Remember how long the files are after a commit, so that what is cut off later is missed."""
        file = _stat(self._path)
        if file is not None and os.path.samestat(file, self._file) and file.st_size > self._file.st_size:
            self._file = file
        log = _stat(self._log_path) if self._has_log else None
        if log is not None and os.path.samestat(log, self._log) and log.st_size > self._log.st_size:
            self._log = log

    def _trouble_with_log(self, connection: sqlite3.Connection) -> Trouble | None:
        log = _stat(self._log_path)
        if log is None:
            # Nobody else has begun another log: the file takes what only this process can read now.
            with suppress(sqlite3.Error, MemoryError):
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if log is None or not os.path.samestat(log, self._log):
            return Trouble("unavailable", GONE.format("log beside the file (-wal)"))
        index = _stat(self._index_path)
        if index is None or not os.path.samestat(index, self._index):
            return Trouble("unavailable", GONE.format("index beside the file (-shm)"))
        if log.st_size < self._log.st_size and not self._has_all_frames(log):
            return Trouble("damaged", CUT_OFF.format("log beside the file (-wal)"))
        self._log = log
        return None

    def _has_all_pages(self, file: os.stat_result) -> bool:
        """Tell whether a file that shrank was vacuumed: its header names no page behind the end."""
        header = _read(file, _PAGES_AT)
        # A file of which nothing is left has no header.
        return header is None or 0 < int.from_bytes(header) * self._page_bytes <= file.st_size

    def _has_all_frames(self, log: os.stat_result) -> bool:
        """Tell whether a log that shrank was emptied by a checkpoint: its index names no frame behind the end."""
        index = _read(self._index, _FRAMES_AT)
        frames = 0 if index is None else int.from_bytes(index, sys.byteorder)
        return not frames or log.st_size >= _LOG_HEADER_BYTES + frames * (
            _FRAME_HEADER_BYTES + self._page_bytes
        )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _read(file: os.stat_result, place: int) -> bytes | None:
    """Return four bytes of a file that SQLite has open; None where its descriptors cannot be listed.

    They are read through the descriptor of SQLite: closing one of our own would drop all locks of this process.
    """
    with suppress(OSError):
        for descriptor in descriptors_of(file):
            return os.pread(descriptor, 4, place)
    return None
