"""``VectorSearch``: finds the memories most similar to a vector; compares exactly, guided by codes kept in memory.

It belongs to the reading connection and is used on its thread only.  A ``VectorPartition`` holds the codes of every
long-term vector of one space of one user, superseded ones too.  SQL decides on the same snapshot what a reader may see of
them.  So out-of-date codes do no harm: a search drops the codes of removed memories when it meets them.  A vector that
becomes searchable gets a new number, greater than all numbers that the partition has seen.

A code has one bit per dimension (``embedding/code_index.py``), so 100,000 vectors of 768 dimensions are compared in a
millisecond.  The real vectors of the nearest ones are then compared exactly.  ``code_blocks.py`` stores most codes in the
file.

``memory_search.py`` imports this module, and numpy with it, at the first search by a vector.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Final, final

from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import Vector
from chatmemory_layers.embedding.code_index import (
    SETTLED_COUNT,
    CodeIndex,
    VectorCodes,
    rows_of,
    sound,
    words_of,
)
from chatmemory_layers.sqlite.memories.code_blocks import count_room, read_once, stored_codes, stored_mean
from chatmemory_layers.sqlite.memories.memory_row import Parameters, Row, passing

SELECT_NEW = """
SELECT memory_key, vector FROM memory_embedding WHERE space_key = :space_key AND seq >= :next_seq ORDER BY seq
"""
# NOT INDEXED except by key: otherwise SQLite would read all vectors of the space.
SELECT_VECTORS = """
SELECT memory_key, vector FROM memory_embedding NOT INDEXED
WHERE memory_key IN (SELECT value FROM json_each(:keys)) AND space_key = :space_key AND seq IS NOT NULL
"""

COMPARED: Final = 400
"""The least number of vectors that are compared exactly; the measurement above says how many of the nearest they hold."""

MAX_BYTES: Final = 128 * 1024 * 1024
"""Bytes of codes in memory, besides the partition in use: a million memories of 768 dimensions."""

READ_AT_ONCE: Final = 4096
"""Vectors per read, 12 MB of 768 dimensions; enough for a mean that stays good, see ``SETTLED_COUNT``."""

_COMPARED_PER_HIT: Final = 2

_GROWTH_OF_MEAN: Final = 2  # a mean of fewer is made anew when there are twice as many


@final
class VectorSearch:
    """Keeps the partitions that were used last, and searches in them."""

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        """Start without a partition; those not in use may take *max_bytes* of memory."""
        self._partitions: OrderedDict[int, VectorPartition] = OrderedDict()
        self._max_bytes = max_bytes

    def search(
        self,
        connection: sqlite3.Connection,
        space_key: int,
        vector: Vector,
        parameters: Parameters,
        *,
        next_seq: int,
        limit: int,
        also: Collection[int],
    ) -> tuple[list[Row], dict[int, float]]:
        """Return the nearest *limit* memories, and the cosines of these, of *also* and of others, by key.

        *parameters* fill in ``RECALLABLE``; *next_seq* is the number of the next vector of the space in this snapshot.  The
        cosine of a memory without a vector of the space is missing.
        """
        partition = self._refreshed(connection, space_key, next_seq, vector.size)

        def compared(keys: Collection[int]) -> dict[int, float]:
            return self.cosines(connection, space_key, vector, keys)

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
            partition.index.evict([*gone])
        cosines |= compared([key for key in also if key not in cosines])
        return nlargest(limit, nearest.values(), key=lambda row: cosines[row[-1]]), cosines

    def cosines(
        self, connection: sqlite3.Connection, space_key: int, vector: Vector, keys: Collection[int]
    ) -> dict[int, float]:
        """Return the cosine of *vector* and each memory of *keys* that has a vector of the space, by key.

        *vector*: shape ``(dim,)``, of length 1; a search has been made in its space before.
        """
        if not keys:
            return {}
        wanted = {"space_key": space_key, "keys": json.dumps([*keys])}
        found = connection.execute(SELECT_VECTORS, wanted).fetchall()
        return self._partitions[space_key].cosines(dict(found), vector)

    def _refreshed(
        self, connection: sqlite3.Connection, space_key: int, next_seq: int, dim: int
    ) -> VectorPartition:
        """Return the partition of a space with all vectors of the snapshot; drop other partitions when memory is short."""
        partition = self._partitions.pop(space_key, None)
        if partition is None or partition.is_outgrown:
            partition = _stored_partition(connection, space_key, dim)
        if partition.next_seq < next_seq:
            new = {"space_key": space_key, "next_seq": partition.next_seq}
            cursor = connection.execute(SELECT_NEW, new)
            while rows := cursor.fetchmany(READ_AT_ONCE):
                partition.add(rows)
            partition.next_seq = next_seq
        self._partitions[space_key] = partition
        while len(self._partitions) > 1 and self._size_bytes() > self._max_bytes:
            self._partitions.popitem(last=False)
        return partition

    def _size_bytes(self) -> int:
        return sum(partition.index.size_bytes for partition in self._partitions.values())


def _stored_partition(connection: sqlite3.Connection, space_key: int, dim: int) -> VectorPartition:
    """Return a partition with the codes that the blocks of the file hold."""
    mean, coded_seq = stored_mean(connection, space_key)
    if mean is None:
        return VectorPartition(dim)
    partition = VectorPartition(dim, mean=np.frombuffer(mean, "<f4"))
    partition.index.reserve(count_room(connection, space_key))
    with read_once(connection):
        for keys, codes in stored_codes(connection, space_key):
            partition.index.append(keys, codes)
    partition.next_seq = coded_seq
    return partition


@final
class VectorPartition:
    """The codes of one space of one user.

    A key that is added again is present twice, once with its former vector; comparing the real vectors corrects that.

    Attributes:
        next_seq: the number of the first vector that the partition has not read.
        index: the codes, made with the partition's mean.
    """

    def __init__(self, dim: int, *, mean: Vector | None = None) -> None:
        """Create an empty partition for vectors of *dim* dimensions; *mean* defaults to the mean of the first vectors."""
        self.next_seq = 0
        self._dim = dim
        self._codes = None if mean is None else VectorCodes(mean)
        self._mean_count = 0 if mean is None else SETTLED_COUNT
        self.index = CodeIndex(words_of(dim))

    @property
    def is_outgrown(self) -> bool:
        """Whether the mean comes from too few vectors, so that it should be computed again."""
        return self._mean_count < SETTLED_COUNT and self.index.count >= _GROWTH_OF_MEAN * self._mean_count > 0

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Add keys with their vectors, float32, little endian."""
        vectors = sound(rows_of([blob for _, blob in rows], self._dim))
        if self._codes is None:
            self._codes = VectorCodes(vectors.mean(axis=0))
            self._mean_count = len(rows)
        self.index.append([key for key, _ in rows], self._codes.encode(vectors))

    def nearest_first(self, vector: Vector, *, portion: int) -> Iterator[list[int]]:
        """Yield all keys in portions: the keys of at least *portion* nearest vectors first, then ever larger portions."""
        if self._codes is None:
            return iter(())
        distances = self.index.distances(self._codes.encode(vector[np.newaxis])[0])
        return self.index.nearest_first(distances, portion=portion, has_ties=True)

    def cosines(self, blobs: Mapping[int, bytes], vector: Vector) -> dict[int, float]:
        """Return the cosine of *vector* and each stored vector, all of length 1, by key; 0 for a damaged one."""
        with np.errstate(invalid="ignore", over="ignore"):
            found = rows_of(blobs.values(), self._dim) @ vector
            is_sound = np.isfinite(found.sum())
        similarities: list[float] = (
            found if is_sound else np.nan_to_num(found, nan=0, posinf=0, neginf=0)
        ).tolist()
        return dict(zip(blobs, similarities, strict=True))
