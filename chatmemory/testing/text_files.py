"""``TextFiles``: a file system of texts for ``HistoryFilesTag``, in which a test writes, changes and removes histories."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final, final

from attrs import frozen

from chatmemory.effect.effect import Effect
from chatmemory.pastchats.formats.histories import HistoryFile, HistoryIssue
from chatmemory.pastchats.formats.history_format import KnownRoot, UnreadableHistoryError
from chatmemory.pastchats.formats.reading.text_lines import TextReader
from chatmemory.pastchats.indexing.history_files import FoundFiles, HistoryFiles, TrackedReader
from chatmemory.pastchats.path_globs import NO_HISTORIES, RelativeGlobs, exclusion

ABSENT: Final = (-1, -1)
"""The recorded size and time of a file that does not exist yet."""


@final
@frozen
class _File:
    content: bytes
    modified_ns: int

    @property
    def seen(self) -> tuple[int, int]:
        return len(self.content), self.modified_ns


@final
class TextFiles(HistoryFiles):
    """Files by path, with folders separated by ``/``; archives and links are not supported.

    >>> disk = TextFiles({"/home/mei/.claude/projects/tea/1.jsonl": '{"type": "user"}'}, home="/home/mei")
    >>> disk.write("/home/mei/notes.md", "# 笔记")
    >>> [file.path for file in disk.find(["/home/mei/notes.md"]).run_sync().unwrap().files]
    ['/home/mei/notes.md']
    """

    def __init__(self, files: Mapping[str, str | bytes] | None = None, *, home: str = "/home/user") -> None:
        """Make a file system.

        Args:
            files: the contents by path; None: no files.
            home: the folder that ``~`` means.
        """
        self._home = home
        self._instants = count(1)
        self._files: dict[str, _File] = {}
        for path, content in (files or {}).items():
            self.write(path, content)

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file, which is then newer than all others.

        Args:
            path: the path of the file; an existing file is replaced.
            content: the new content; a text is written as UTF-8.
        """
        data = content.encode() if isinstance(content, str) else content
        self._files[path] = _File(data, next(self._instants))

    def remove(self, path: str) -> None:
        """Remove the file *path*.

        Raises:
            KeyError: the file does not exist.
        """
        del self._files[path]

    def find(self, inputs: Sequence[str], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:

        def find() -> FoundFiles:
            roots = [self._absolute(path) for path in inputs]
            found = {path for root in roots for path in self._below(root)}
            missing = [root for root in roots if not any(self._below(root))]
            issues = tuple(HistoryIssue("unreadable", root, "no such file or directory") for root in missing)
            return self._found(found, exclude, roots, issues)

        return Effect.sync(find)

    def find_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[FoundFiles]:

        def find() -> FoundFiles:
            known = [(folder, root.files) for root in roots for folder in self._folders_of(root.folder)]
            found = {
                path
                for folder, globs in known
                for path in self._below(folder)
                if RelativeGlobs(globs).is_meant(tuple(posixpath.relpath(path, folder).split("/")))
            }
            return self._found(found, exclude, [folder for folder, _ in known])

        return Effect.sync(find)

    def count_known(self, roots: Sequence[KnownRoot], *, exclude: Sequence[str] = ()) -> Effect[int]:
        return self.find_known(roots, exclude=exclude).map(lambda found: len(found.files))

    def reader(self, file: HistoryFile, /) -> TrackedReader:
        contents = {path: held.content for path, held in self._files.items()}
        return _TrackedText(TextReader(file.path, contents), self._seen, {})

    def is_gone(self, source: str, /) -> bool:
        return source not in self._files

    def repository_of(self, folder: str, /) -> str:
        return folder

    def has_changed(self, also: dict[str, tuple[int, int]], /) -> bool:
        return any(self._seen(path) != tuple(seen) for path, seen in also.items())

    def _absolute(self, path: str) -> str:
        return posixpath.normpath(self._at_home(path))

    def _at_home(self, path: str) -> str:
        return self._home + path[1:] if path == "~" or path.startswith("~/") else path

    def _below(self, root: str) -> Iterator[str]:
        start = root.rstrip("/") + "/"
        return (path for path in self._files if path == root or path.startswith(start))

    def _folders_of(self, folder: str) -> Sequence[str]:
        if "$" in folder or "%" in folder:
            return ()
        parts = tuple(self._absolute(folder).split("/"))
        globs = RelativeGlobs(["/".join(parts)])
        beginnings = {tuple(path.split("/")[: len(parts)]) for path in self._files}
        return sorted("/".join(beginning) for beginning in beginnings if globs.is_meant(beginning))

    def _found(
        self,
        paths: set[str],
        exclude: Sequence[str],
        roots: Sequence[str],
        issues: tuple[HistoryIssue, ...] = (),
    ) -> FoundFiles:
        is_left_out = exclusion([self._at_home(glob) for glob in exclude])
        files = (
            HistoryFile(path, *self._seen(path))
            for path in sorted(paths)
            if NO_HISTORIES.isdisjoint(path.split("/")) and not is_left_out(path)
        )
        return FoundFiles(tuple(files), issues, tuple(dict.fromkeys(roots)))

    def _seen(self, path: str) -> tuple[int, int]:
        """Return the size and the time of the last change; for a folder, the number and the newest time of its files."""
        if path in self._files:
            return self._files[path].seen
        below = [self._files[file].modified_ns for file in self._below(path)]
        return (len(below), max(below)) if below else ABSENT


@final
@frozen
class _TrackedText:
    """A ``TrackedReader`` of a text."""

    text: TextReader
    seen: Callable[[str], tuple[int, int]]
    also: dict[str, tuple[int, int]]

    @property
    def path(self) -> str:
        return self.text.path

    @property
    def name(self) -> str:
        return self.text.name

    def blocks(self) -> Iterator[bytes]:
        if self.path not in self.text.files:
            raise UnreadableHistoryError("no such file or directory")
        return self.text.blocks()

    def sibling(self, relative: str, /) -> _TrackedText | None:
        self._note(relative)
        near = self.text.sibling(relative)
        return None if near is None else _TrackedText(near, self.seen, self.also)

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        self._note(relative)
        return self.text.entries(relative)

    def _note(self, relative: str) -> None:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.text.path), relative))
        self.also[path] = self.seen(path)
