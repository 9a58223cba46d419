"""``VectorSearch``: the memories most similar to a vector, exactly compared, from codes that are kept in memory.

It lives beside the reading connection and is used on its thread only.  ``VectorPartition`` is the codes of every long-term
vector of one space of one user, superseded ones too; what a reader may see of them is decided by SQL, at the very
snapshot that it reads.  So codes can be out of date without harm: those of removed memories are let go when they are
met, and a vector that became searchable has a new number, behind all that the partition has seen.

A code has a bit per dimension.  It says on which side of the mean a vector lies, seen from a random direction, so that
100,000 vectors of 768 dimensions are compared in a millisecond; the real vectors of those that come first are compared
exactly.  Of the 10 nearest among 30,000 lines of English by the bundled embedder, 99 % are among the first 400; seen along
the axes it would be 94 %, for its hashed dimensions are mostly zero.

``memory_search.py`` imports this module, and numpy with it, when the first vector is looked for.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Final, final

import numpy as np
from attrs import frozen

from chatmemory.embedding.embedder import Matrix, Vector
from chatmemory_layers.embedding.code_index import BITS_PER_WORD, CodeIndex
from chatmemory_layers.sqlite.memories.memory_row import Parameters, Row, passing

if TYPE_CHECKING:
    from chatmemory_layers.embedding.code_index import Words

SELECT_NEW = """
SELECT memory_key, vector FROM memory_embedding WHERE space_key = :space_key AND seq >= :next_seq ORDER BY seq
"""
# NOT INDEXED but by key: SQLite would rather walk through all vectors of the space.
SELECT_VECTORS = """
SELECT memory_key, vector FROM memory_embedding NOT INDEXED
WHERE memory_key IN (SELECT value FROM json_each(:keys)) AND space_key = :space_key AND seq IS NOT NULL
"""

COMPARED: Final = 400
"""Vectors that are compared exactly at least; how many of the nearest are among them is said above."""

MAX_BYTES: Final = 128 * 1024 * 1024
"""Of codes in memory, besides the partition in use: a million memories of 768 dimensions."""

READ_AT_ONCE: Final = 4096
"""Vectors, 12 MB of 768 dimensions; and enough for a mean that stays good, see ``SETTLED_COUNT``."""

_COMPARED_PER_HIT: Final = 2

SETTLED_COUNT: Final = 4096
"""So many vectors have a mean that stays good, however many follow."""

_GROWTH_OF_MEAN: Final = 2  # a mean of fewer is made anew when there are twice as many


@final
@frozen
class Space:
    """The space of a query, at the snapshot that is read; *next_seq* is that of its next vector."""

    key: int
    next_seq: int


@final
class VectorSearch:
    """The partitions that were used last."""

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        """Have none."""
        self._partitions: OrderedDict[int, VectorPartition] = OrderedDict()
        self._max_bytes = max_bytes

    def search(
        self,
        connection: sqlite3.Connection,
        space: Space,
        vector: Vector,
        parameters: Parameters,
        *,
        limit: int,
        also: Collection[int],
    ) -> tuple[list[Row], dict[int, float]]:
        """Return the nearest *limit* memories, and the cosines of them, of *also*, and of others, by their keys.

        *parameters* are those of ``RECALLABLE``; what has no vector of *space* has no cosine.
        """
        partition = self._refreshed(connection, space, vector.size)

        def compared(keys: Collection[int]) -> dict[int, float]:
            wanted = {"space_key": space.key, "keys": json.dumps([*keys])}
            found = connection.execute(SELECT_VECTORS, wanted).fetchall()
            return partition.cosines(dict(found), vector)

        nearest: dict[int, Row] = {}
        cosines: dict[int, float] = {}
        gone: set[int] = set()
        for keys in partition.nearest_first(vector, portion=max(COMPARED, _COMPARED_PER_HIT * limit)):
            portion = compared(keys)
            gone.update(key for key in keys if key not in portion)
            cosines |= portion
            best = sorted(portion, key=portion.__getitem__, reverse=True)
            nearest |= {row[-1]: row for row in passing(connection, best, parameters)}
            if len(nearest) >= limit:
                break
        if gone:
            partition.evict([*gone])
        cosines |= compared([key for key in also if key not in cosines])
        return nlargest(limit, nearest.values(), key=lambda row: cosines[row[-1]]), cosines

    def _refreshed(self, connection: sqlite3.Connection, space: Space, dim: int) -> VectorPartition:
        """Return the partition of *space* with all that the snapshot holds; others go when memory is short."""
        partition = self._partitions.pop(space.key, None)
        if partition is None or partition.is_outgrown:
            partition = VectorPartition(dim)
        if partition.next_seq < space.next_seq:
            new = {"space_key": space.key, "next_seq": partition.next_seq}
            cursor = connection.execute(SELECT_NEW, new)
            while rows := cursor.fetchmany(READ_AT_ONCE):
                partition.add(rows)
            partition.next_seq = space.next_seq
        self._partitions[space.key] = partition
        while len(self._partitions) > 1 and self._size_bytes() > self._max_bytes:
            self._partitions.popitem(last=False)
        return partition

    def _size_bytes(self) -> int:
        return sum(partition.size_bytes for partition in self._partitions.values())


@final
class VectorPartition:
    """The codes of one space of one user.

    A key that is added again is there twice, once with its former vector; who looks at the real one loses nothing.

    Attributes:
        next_seq: the number of the first vector that it has not met.
    """

    def __init__(self, dim: int) -> None:
        """Be empty, for vectors of *dim* dimensions."""
        self.next_seq = 0
        self._mean = np.zeros(dim, np.float32)
        self._mean_count = 0
        words = -(-dim // BITS_PER_WORD)
        random = np.random.default_rng(0)
        self._order = random.permutation(words * BITS_PER_WORD)
        rotation, _ = np.linalg.qr(random.standard_normal((BITS_PER_WORD, BITS_PER_WORD)))
        self._rotation: Matrix = rotation.astype(np.float32)
        self._index = CodeIndex(words)

    @property
    def count(self) -> int:
        """How many vectors it holds."""
        return self._index.count

    @property
    def size_bytes(self) -> int:
        """The memory that it occupies."""
        return self._index.size_bytes

    @property
    def is_outgrown(self) -> bool:
        """Whether its mean stems from too few vectors, so that it had better be made anew."""
        return self._mean_count < SETTLED_COUNT and self.count >= _GROWTH_OF_MEAN * self._mean_count > 0

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Take in keys with their vectors, float32, little endian; the mean is that of the first ones."""
        keys = [key for key, _ in rows]
        vectors = self._matrix([blob for _, blob in rows])
        # A page of the file that is damaged would spoil the mean, and by it the codes of all the others.
        with np.errstate(invalid="ignore", over="ignore"):
            is_sound = np.isfinite(vectors.sum())
        if not is_sound:
            vectors = np.where(np.isfinite(vectors), vectors, 0)
        if self._mean_count == 0:
            self._mean = vectors.mean(axis=0)
            self._mean_count = len(keys)
        self._index.append(keys, self._encode(vectors))

    def evict(self, keys: Sequence[int]) -> None:
        """Remove the vectors of *keys* from memory."""
        self._index.evict(keys)

    def nearest_first(self, vector: Vector, *, portion: int) -> Iterator[list[int]]:
        """Yield all keys in portions: those of at least *portion* nearest vectors first, then ever larger ones."""
        distances = self._index.distances(self._encode(vector[np.newaxis])[0])
        return self._index.nearest_first(distances, portion=portion, has_ties=True)

    def cosines(self, blobs: Mapping[int, bytes], vector: Vector) -> dict[int, float]:
        """Return the cosine of *vector*, of length 1 as all are, and each stored one, by their keys; 0 for a damaged one."""
        with np.errstate(invalid="ignore", over="ignore"):
            found = self._matrix(blobs.values()) @ vector
            is_sound = np.isfinite(found.sum())
        similarities: list[float] = (
            found if is_sound else np.nan_to_num(found, nan=0, posinf=0, neginf=0)
        ).tolist()
        return dict(zip(blobs, similarities, strict=True))

    def _matrix(self, blobs: Collection[bytes]) -> Matrix:
        return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), self._mean.size)

    def _encode(self, vectors: Matrix) -> Words:
        """Return a code per row, shape ``(count, words)``; each word turns 64 dimensions that chance has put together."""
        spare = self._order.size - self._mean.size
        padded = np.pad(vectors - self._mean, ((0, 0), (0, spare)))
        # Row by row: indexing would leave columns, and everything takes four times as long.
        mixed = np.take(padded, self._order, axis=1)
        turned = mixed.reshape(len(vectors), -1, BITS_PER_WORD) @ self._rotation
        return np.packbits(turned > 0, axis=-1).reshape(len(vectors), -1).view(np.uint64)
