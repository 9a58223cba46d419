r"""``text_lines``: the lines of a text file, split at ``\n``; a ``\r`` before it is dropped, nothing else is changed.

``byte_lines`` yields them as bytes.  The other separators of ``str.splitlines`` (U+2028, U+0085) are text in chats.
``Passage`` collects the lines of one turn.  ``TextReader`` is a history in memory, for tests and for pasted text.

``without_mark`` drops a byte order mark and converts UTF-16 to UTF-8, so that formats see one encoding: some editors
write a mark at the beginning, and a shell of Windows redirects output as UTF-16.
"""

import codecs
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, final

from attrs import define, field, frozen

from chatmemory.pastchats.formats.history_format import HistoryBytes, HistoryReader

MAX_RECORD_BYTES: Final = 32 * 1024 * 1024
"""A longer record holds a file rather than words; reading it would take more memory than a reader may use."""

UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

MAX_PASSAGE_CHARACTERS: Final = 8 * 1024 * 1024
"""A longer turn is a broken file; reading on would take unlimited memory."""

LineEnd = Literal["newline", "end_of_file", "too_long"]

_LONGEST_CHARACTER: Final = 4  # bytes in UTF-8


@final
@frozen
class TextLine:
    """A line without its line break, and its number, from 1.

    A byte that is not UTF-8 becomes a lone surrogate, which indexing replaces and reports.
    """

    text: str
    line: int


def text_lines(reader: HistoryReader) -> Iterator[TextLine]:
    """Yield the lines of *reader*; a line above 32 MiB is yielded in pieces with the same number."""
    for content, line, _, ending in byte_lines(reader, cut=True):
        if ending == "newline" and content.endswith(b"\r"):
            content = content[:-1]  # noqa: PLW2901  it is the same line
        yield TextLine(content.decode("utf-8", "surrogateescape"), line)


def byte_lines(reader: HistoryBytes, *, cut: bool = False) -> Iterator[tuple[bytes, int, int, LineEnd]]:
    r"""Yield each line without its ``\n``, its number from 1, its position in bytes, and what ended it.

    For a line longer than ``MAX_RECORD_BYTES``, the beginning is yielded as ``too_long``, and the rest is skipped;
    or, with *cut*, yielded in further pieces under the same number.
    """
    number, offset = 1, 0
    pieces: list[bytes] = []
    held = 0
    is_passed_over = False
    for block in reader.blocks():
        *whole, last = block.split(b"\n")
        for piece in whole:
            line = b"".join((*pieces, piece)) if pieces else piece
            if not is_passed_over:
                yield line, number, offset, "newline"
            offset += (held if is_passed_over else 0) + len(line) + 1
            number += 1
            pieces.clear()
            held = 0
            is_passed_over = False
        if is_passed_over:
            held += len(last)
            continue
        if last:
            pieces.append(last)
            held += len(last)
        if held > MAX_RECORD_BYTES:
            line = b"".join(pieces)
            pieces.clear()
            if cut:
                end = _end_of_character(line)
                yield line[:end], number, offset, "too_long"
                offset += end
                pieces.append(line[end:])
                held = len(line) - end
            else:
                yield line, number, offset, "too_long"
                is_passed_over = True
    if pieces and held:
        yield b"".join(pieces), number, offset, "end_of_file"


def _end_of_character(line: bytes) -> int:
    """Return the position where *line* may be cut without splitting a character of UTF-8."""
    last = line[-_LONGEST_CHARACTER:]
    # A partial character at the end is left for the next piece.
    _, taken = codecs.utf_8_decode(last, "surrogateescape", False)
    return len(line) - len(last) + taken


def beginning(reader: HistoryReader) -> bytes:
    """Return the content of *reader* up to the end of its first block that is not blank."""
    start = b""
    for block in reader.blocks():
        start += block
        if block.strip():
            break
    return start


def holds(reader: HistoryReader, text: bytes) -> bool:
    """Return whether *text* is somewhere in the file."""
    tail = b""
    for block in reader.blocks():
        if text in tail + block:
            return True
        tail = (tail + block)[-len(text) :]
    return False


@final
@define
class Passage:
    """Collects the lines of one turn; *line* is the number of the first, 0 while there is none.

    *is_cut*: lines at its end were left out because it is too long.
    """

    line: int = 0
    is_cut: bool = False
    _lines: list[str] = field(factory=list[str])
    _length: int = 0

    def add(self, text: str, line: int) -> None:
        """Append a line; the first one gives the passage its line number."""
        self.line = self.line or line
        room = MAX_PASSAGE_CHARACTERS - self._length
        if len(text) > room:
            self.is_cut = True
            text = text[: max(room, 0)]
            if not text:
                return
        self._lines.append(text)
        self._length += len(text) + 1

    @property
    def text(self) -> str:
        """The text without blank lines at its start and end."""
        return "\n".join(self._lines).strip("\n").rstrip()

    @property
    def is_blank(self) -> bool:
        """Whether the passage has nothing but white space."""
        return not any(line and not line.isspace() for line in self._lines)


def _encoded(files: Mapping[str, bytes | str]) -> Mapping[str, bytes]:
    return {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}


@final
@frozen
class TextReader:
    """A ``HistoryReader`` of *path*, one of *files*; paths separate folders with ``/``.

    Blocks of one byte test the behaviour of a reader at block boundaries.
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


def without_mark(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *blocks* as UTF-8 without a mark; blocks may have any size, also one byte."""
    rest = iter(blocks)
    start = b""
    for block in rest:
        start += block
        if len(start) >= len(codecs.BOM_UTF8):
            break
    if start.startswith(UTF_16):
        decoded = codecs.iterdecode(chain([start], rest), "utf-16", "replace")
        yield from (text.encode() for text in decoded)
        return
    start = start.removeprefix(codecs.BOM_UTF8)
    if start:
        yield start
    yield from rest
