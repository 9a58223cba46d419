"""``query_code`` and ``code_of``: codes of vectors, one bit per direction; ``stored_codes`` reads those of a store.

A search compares codes first, because it is quick, and the real vectors last.  The values of an int8 vector are shuffled and
get random signs.  A Walsh-Hadamard transform turns them into as many directions as the next power of two; each bit says on
which side of a direction the vector is.  All of it adds integers, so Python alone makes, for one query, exactly the bits
that numpy makes for many texts.  No mean is subtracted: nothing has to be learnt or stored.

Of the 10 nearest vectors by cosine, this share is among the 400 (in brackets: 200) nearest by bits, with the bundled
embedder: 100 % (99.4) of English chats, 100 % (99.2) of Chinese ones, 100 % (99.8) of 22,000 pieces of code.  The signs of
the untransformed vectors would reach 72, 65 and 77 %.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from chatmemory.effect.lazy import np

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chatmemory.embedding.embedder import Matrix, Vector

    Int8Rows: TypeAlias = NDArray[np.int8]
    Places: TypeAlias = NDArray[np.int64]

LARGEST: Final = 127  # of int8, positive and negative: a vector and its opposite stay opposite in every step
BITS_PER_BYTE: Final = 8
ROWS_AT_ONCE: Final = 256  # a megabyte of float32, which stays in the processor's cache

# The random generator of Numerical Recipes; its high bits are used.  It must never change: codes are stored.
_MULTIPLIER: Final = 1_664_525
_INCREMENT: Final = 1_013_904_223
_MODULUS: Final = 1 << 32

CODES_OF_A_BLOCK: Final = 2048
"""Fetching a row of ``prompt_codes`` takes longer than comparing its code: for 100,000 turns, reading the rows takes 60 ms,
reading blocks of them 2 ms.  A block is a copy of all codes of one model between two rows.  Triggers delete it when one of
these codes is replaced or deleted; the end of the next index run creates it again.  Codes outside the blocks are read row by
row."""

_READ_AT_ONCE: Final = 10_000
_LAST: Final = (1 << 63) - 1  # the greatest row id of SQLite

SELECT_BLOCKS = """
SELECT first_id, last_id, ids, codes FROM prompt_code_blocks
WHERE first_id > :after AND model_key = :model_key AND size = :size
ORDER BY first_id
"""
SELECT_CODES_BETWEEN = """
SELECT prompt_id, code FROM prompt_codes
WHERE prompt_id > :after AND prompt_id < :before AND model_key = :model_key AND length(code) = :size
ORDER BY prompt_id
"""
SELECT_RANGES = "SELECT first_id, last_id FROM prompt_code_blocks ORDER BY first_id"
SELECT_UNPACKED = """
SELECT prompt_id, model_key, code FROM prompt_codes
WHERE prompt_id > :after AND prompt_id < :before AND code <> x''
ORDER BY prompt_id
"""
INSERT_BLOCK = """
INSERT INTO prompt_code_blocks (first_id, last_id, model_key, size, ids, codes)
VALUES (:first_id, :last_id, :model_key, :size, :ids, :codes)
"""


def quantised(vector: Sequence[float]) -> bytes:
    """Return *vector* as int8, scaled to a largest magnitude of 127; as ``quantised_rows`` does, without numpy.

    >>> list(quantised([0.5, 0.25, 0.0]))
    [127, 64, 0]
    """
    largest = max(map(abs, vector), default=0.0)
    if not largest:
        return bytes(len(vector))
    return bytes([round(value * LARGEST / largest) & 0xFF for value in vector])


def quantised_rows(rows: Matrix) -> Int8Rows:
    """Return each row as int8, scaled to a largest magnitude of 127; a row of zeros stays zero."""
    exact = rows.astype(np.float64)
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    largest[largest == 0] = 1
    return np.asarray(np.rint(exact * LARGEST / largest), np.int8)


def code_of(rows: Int8Rows) -> list[bytes]:
    """Return the code of each row; empty for a row of zeros, and for rows without columns."""
    count, dim = rows.shape
    if not dim:
        return [b""] * count
    size = code_bits(dim)
    places, signs, turn_lower, turn_upper = _directions(size)
    codes: list[bytes] = []
    for start in range(0, count, ROWS_AT_ONCE):
        batch = rows[start : start + ROWS_AT_ONCE]
        padded = np.zeros((len(batch), size), np.float32)
        padded[:, :dim] = batch
        # float32 holds every integer up to 2**24 exactly, and no sum here is greater for at most 2**17 dimensions.
        mixed = np.take(padded, places, axis=1) * signs
        # Each text is a separate small matrix: a tall one would be split among threads, which takes longer than the sums.
        turned = turn_lower @ (mixed.reshape(-1, len(turn_lower), len(turn_upper)) @ turn_upper)
        packed = np.packbits(turned.transpose(0, 2, 1).reshape(-1, size) > 0, axis=1)
        known: list[bool] = np.any(batch, axis=1).tolist()
        codes += [row.tobytes() if is_known else b"" for row, is_known in zip(packed, known, strict=True)]
    return codes


def query_code(vector: bytes) -> bytes:
    """Return the code of one int8 vector, without numpy."""
    values = [value - 256 if value > LARGEST else value for value in vector]
    if not any(values):
        return b""
    size = code_bits(len(values))
    values += [0] * (size - len(values))
    signed = [values[place] * sign for place, sign in zip(*_chances(size), strict=True)]
    for _ in range(size.bit_length() - 1):
        even, odd = signed[::2], signed[1::2]
        signed = [a + b for a, b in zip(even, odd, strict=True)]
        signed += [a - b for a, b in zip(even, odd, strict=True)]
    bits = "".join(["1" if value > 0 else "0" for value in signed])
    return int(bits, 2).to_bytes(size // BITS_PER_BYTE, "big")


def code_bits(dim: int) -> int:
    """Return how many bits the code of a vector of *dim* dimensions has: a power of two, whole words of 64.

    >>> code_bits(768), code_bits(384), code_bits(3)
    (1024, 512, 64)
    """
    return max(64, 1 << (dim - 1).bit_length())


@cache
def _chances(size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the order in which the values of a vector are taken, and their signs.

    In the original order, vectors that are zero in one half would have only half as many different bits.
    """
    state = 0
    places = list(range(size))
    signs: list[int] = []
    for last in range(size - 1, -1, -1):
        state = (state * _MULTIPLIER + _INCREMENT) % _MODULUS
        signs.append(1 if state >= _MODULUS // 2 else -1)
        state = (state * _MULTIPLIER + _INCREMENT) % _MODULUS
        other = state * (last + 1) // _MODULUS
        places[last], places[other] = places[other], places[last]
    return tuple(places), tuple(signs)


@cache
def _directions(size: int) -> tuple[Places, Vector, Matrix, Matrix]:
    """Return what transforms many vectors: the order of their values, the signs, and a matrix for each half of the bits.

    The transform of all bits is the product of two small matrices, one for the lower bits and one for the upper bits.
    """
    lower = 1 << size.bit_length() // 2
    upper = size // lower
    places, signs = (np.array(numbers).reshape(upper, lower).T.ravel() for numbers in _chances(size))
    return places, signs.astype(np.float32), _hadamard(lower), _hadamard(upper)


def _hadamard(size: int) -> Matrix:
    rows = np.ones((1, 1), np.float32)
    while len(rows) < size:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows


def stored_codes(
    connection: sqlite3.Connection, model_key: int, size: int, *, after: int = 0
) -> Iterator[tuple[Sequence[int], bytes]]:
    """Yield the rows after *after* that have a code of *size* bytes of that model, in order, with their codes concatenated.

    Call it within one transaction: blocks and rows must be of the same snapshot.
    """
    kind = {"model_key": model_key, "size": size}
    for first, last, ids, codes in connection.execute(SELECT_BLOCKS, {**kind, "after": after}).fetchall():
        if first > after + 1:
            yield from _loose(connection, {**kind, "after": after, "before": first})
        yield _integers(ids), codes
        after = last
    yield from _loose(connection, {**kind, "after": after, "before": _LAST})


def pack_codes(connection: sqlite3.Connection) -> None:
    """Copy codes that are in no block into full blocks, in the caller's transaction; the rest stays outside."""
    after = 0
    for first, last in [*connection.execute(SELECT_RANGES).fetchall(), (_LAST, _LAST)]:
        if first > after + CODES_OF_A_BLOCK:
            _pack_between(connection, after, first)
        after = max(after, last)


def _pack_between(connection: sqlite3.Connection, after: int, before: int) -> None:
    pending: dict[tuple[int, int], list[tuple[int, bytes]]] = {}
    for prompt_id, model_key, code in connection.execute(SELECT_UNPACKED, {"after": after, "before": before}):
        kind = model_key, len(code)
        rows = pending.setdefault(kind, [])
        rows.append((prompt_id, code))
        if len(rows) == CODES_OF_A_BLOCK:
            _insert(connection, kind, rows)
            rows.clear()


def _insert(connection: sqlite3.Connection, kind: tuple[int, int], rows: list[tuple[int, bytes]]) -> None:
    model_key, size = kind
    ids = array("q", [prompt_id for prompt_id, _ in rows])
    if sys.byteorder == "big":  # pragma: no cover
        ids.byteswap()
    block = {
        "first_id": rows[0][0],
        "last_id": rows[-1][0],
        "model_key": model_key,
        "size": size,
        "ids": ids.tobytes(),
        "codes": b"".join([code for _, code in rows]),
    }
    connection.execute(INSERT_BLOCK, block)


def _loose(
    connection: sqlite3.Connection, parameters: dict[str, int]
) -> Iterator[tuple[Sequence[int], bytes]]:
    cursor = connection.execute(SELECT_CODES_BETWEEN, parameters)
    while rows := cursor.fetchmany(_READ_AT_ONCE):
        yield [row for row, _ in rows], b"".join([code for _, code in rows])


def _integers(little_endian: bytes) -> array[int]:
    integers = array("q", little_endian)
    if sys.byteorder == "big":  # pragma: no cover
        integers.byteswap()
    return integers
