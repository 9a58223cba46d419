"""``CodeIndex``: which of many vectors probably lie nearest, judged by a bit per direction, in memory.

Memories and turns of past chats are both looked for so; how a vector becomes a code, and who compares the real vectors
of those that come first, differs: ``sqlite/memories/vector_search.py``, ``sqlite/prompts/vectors/prompt_scans.py``.
This module loads numpy: what must begin without it imports it late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers: TypeAlias = NDArray[np.int64]
    Words: TypeAlias = NDArray[np.uint64]
    Distances: TypeAlias = NDArray[np.uint16]

BITS_PER_WORD: Final = 64

_GROWTH_OF_PORTION: Final = 4

_KEYS: Final = 1 << 44
"""A place is ``distance * _KEYS - key``: of equal distances the newest comes first.  Keys stay below it."""

_COMPARED_AT_ONCE: Final = 131_072
"""Words of a step, a MiB: a million codes of 768 bits take 11 ms, by 32,768 at a time 14 ms, all at once 12 to 14 ms."""


@final
class CodeIndex:
    """Codes with their keys; a key that is appended again is there twice.

    Attributes:
        count: how many codes it holds.
    """

    def __init__(self, words: int) -> None:
        """Hold nothing yet, for codes of *words* words of 64 bits."""
        self.count = 0
        self._keys: Integers = np.zeros(0, np.int64)
        # One code per column: numpy adds up rows of words many times as quickly as words within a row.
        self._codes: Words = np.zeros((words, 0), np.uint64)

    @property
    def size_bytes(self) -> int:
        """The memory that it occupies."""
        return self._keys.nbytes + self._codes.nbytes

    @property
    def last_key(self) -> int:
        """The key that was appended last; 0 for none."""
        return int(self._keys[self.count - 1]) if self.count else 0

    def append(self, keys: Sequence[int], codes: Words) -> None:
        """Take in *codes*, shape ``(len(keys), words)``."""
        end = self.count + len(keys)
        if end > self._keys.size:
            missing = max(end, 2 * self._keys.size) - self._keys.size
            self._keys = np.pad(self._keys, (0, missing))
            self._codes = np.pad(self._codes, ((0, 0), (0, missing)))
        self._keys[self.count : end] = keys
        self._codes[:, self.count : end] = codes.T
        self.count = end

    def evict(self, keys: Sequence[int]) -> None:
        """Remove the codes of *keys*."""
        stays = np.isin(self._keys[: self.count], keys, invert=True)
        count = int(stays.sum())
        self._keys[:count] = self._keys[: self.count][stays]
        self._codes[:, :count] = self._codes[:, : self.count][:, stays]
        self.count = count

    def distances(self, code: Words) -> Distances:
        """Return how many bits of *code*, shape ``(words,)``, and of each code differ; other threads run meanwhile."""
        codes = self._codes[:, : self.count]
        distances = np.zeros(self.count, np.uint16)
        for start in range(0, self.count, _COMPARED_AT_ONCE):
            compared = slice(start, start + _COMPARED_AT_ONCE)
            for words, word in zip(codes[:, compared], code, strict=True):
                distances[compared] += _count_bits(words ^ word)
        return distances

    def nearest_first(
        self, distances: Distances, *, portion: int, has_ties: bool = False
    ) -> Iterator[list[int]]:
        """Yield all keys by *distances*, of equal ones the greatest first, in ever larger portions.

        Args:
            distances: what ``distances`` returned; codes that were appended since are left out.
            portion: how many keys come first.
            has_ties: a portion also holds the others at the distance of its last one.
        """
        keys = self._keys[: distances.size]
        within = np.bincount(distances).cumsum()  # how many lie at that distance, or nearer
        seen = 0
        while seen < keys.size:
            end = min(seen + portion, keys.size)
            first = int(np.searchsorted(within, seen, side="right"))
            last = int(np.searchsorted(within, end))
            end = int(within[last]) if has_ties else end
            reached = np.flatnonzero((distances >= first) & (distances <= last))
            places = distances[reached].astype(np.int64) * _KEYS - keys[reached]
            places.sort()
            before = int(within[first - 1]) if first else 0
            yield (-places[seen - before : end - before] % _KEYS).tolist()
            seen = end
            portion *= _GROWTH_OF_PORTION


def _count_bits(words: Words) -> NDArray[np.uint8]:
    counts: NDArray[np.uint8]
    if hasattr(np, "bitwise_count"):
        counts = np.bitwise_count(words)
    else:  # numpy before 2.0
        bits = np.unpackbits(words.view(np.uint8).reshape(words.size, -1), axis=1)
        counts = bits.sum(axis=1, dtype=np.uint8)
    return counts
