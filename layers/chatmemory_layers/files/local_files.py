"""``HistoryFiles`` over the file system of this machine."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Never, final

from chatmemory.effect import Effect, Layer
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import KnownRoot
from chatmemory.pastchats.indexing.history_files import (
    FoundFiles,
    HistoryFiles,
    HistoryFilesTag,
    TrackedReader,
)
from chatmemory.pastchats.path_globs import RelativeGlobs, exclusion
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.files.file_reader import FileReader, is_absent, look
from chatmemory_layers.files.folder_search import FolderSearch, Found
from chatmemory_layers.files.paths import (
    AllowedFolders,
    folders_of,
    real_path,
    shown_path,
    worktree_repository,
)
from chatmemory_layers.files.sqlite_archive import StoreReader, conversations, holds, is_store
from chatmemory_layers.files.zip_archive import ARCHIVE, ArchiveReader, is_archive, may_hold, members
from chatmemory_layers.sqlite.prompts.prompt_store import store_path


@final
class LocalFiles(HistoryFiles):
    """Finds and opens files.

    It leaves out *own*: the index itself, which changes with every run.  It reads only inside *allowed*; None:
    every file.
    """

    def __init__(self, own: Sequence[str] = (), allowed: AllowedFolders | None = None) -> None:
        self._own = frozenset(own)
        self._allowed = allowed

    def find(self, inputs: Sequence[str], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:
        """Return the files below *inputs*; a path may begin with ``~``."""
        return Effect.sync(lambda: self._find(inputs, exclude))

    def find_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:
        return Effect.sync(
            lambda: self._collected(
                self._known(roots, exclude), [folder for root in roots for folder in folders_of(root.folder)]
            )
        )

    def count_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[int]:
        return Effect.sync(
            lambda: len({one.path for one in self._known(roots, exclude) if isinstance(one, HistoryFile)})
        )

    def reader(self, file: HistoryFile, /) -> TrackedReader:
        if file.member and not is_archive(file.path):
            return StoreReader(file, real_path(file.path))
        if file.member:
            return ArchiveReader(file, real_path(file.path))
        return FileReader(file.path, allowed=self._allowed)

    def has_changed(self, also: dict[str, tuple[int, int]], /) -> bool:
        return any(look(real_path(path))[0] != tuple(seen) for path, seen in also.items())

    def repository_of(self, folder: str, /) -> str:
        real = real_path(folder)
        if self._allowed is not None and self._allowed.is_outside(real):
            return folder
        return worktree_repository(real) or folder

    def is_gone(self, source: str, /) -> bool:
        if not is_absent(real_path(source)):
            return False
        store, _, conversation = source.rpartition("!")
        if store and is_store(real_path(store)):
            return not holds(real_path(store), conversation)
        end = source.lower().find(f"{ARCHIVE}!") + len(ARCHIVE)
        archive, member = real_path(source[:end]), source[end + 1 :]
        return end < len(ARCHIVE) or is_absent(archive) or not may_hold(archive, member)

    def _find(self, inputs: Sequence[str], exclude: Sequence[str]) -> FoundFiles:
        search = FolderSearch(self._exclusion(exclude))
        paths = [path if os.path.lexists(path) else os.path.expanduser(path) for path in inputs]
        return self._collected((found for path in paths for found in search.below(path)), paths)

    def _known(self, roots: Sequence[KnownRoot], exclude: Sequence[str]) -> Iterator[Found]:
        is_left_out = self._exclusion(exclude)
        for root in roots:
            globs = RelativeGlobs(root.files)
            for folder in folders_of(root.folder):
                if not is_absent(folder):
                    # A separate search: another root may mean other files of the same folder.
                    search = FolderSearch(is_left_out)
                    yield from search.below(folder, may_lead=globs.may_lead, is_meant=globs.is_meant)

    def _exclusion(self, globs: Sequence[str]) -> Callable[[str], bool]:
        is_left_out = exclusion([os.path.expanduser(glob) for glob in globs])
        allowed = self._allowed
        if allowed is None:
            return is_left_out
        return lambda path: allowed.is_outside(path) or is_left_out(path)

    def _collected(self, found: Iterator[Found], roots: Sequence[str]) -> FoundFiles:
        files: dict[str, HistoryFile] = {}
        issues: dict[str, HistoryIssue] = {}
        for one in found:
            for part in self._members(one):
                if isinstance(part, HistoryIssue):
                    issues.setdefault(part.path, part)
                elif part.path not in self._own:
                    files.setdefault(part.source, part)
        return FoundFiles(
            tuple(files[source] for source in sorted(files)),
            tuple(issues[path] for path in sorted(issues)),
            tuple(dict.fromkeys(shown_path(os.path.realpath(root)) for root in roots)),
        )

    def _members(self, found: Found) -> Iterator[Found]:
        if isinstance(found, HistoryFile) and is_archive(found.path):
            return members(found, real_path(found.path))
        if isinstance(found, HistoryFile) and is_store(real_path(found.path)) and found.path not in self._own:
            return conversations(found, real_path(found.path))
        return iter((found,))


def files_inside(allowed: AllowedFolders | None) -> Layer[HistoryFilesTag, Never, PastChatsSettingsTag]:
    """Return a layer of the files inside *allowed*, without the index itself; None: of all files of this machine."""

    def files(settings: PastChatsSettings) -> HistoryFiles:
        path = store_path(settings)
        return LocalFiles((os.fspath(path), os.path.realpath(path)), allowed)

    return Layer.effect(HistoryFilesTag, PastChatsSettingsTag.get().map(files), needs=(PastChatsSettingsTag,))


local_files: Final = files_inside(None)
