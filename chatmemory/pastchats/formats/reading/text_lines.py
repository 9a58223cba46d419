r"""The lines of a history in text: parted at ``\n`` alone, a ``\r`` before it dropped, nothing else changed."""

from collections.abc import Iterator
from typing import final

from attrs import frozen

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
