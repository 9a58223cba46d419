r"""Lines of bytes, split at ``\n`` only: the other separators of ``str.splitlines`` (U+2028, U+0085) are text in chats.

``without_mark`` drops a byte order mark and converts UTF-16 to UTF-8, so that formats see one encoding: some editors
write a mark at the beginning, and a shell of Windows redirects output as UTF-16.
"""

import codecs
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from chatmemory.pastchats.formats.history_format import HistoryReader

MAX_RECORD_BYTES: Final = 32 * 1024 * 1024
"""A longer record holds a file rather than words; reading it would take more memory than a reader may use."""

LineEnd = Literal["newline", "end_of_file", "too_long"]

_LONGEST_CHARACTER: Final = 4  # bytes in UTF-8


def byte_lines(reader: HistoryReader, *, cut: bool = False) -> Iterator[tuple[bytes, int, int, LineEnd]]:
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


def holds(reader: HistoryReader, text: bytes) -> bool:
    """Return whether *text* is somewhere in the file."""
    tail = b""
    for block in reader.blocks():
        if text in tail + block:
            return True
        tail = (tail + block)[-len(text) :]
    return False


def _end_of_character(line: bytes) -> int:
    """Return the position where *line* may be cut without splitting a character of UTF-8."""
    last = line[-_LONGEST_CHARACTER:]
    # A partial character at the end is left for the next piece.
    _, taken = codecs.utf_8_decode(last, "surrogateescape", False)
    return len(line) - len(last) + taken


UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def without_mark(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *blocks* as UTF-8 without a mark; blocks may have any size, also one byte."""
    rest = iter(blocks)
    start = b""
    for block in rest:
        start += block
        if len(start) >= len(codecs.BOM_UTF8):
            break
    if start.startswith(UTF_16):
        yield from _from_utf_16(start, rest)
        return
    start = start.removeprefix(codecs.BOM_UTF8)
    if start:
        yield start
    yield from rest


def _from_utf_16(start: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    yield decoder.decode(start).encode()
    for block in rest:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
