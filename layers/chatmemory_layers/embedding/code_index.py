"""``CodeIndex``: finds which of many vectors are probably nearest, by codes of one bit per direction, in memory.

Searches of memories and of past chats both use it.  They differ in how a vector becomes a code, and in the module that
compares the real vectors: ``sqlite/memories/vector_search.py`` or ``sqlite/prompts/prompt_vectors.py``.

``VectorCodes`` makes the codes of memories.  A bit says on which side of the mean of its space a vector is, in a random
direction.  Of the 10 nearest among 30,000 lines of English by the bundled embedder, 99 % are among the first 400 by their
codes; along the axes it would be 94 %, because its hashed dimensions are mostly zero.

The directions are the same in every process and in every version, because ``code_blocks.py`` stores codes.  They are rows
of a Hadamard matrix, with signs and an order from ``numpy.random.RandomState``, which promises never to change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias, final

from chatmemory.effect.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chatmemory.embedding.embedder import Matrix, Vector

    Integers: TypeAlias = NDArray[np.int64]
    Words: TypeAlias = NDArray[np.uint64]
    Distances: TypeAlias = NDArray[np.uint16]

BITS_PER_WORD: Final = 64

_GROWTH_OF_PORTION: Final = 4

_KEYS: Final = 1 << 44
"""A sort key is ``distance * _KEYS - key``: of equal distances the newest comes first.  Keys are less than it."""

_COMPARED_AT_ONCE: Final = 131_072
"""Words per step, a MiB: a million codes of 768 bits take 11 ms, with 32,768 per step 14 ms, all at once 12 to 14 ms."""


@final
class CodeIndex:
    """Codes with their keys; a key that is appended again is present twice.

    Attributes:
        count: the number of codes.
    """

    def __init__(self, words: int) -> None:
        """Create an empty index for codes of *words* words of 64 bits."""
        self.count = 0
        self._keys: Integers = np.zeros(0, np.int64)
        # One code per column: numpy adds rows of words many times faster than words within a row.
        self._codes: Words = np.zeros((words, 0), np.uint64)

    @property
    def size_bytes(self) -> int:
        """The memory that the index uses, in bytes."""
        return self._keys.nbytes + self._codes.nbytes

    @property
    def last_key(self) -> int:
        """The key that was appended last; 0 if there is none."""
        return int(self._keys[self.count - 1]) if self.count else 0

    def reserve(self, count: int) -> None:
        """Reserve memory for *count* codes, so that appending them moves nothing."""
        missing = count - self._keys.size
        if missing > 0:
            self._keys = np.pad(self._keys, (0, missing))
            codes = np.empty((len(self._codes), count), np.uint64)
            codes[:, : self.count] = self._codes[:, : self.count]
            self._codes = codes

    def append(self, keys: Sequence[int] | Integers, codes: Words) -> None:
        """Add *codes*, shape ``(len(keys), words)``."""
        end = self.count + len(keys)
        if end > self._keys.size:
            self.reserve(max(end, 2 * self._keys.size))
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
        """Return the number of bits in which *code*, shape ``(words,)``, and each code differ; other threads run meanwhile."""
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
        """Yield all keys in the order of *distances*, of equal ones the greatest first, in growing portions.

        Args:
            distances: what ``distances`` returned; codes that were appended since are not included.
            portion: the number of keys in the first portion.
            has_ties: whether a portion also includes all other keys at the distance of its last one.
        """
        keys = self._keys[: distances.size]
        within = np.bincount(distances).cumsum()  # how many are at that distance, or nearer
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


SETTLED_COUNT: Final = 4096
"""The number of vectors whose mean stays good, however many follow."""


@final
class VectorCodes:
    """Makes codes of the vectors of one space.

    Attributes:
        mean: shape ``(dim,)``.
        words: how many words of 64 bits a code has.
    """

    def __init__(self, mean: Vector) -> None:
        """Create an encoder that subtracts *mean* from every vector."""
        self.mean = mean
        self.words = words_of(mean.size)
        self._order, self._turn = _directions(self.words)

    def encode(self, vectors: Matrix) -> Words:
        """Return one code per row, shape ``(count, words)``; each word is made from 64 dimensions in random order."""
        spare = self._order.size - self.mean.size
        padded = np.pad(vectors - self.mean, ((0, 0), (0, spare)))
        # Row by row: indexing would leave columns, and every step would take four times as long.
        mixed = np.take(padded, self._order, axis=1)
        turned = mixed.reshape(len(vectors), -1, BITS_PER_WORD) @ self._turn
        return np.packbits(turned > 0, axis=-1).reshape(len(vectors), -1).view(np.uint64)


def words_of(dim: int) -> int:
    """Return how many words of 64 bits the code of a vector of *dim* dimensions has."""
    return -(-dim // BITS_PER_WORD)


def rows_of(blobs: Collection[bytes], dim: int) -> Matrix:
    """Return stored vectors of *dim* numbers, float32, little endian, as the rows of a matrix."""
    return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), dim)


def sound(vectors: Matrix) -> Matrix:
    """Return *vectors* with 0 for NaN and infinity: a damaged page would spoil the mean, and with it all other codes."""
    with np.errstate(invalid="ignore", over="ignore"):
        is_sound = np.isfinite(vectors.sum())
    return vectors if is_sound else np.where(np.isfinite(vectors), vectors, np.float32(0))


@cache
def _directions(words: int) -> tuple[NDArray[np.int64], Matrix]:
    """Return the order in which dimensions are taken, and the matrix that transforms 64 of them at a time."""
    chance = np.random.RandomState(0)
    order = chance.permutation(words * BITS_PER_WORD)
    signs = chance.randint(0, 2, BITS_PER_WORD) * 2 - 1
    hadamard = np.ones((1, 1), np.float32)
    while len(hadamard) < BITS_PER_WORD:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    return order, (hadamard * signs[:, np.newaxis]).astype(np.float32)
