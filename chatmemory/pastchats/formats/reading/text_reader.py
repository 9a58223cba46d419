"""``TextReader``: a history, and the files around it, that lie in memory: for tests of formats, and for what was pasted."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import final

from attrs import field, frozen

from chatmemory.pastchats.formats.reading.byte_lines import without_mark


def _encoded(files: Mapping[str, bytes | str]) -> Mapping[str, bytes]:
    return {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}


@final
@frozen
class TextReader:
    """A ``HistoryReader`` of *path*, one of *files*.

    Attributes:
        files: what lies where; paths part their folders with ``/``.
        block_bytes: how much is given at a time; 1 shows what a reader does at the edges.
    """

    path: str
    files: Mapping[str, bytes] = field(converter=_encoded, repr=False)
    block_bytes: int = 65_536

    @property
    def name(self) -> str:
        """The last part of *path*."""
        return posixpath.basename(self.path)

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, without a byte order mark."""
        content = self.files[self.path]
        starts = range(0, len(content), self.block_bytes)
        return without_mark(content[start : start + self.block_bytes] for start in starts)

    def sibling(self, relative: str, /) -> "TextReader | None":
        """Return the reader of a file near it, None when there is none."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), relative))
        return TextReader(path, self.files, self.block_bytes) if path in self.files else None

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder near it, sorted."""
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), relative))
        start = "" if folder == "." else folder.rstrip("/") + "/"
        return sorted({path[len(start) :].split("/")[0] for path in self.files if path.startswith(start)})
