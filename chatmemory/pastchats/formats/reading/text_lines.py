r"""The lines of a history in text: parted at ``\n`` alone, a ``\r`` before it dropped, nothing else changed.

``Passage`` gathers those of one turn.
"""

from collections.abc import Iterator
from typing import Final, final

from attrs import define, field, frozen

from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.byte_lines import byte_lines


@final
@frozen
class TextLine:
    """A line without its end.

    Attributes:
        text: decoded; a byte that is no UTF-8 is a lone surrogate, which indexing replaces and reports.
        line: its number, from 1.
        offset: where it begins, in bytes.
    """

    text: str
    line: int
    offset: int


def text_lines(reader: HistoryReader) -> Iterator[TextLine]:
    """Yield the lines of *reader*; one beyond 32 MiB comes in pieces with the same number.

    Raises:
        UnreadableHistoryError: the file cannot be read.
    """
    for content, line, offset, ending in byte_lines(reader, cut=True):
        if ending == "newline" and content.endswith(b"\r"):
            content = content[:-1]  # noqa: PLW2901  it is the same line
        yield TextLine(content.decode("utf-8", "surrogateescape"), line, offset)


MAX_PASSAGE_CHARACTERS: Final = 8 * 1024 * 1024
"""What is longer is a file that went astray; reading on would take memory without end."""


@final
@define
class Passage:
    """Grows line by line.

    Attributes:
        line: where it began, from 1; 0 while it is empty.
        is_cut: lines were left out at its end.
    """

    line: int = 0
    is_cut: bool = False
    _lines: list[str] = field(factory=list[str])
    _length: int = 0

    def add(self, text: str, line: int) -> None:
        """Append a line, which began the passage if it is the first."""
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
        """Return the text without the blank lines around it, and become empty."""
        text = "\n".join(self._lines)
        self._lines.clear()
        self._length, self.line, self.is_cut = 0, 0, False
        return text.strip("\n").rstrip()

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space was said."""
        return not any(line and not line.isspace() for line in self._lines)
