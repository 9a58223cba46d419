r"""``text_lines``: the lines of a text file, split at ``\n``; a ``\r`` before it is dropped, nothing else is changed.

``Passage`` collects the lines of one turn.
"""

from collections.abc import Iterator
from typing import Final, final

from attrs import define, field, frozen

from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.byte_lines import byte_lines


@final
@frozen
class TextLine:
    """A line without its line break.

    Attributes:
        text: the decoded text; a byte that is not UTF-8 becomes a lone surrogate, which indexing replaces and reports.
        line: its number, from 1.
        offset: the position of its first byte in the file.
    """

    text: str
    line: int
    offset: int


def text_lines(reader: HistoryReader) -> Iterator[TextLine]:
    """Yield the lines of *reader*; a line above 32 MiB is yielded in pieces with the same number.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    for content, line, offset, ending in byte_lines(reader, cut=True):
        if ending == "newline" and content.endswith(b"\r"):
            content = content[:-1]  # noqa: PLW2901  it is the same line
        yield TextLine(content.decode("utf-8", "surrogateescape"), line, offset)


MAX_PASSAGE_CHARACTERS: Final = 8 * 1024 * 1024
"""A longer turn is a broken file; reading on would take unlimited memory."""


@final
@define
class Passage:
    """Collects the lines of one turn.

    Attributes:
        line: the number of its first line, from 1; 0 while the passage is empty.
        is_cut: whether lines at its end were left out because it is too long.
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

    def take(self) -> str:
        """Return the text without blank lines at its start and end, and empty the passage."""
        text = "\n".join(self._lines)
        self._lines.clear()
        self._length, self.line, self.is_cut = 0, 0, False
        return text.strip("\n").rstrip()

    @property
    def is_blank(self) -> bool:
        """Whether the passage has nothing but white space."""
        return not any(line and not line.isspace() for line in self._lines)
