"""Codes of vectors stored in the file, so that the first search after opening need not compute them.

A block has 256 places for vectors of one space: the vectors with 256 successive numbers (``memory_embedding.seq``).
A place is empty, key 0, if another space has the number, or if the vector is deleted: a trigger of ``memory_tables.py``
empties the place with the vector.  The write that completes a block creates it in its own transaction; a search encodes
the vectors after the last block.  100,000 vectors of 768 dimensions take 10 MB of blocks, which are read in 10 to 25 ms;
computing their codes takes 600 ms.

``embedding/code_index.py`` defines the codes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from chatmemory.effect.lazy import np
from chatmemory_layers.embedding.code_index import SETTLED_COUNT, VectorCodes, rows_of, sound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chatmemory_layers.embedding.code_index import Words
    from chatmemory_layers.sqlite.engine.transaction import Execute

BLOCK: Final = 256
"""Numbers per block; triggers compute the block by a shift by 8."""

CAUGHT_UP: Final = 16 * BLOCK
"""The least number of vector numbers that one transaction puts into blocks, if earlier ones have left some: 30 ms."""

_CACHE_OF_BLOCKS: Final = -256  # KiB

SELECT_SPACES = "SELECT space_key, dim, mean, coded_seq FROM memory_space WHERE user_key = :user_key"
COUNT_VECTORS = "SELECT count(*) FROM memory_embedding WHERE space_key = :space_key AND seq IS NOT NULL"
SELECT_FIRST = """
SELECT vector FROM memory_embedding WHERE space_key = :space_key AND seq IS NOT NULL ORDER BY seq LIMIT :count
"""
SELECT_BETWEEN = """
SELECT seq, memory_key, vector FROM memory_embedding
WHERE space_key = :space_key AND seq >= :start AND seq < :end ORDER BY seq
"""
INSERT_BLOCK = """
INSERT INTO memory_code_block (space_key, block, keys, codes) VALUES (:space_key, :block, :keys, :codes)
"""
UPDATE_CODED = "UPDATE memory_space SET mean = :mean, coded_seq = :end WHERE space_key = :space_key"
SELECT_CODED = "SELECT mean, coded_seq FROM memory_space WHERE space_key = :space_key"
COUNT_BLOCKS = "SELECT count(*) FROM memory_code_block WHERE space_key = :space_key"
SELECT_BLOCKS = "SELECT keys, codes FROM memory_code_block WHERE space_key = :space_key ORDER BY block"


def keep_codes(execute: Execute, user_key: int, *, next_seq: int, taken: int) -> None:
    """Store the codes of the user's vectors in blocks, for each block that is full; in the caller's transaction.

    *next_seq* is the number of the next vector; the transaction has *taken* so many numbers.
    """
    full = next_seq - next_seq % BLOCK
    for space_key, dim, mean, coded_seq in execute(SELECT_SPACES, {"user_key": user_key}).fetchall():
        end = min(full, coded_seq + max(CAUGHT_UP, 2 * taken // BLOCK * BLOCK))
        if end <= coded_seq:
            continue
        codes = _codes_of(execute, space_key, dim, mean)
        if codes is not None:
            _pack(execute, space_key, codes, coded_seq, end)


def _codes_of(execute: Execute, space_key: int, dim: int, mean: bytes | None) -> VectorCodes | None:
    """Return the encoder of a space; None while it has too few vectors for a mean that stays good."""
    space = {"space_key": space_key}
    if mean is None and execute(COUNT_VECTORS, space).fetchone()[0] < SETTLED_COUNT:
        return None
    if mean is not None:
        return VectorCodes(np.frombuffer(mean, "<f4"))
    first = execute(SELECT_FIRST, {**space, "count": SETTLED_COUNT}).fetchall()
    return VectorCodes(sound(rows_of([blob for (blob,) in first], dim)).mean(axis=0))


def _pack(execute: Execute, space_key: int, codes: VectorCodes, start: int, end: int) -> None:
    between = {"space_key": space_key, "start": start, "end": end}
    rows = execute(SELECT_BETWEEN, between).fetchall()
    if rows:
        places = np.array([seq for seq, *_ in rows]) - start
        keys = np.zeros(end - start, "<i8")
        keys[places] = [key for _, key, _ in rows]
        words = np.zeros((end - start, codes.words), np.uint64)
        words[places] = codes.encode(sound(rows_of([blob for *_, blob in rows], codes.mean.size)))
        for first in range(0, end - start, BLOCK):
            block = slice(first, first + BLOCK)
            if keys[block].any():
                columns = {"block": (start + first) // BLOCK, "keys": keys[block].tobytes()}
                execute(INSERT_BLOCK, {"space_key": space_key, **columns, "codes": words[block].tobytes()})
    mean = codes.mean.astype("<f4").tobytes()
    execute(UPDATE_CODED, {"space_key": space_key, "mean": mean, "end": end})


def stored_mean(connection: sqlite3.Connection, space_key: int) -> tuple[bytes | None, int]:
    """Return the mean of a space, None while it has none, and the first number that is not in a block."""
    mean, coded_seq = connection.execute(SELECT_CODED, {"space_key": space_key}).fetchone()
    return mean, coded_seq


def count_room(connection: sqlite3.Connection, space_key: int) -> int:
    """Return how many codes the blocks of the space can hold."""
    (blocks,) = connection.execute(COUNT_BLOCKS, {"space_key": space_key}).fetchone()
    return int(blocks) * BLOCK


def stored_codes(connection: sqlite3.Connection, space_key: int) -> Iterator[tuple[NDArray[Any], Words]]:
    """Yield the keys of each block of the space, and their codes, shape ``(count, words)``."""
    for keys_of_block, codes_of_block in connection.execute(SELECT_BLOCKS, {"space_key": space_key}):
        keys = np.frombuffer(keys_of_block, "<i8")
        codes = np.frombuffer(codes_of_block, np.uint64).reshape(keys.size, -1)
        if not keys.all():
            codes = codes[keys != 0]
            keys = keys[keys != 0]
        yield keys, codes


@contextmanager
def read_once(connection: sqlite3.Connection) -> Generator[None]:
    """Reduce the page cache of *connection* inside the block: 10 MB that are read once need no 10 MB of cache."""
    (size,) = connection.execute("PRAGMA cache_size").fetchone()
    connection.execute(f"PRAGMA cache_size = {_CACHE_OF_BLOCKS}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {size}")
