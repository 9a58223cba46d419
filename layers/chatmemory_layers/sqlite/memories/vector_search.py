"""``VectorSearch``: the memories most similar to a vector, exactly compared, from codes that are kept in memory.

It lives beside the reading connection and is used on its thread only.  A partition of codes holds every long-term
vector of one space of one user, superseded ones too; what a reader may see of them is decided by SQL, at the very
snapshot that it reads.  So codes can be out of date without harm: those of removed memories are let go when they are
met, and a vector that became searchable has a new number, behind all that the partition has seen.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Collection
from heapq import nlargest
from typing import TYPE_CHECKING, Final, final

from attrs import frozen

from chatmemory.embedding.embedder import Vector
from chatmemory_layers.sqlite.memories.memory_filters import Parameters, Row, passing

if TYPE_CHECKING:
    from chatmemory_layers.sqlite.memories.vector_partition import VectorPartition

SELECT_NEW = """
SELECT memory_key, vector FROM memory_embedding WHERE space_key = :space_key AND seq >= :next_seq ORDER BY seq
"""
# NOT INDEXED but by key: SQLite would rather walk through all vectors of the space.
SELECT_VECTORS = """
SELECT memory_key, vector FROM memory_embedding NOT INDEXED
WHERE memory_key IN (SELECT value FROM json_each(:keys)) AND space_key = :space_key AND seq IS NOT NULL
"""

COMPARED: Final = 400
"""Vectors that are compared exactly at least; how many of the nearest are among them, ``vector_partition.py`` says."""

MAX_BYTES: Final = 128 * 1024 * 1024
"""Of codes in memory, besides the partition in use: a million memories of 768 dimensions."""

READ_AT_ONCE: Final = 4096
"""Vectors, 12 MB of 768 dimensions; and enough for a mean that stays good, see ``vector_partition.SETTLED_COUNT``."""

_COMPARED_PER_HIT: Final = 2


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
        """Have none; numpy is not loaded before one is needed."""
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
            from chatmemory_layers.sqlite.memories.vector_partition import VectorPartition

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
