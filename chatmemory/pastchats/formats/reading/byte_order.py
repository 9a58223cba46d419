"""The byte order mark: dropped, and what is in UTF-16 turned into UTF-8, so that formats see one encoding only.

Some editors put a mark at the beginning, and a shell of Windows redirects into UTF-16.
"""

import codecs
from collections.abc import Iterable, Iterator
from typing import Final

UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def without_mark(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *blocks* as UTF-8 without a mark; blocks may be of any size, also of one byte."""
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
