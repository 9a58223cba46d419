"""``with_log``: applies the write-ahead log (``-wal``) of a SQLite file in memory, as SQLite does after a crash.

SQLite itself cannot read a log whose index (``-shm``) is missing without creating the index beside it.  For the format see
https://www.sqlite.org/fileformat2.html, section 4: a header and frames, each a page with a running checksum.
"""

import struct
from typing import Final

_HEADER: Final = struct.Struct(">8I")  # magic, version, page bytes, checkpoint, two salts, two checksums
_FRAME: Final = struct.Struct(
    ">6I"
)  # page number, pages of the file after a commit or 0, two salts, two checksums
_MAGIC: Final = 0x377F0682  # the lowest bit says that checksums are of big-endian words
_PAGE_BYTES: Final = frozenset(1 << power for power in range(9, 17))
_JOURNAL_MODE: Final = slice(18, 20)  # of the file: 2 and 2 for a write-ahead log, 1 and 1 without one

_Sums = tuple[int, int]


def with_log(store: bytes, log: bytes) -> bytes:
    """Return the file *store* with the committed pages of *log*, in the mode that needs no log."""
    made = bytearray(store)
    if len(log) >= _HEADER.size:
        _apply(made, log)
    made[_JOURNAL_MODE] = b"\x01\x01"
    return bytes(made)


def _apply(made: bytearray, log: bytes) -> None:
    magic, _, page_bytes, _, *salts, first, second = _HEADER.unpack_from(log)
    words = ">I" if magic & 1 else "<I"
    sums = _sums(words, log[: _HEADER.size - 8], (0, 0))
    if magic & ~1 != _MAGIC or page_bytes not in _PAGE_BYTES or sums != (first, second):
        return
    pages: dict[int, bytes] = {}
    step = _FRAME.size + page_bytes
    for start in range(_HEADER.size, len(log) - step + 1, step):
        number, committed_pages, *frame_salts, first, second = _FRAME.unpack_from(log, start)
        page = log[start + _FRAME.size : start + step]
        sums = _sums(words, page, _sums(words, log[start : start + 8], sums))
        if not number or frame_salts != salts or sums != (first, second):
            return  # the rest was not written, or belongs to an earlier round of the log
        if committed_pages * page_bytes > len(made) + len(log):
            return  # no tool writes it: each page is in the file or in the log
        pages[number] = page
        if committed_pages:
            _write(made, pages, committed_pages * page_bytes)
            pages = {}


def _write(made: bytearray, pages: dict[int, bytes], length: int) -> None:
    made.extend(bytes(max(length - len(made), 0)))
    del made[length:]
    for number, page in pages.items():
        start = (number - 1) * len(page)
        if start < length:
            made[start : start + len(page)] = page


def _sums(words: str, data: bytes, sums: _Sums) -> _Sums:
    """Return the running checksum *sums* after *data*, read as pairs of *words* of 32 bits."""
    first, second = sums
    numbers = iter(struct.unpack(f"{words[0]}{len(data) // 4}{words[1]}", data))
    for number in numbers:
        first = (first + number + second) & 0xFFFFFFFF
        second = (second + next(numbers) + first) & 0xFFFFFFFF
    return first, second
