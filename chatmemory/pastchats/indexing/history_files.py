"""``HistoryFiles``: the file system, as far as past chats need it."""

from collections.abc import Sequence
from typing import Protocol, final

from attrs import frozen

from chatmemory.effect import Effect, Tag
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import HistoryReader, KnownRoot


@final
@frozen
class FoundFiles:
    """Files that may hold histories, sorted by path, none twice.

    Attributes:
        issues: folders that could not be entered, links that lead in circles, pipes and the like.
        roots: the files and folders that were looked through, whole paths, also where nothing is there any more.
    """

    files: tuple[HistoryFile, ...]
    issues: tuple[HistoryIssue, ...] = ()
    roots: tuple[str, ...] = ()


class TrackedReader(HistoryReader, Protocol):
    """A reader that notes what else was looked at."""

    @property
    def also(self) -> dict[str, tuple[int, int]]:
        """Files and folders beside its own, each with size and time of the last change in nanoseconds."""
        ...


class HistoryFiles(Protocol):
    """Finds and opens files.  It never fails as a whole: what cannot be read is an issue."""

    def find(self, inputs: Sequence[str], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:
        """Return the files below *inputs*: files, folders, and the members of zip archives.

        Hidden files count; what version control and package managers keep (``.git``, ``node_modules``) does not.  An
        input that does not exist is an issue.  *exclude* are globs of whole paths.
        """
        ...

    def find_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:
        """Return the files of those *roots* that exist."""
        ...

    def reader(self, file: HistoryFile, /) -> TrackedReader:
        """Return what reads *file*; nothing is opened yet."""
        ...

    def is_gone(self, source: str, /) -> bool:
        """Tell whether there is no such file, or no such member of an archive; False where looking is forbidden."""
        ...

    def has_changed(self, also: dict[str, tuple[int, int]], /) -> bool:
        """Tell whether one of the further files of a source is not what it was."""
        ...


class HistoryFilesTag(Tag[HistoryFiles]):
    """The tag under which layers provide ``HistoryFiles``."""
