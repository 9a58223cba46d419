"""``TextReader``: a history and its neighbouring files in memory, for tests of formats and for pasted text."""

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
        files: the content by path; paths separate folders with ``/``.
        block_bytes: the size of a block; 1 tests the behaviour of a reader at block boundaries.
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
        """Return the reader of a file near this one; None when it does not exist."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), relative))
        return TextReader(path, self.files, self.block_bytes) if path in self.files else None

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        """Return the names in a folder near this file, sorted."""
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), relative))
        start = "" if folder == "." else folder.rstrip("/") + "/"
        return sorted({path[len(start) :].split("/")[0] for path in self.files if path.startswith(start)})
