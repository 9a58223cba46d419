"""Searches a folder: yields every regular file below it once, wherever links point."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, final

from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.path_globs import NO_HISTORIES
from chatmemory_layers.files.paths import shown_path

_SIDE_FILES: Final = ("-wal", "-shm", "-journal")  # belong to a SQLite database, and are not read alone
_KINDS: Final = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

Parts: TypeAlias = tuple[str, ...]
Found: TypeAlias = HistoryFile | HistoryIssue


@final
class FolderSearch:
    """One search over several folders and files.

    Links are followed, also out of the folder, because histories are often kept elsewhere.  A file or folder is found
    only once, so that circular links end; a link to one of its parent folders is reported as an issue.
    """

    def __init__(self, is_left_out: Callable[[str], bool]) -> None:
        self._is_left_out = is_left_out
        self._seen: set[tuple[int, int]] = set()

    def below(
        self,
        path: str,
        *,
        may_lead: Callable[[Parts], bool] = lambda _: True,
        is_meant: Callable[[Parts], bool] = lambda _: True,
    ) -> Iterator[Found]:
        """Yield the file *path*, or the files below the folder *path*, and an issue for each folder that cannot be read.

        A link at *path* is followed.  *may_lead* returns whether files below a folder may be meant, *is_meant* whether
        a file is meant; both get the parts of its path below *path*.
        """
        real = os.path.realpath(path)
        try:
            found = os.stat(real)
        except OSError as reason:
            yield self._issue(path, reason)
            return
        if self._is_left_out(real):
            return
        if stat.S_ISDIR(found.st_mode):
            yield from self._folder(real, found, (), may_lead, is_meant)
        else:
            yield from self._file(real, found)

    def _folder(
        self,
        folder: str,
        status: os.stat_result,
        parts: Parts,
        may_lead: Callable[[Parts], bool],
        is_meant: Callable[[Parts], bool],
    ) -> Iterator[Found]:
        place = status.st_dev, status.st_ino
        if place in self._seen:
            return
        self._seen.add(place)
        try:
            with os.scandir(folder) as entries:
                # Files before folders, links last: a file in this folder is found under its own name, not under a link's.
                listed = sorted(entries, key=lambda entry: (entry.is_symlink(), entry.name))
        except OSError as reason:
            yield self._issue(folder, reason)
            return
        if "pyvenv.cfg" in {entry.name for entry in listed}:
            return
        for entry in listed:
            if self._is_left_out(entry.path):
                continue
            below = (*parts, entry.name)
            try:
                is_link = entry.is_symlink()
                found = entry.stat()
                path = os.path.realpath(entry.path) if is_link else entry.path
            except OSError as reason:
                if is_meant(below) or may_lead(below):
                    yield HistoryIssue("link", shown_path(entry.path), f"leads nowhere: {_why(reason)}")
                continue
            if stat.S_ISDIR(found.st_mode):
                if is_link and _lies_in(folder, path):
                    yield HistoryIssue("link", shown_path(entry.path), "leads to a folder that it lies in")
                elif entry.name not in NO_HISTORIES and may_lead(below) and not self._is_left_out(path):
                    yield from self._folder(path, found, below, may_lead, is_meant)
            elif is_meant(below) and not (is_link and self._is_left_out(path)):
                yield from self._file(path, found)

    def _file(self, path: str, found: os.stat_result) -> Iterator[Found]:
        if not stat.S_ISREG(found.st_mode):
            kind = next((kind for is_kind, kind in _KINDS if is_kind(found.st_mode)), "no file")
            yield HistoryIssue("unreadable", shown_path(path), kind)
            return
        if path.endswith(_SIDE_FILES):
            return
        # A file system without inodes says 0 for each.
        if found.st_ino:
            place = found.st_dev, found.st_ino
            if place in self._seen:
                return
            self._seen.add(place)
        yield HistoryFile(shown_path(path), found.st_size, found.st_mtime_ns)

    def _issue(self, path: str, reason: OSError) -> HistoryIssue:
        return HistoryIssue("unreadable", shown_path(path), _why(reason))


def _lies_in(folder: str, other: str) -> bool:
    return f"{folder}{os.sep}".startswith(other.rstrip(os.sep) + os.sep)


def _why(reason: OSError) -> str:
    return (reason.strerror or str(reason)).lower()
