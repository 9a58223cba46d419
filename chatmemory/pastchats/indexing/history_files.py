"""``HistoryFiles``: the contract by which past chats use the file system."""

from collections.abc import Sequence
from typing import Protocol, final

from attrs import frozen

from chatmemory.effect import Effect, Tag
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import HistoryReader, KnownRoot


@final
@frozen
class FoundFiles:
    """Files that may hold histories, sorted by path, without duplicates.

    Attributes:
        issues: folders that could not be entered, links that form cycles, pipes and the like.
        roots: the absolute paths of the files and folders that were searched, even if they no longer exist.
    """

    files: tuple[HistoryFile, ...]
    issues: tuple[HistoryIssue, ...] = ()
    roots: tuple[str, ...] = ()


class TrackedReader(HistoryReader, Protocol):
    """A reader that records which other files it used."""

    @property
    def also(self) -> dict[str, tuple[int, int]]:
        """The other files and folders, each with its size and the time of its last change in nanoseconds."""
        ...


class HistoryFiles(Protocol):
    """Finds and opens files.  A file that cannot be read becomes an issue, never a failure of the whole."""

    def find(self, inputs: Sequence[str], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:
        """Find the files below *inputs*, hidden files and the members of zip archives included.

        The folders of version control and package managers (``.git``, ``node_modules``) are left out, and whole paths
        that a glob of *exclude* matches.  An input that does not exist is an issue.
        """
        ...

    def find_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:
        """Find the files of those *roots* that exist; *exclude* is that of ``find``."""
        ...

    def count_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[int]:
        """Count the files of ``find_known``, without opening one: an archive or a store counts as one file."""
        ...

    def reader(self, file: HistoryFile, /) -> TrackedReader:
        """Return a reader of *file*; it opens nothing yet."""
        ...

    def is_gone(self, source: str, /) -> bool:
        """Return whether the file, or the member of an archive, no longer exists; False when access is denied."""
        ...

    def repository_of(self, folder: str, /) -> str:
        """Return the repository of *folder* if it is in another working tree of it (``git worktree``), else *folder*."""
        return folder

    def has_changed(self, also: dict[str, tuple[int, int]], /) -> bool:
        """Return whether one of the other files of a source has changed."""
        ...


class HistoryFilesTag(Tag[HistoryFiles]):
    """The tag under which layers provide ``HistoryFiles``."""
