"""Decompresses zstd files, such as Codex's rollouts, which it compresses after a week without use (``.jsonl.zst``)."""

import importlib
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, cast

from chatmemory.extra import installing
from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory_layers.files.zip_archive import BOMB_BYTES, MAX_RATIO

COMPRESSED: Final = ".zst"

_MAGIC: Final = b"\x28\xb5\x2f\xfd"


class _Decompressor(Protocol):
    """The common interface of the zstd libraries: decompresses one frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def is_compressed(path: str) -> bool:
    """Return whether *path* has the suffix of a zstd file."""
    return path.lower().endswith(COMPRESSED)


def decompressed(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress *blocks*, frame by frame.

    Raises:
        UnreadableHistoryError: the file is damaged or truncated, expands too much, or no zstd library is installed.
    """
    frame: _Decompressor | None = None
    is_first = True
    given = taken = 0
    for block in blocks:
        if is_first and not block.startswith(_MAGIC):
            raise UnreadableHistoryError("it is not compressed with zstd, although its name says so")
        is_first = False
        taken += len(block)
        rest = block
        while rest:
            frame = frame or _decompressor()
            try:
                whole = frame.decompress(rest)
            except Exception as reason:  # each library raises its own errors
                raise UnreadableHistoryError(f"it is damaged: {reason}") from reason
            rest = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
            given += len(whole)
            if given > BOMB_BYTES and given > MAX_RATIO * taken:
                raise UnreadableHistoryError(f"{given:,} bytes and more out of {taken:,}")
            if whole:
                yield whole
    if frame is not None:
        raise UnreadableHistoryError("it is compressed, and cut off")


def _decompressor() -> _Decompressor:
    for module, make in (("compression.zstd", "ZstdDecompressor"), ("zstandard", "")):
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        made = getattr(found, make)() if make else found.ZstdDecompressor().decompressobj()
        return cast("_Decompressor", made)
    raise UnreadableHistoryError(f"it is compressed with zstd: {installing('zstd')}, or Python 3.14")
