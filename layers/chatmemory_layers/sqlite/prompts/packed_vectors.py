"""Stored vectors: most numbers of most vectors are zero, and a zero takes one bit.

The leading *dense* numbers are stored unchanged, a byte each.  Then follows one bit for each of the other numbers, 1 where
it is not zero, from the highest bit of each byte on.  Then follow the numbers that are not zero.  *dense* is chosen for
each vector to make it shortest, so a vector without zeros is no longer than its numbers.  The bundled embedder's 1024
dimensions take about 530 bytes.  ``prompt_vector_tables.py`` reads the same format in SQL, for programs that want a vector
as JSON.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from chatmemory.effect.lazy import np
from chatmemory_layers.sqlite.prompts.prompt_codes import code_of, quantised_rows

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from chatmemory.embedding.embedder import Matrix, Vector

    Int8Rows: TypeAlias = NDArray[np.int8]

_SIGNED: Final = "b"  # the type code of int8 in array and memoryview
_BITS: Final = 8
_ALL: Final = b"\xff"  # eight numbers that are stored unchanged

NO_MODEL: Final = "none"
"""The model name of a turn without a vector, which may or may not get one later."""


class PackedVector(NamedTuple):
    """A vector as its row stores it.

    Attributes:
        dense: the number of leading numbers that are stored unchanged.
        squares: the square of its length, so that no search has to compute it.
        numbers: the bytes described above.
    """

    dense: int
    squares: int
    numbers: bytes

    def is_whole(self, dim: int) -> bool:
        """Return whether there are as many bytes as *dim* dimensions need."""
        bits = self.bits(dim)
        return len(self.numbers) == self.dense + _bytes_of_bits(dim - self.dense) + bits.bit_count()

    def bits(self, dim: int) -> int:
        """Return which of the numbers after the dense ones are not zero, the first of them as the highest bit."""
        return int.from_bytes(self.numbers[self.dense : self.dense + _bytes_of_bits(dim - self.dense)], "big")


class VectorRow(NamedTuple):
    """The columns of one vector; ``PackedVector`` describes *dense*, *squares* and *vector*."""

    dim: int
    dense: int
    squares: int
    vector: bytes
    code: bytes


def vector_rows(vectors: Matrix | Sequence[Vector]) -> list[VectorRow]:
    """Return the columns of *vectors*, which all have the same dimension."""
    if not len(vectors):
        return []
    rows = quantised_rows(np.asarray(vectors, np.float32))
    dim = rows.shape[1]
    return [
        VectorRow(dim, *packed, code) for packed, code in zip(packed_rows(rows), code_of(rows), strict=True)
    ]


def packed_rows(rows: Int8Rows) -> list[PackedVector]:
    """Return each row as it is stored."""
    count, dim = rows.shape
    bits = np.zeros((count, _bytes_of_bits(dim) * _BITS), np.bool_)
    bits[:, :dim] = rows != 0
    # How many bytes each byte of bits would save, summed from the first on: the bits begin where the sum is least.
    widths = np.array([min(_BITS, dim - start) for start in range(0, dim, _BITS)], np.int64)
    saved = widths - 1 - bits.reshape(count, -1, _BITS).sum(axis=2, dtype=np.int64)
    saved_before = np.concatenate([np.zeros((count, 1), np.int64), np.cumsum(saved, axis=1)], axis=1)
    dense: list[int] = np.minimum(saved_before.argmin(axis=1) * _BITS, dim).tolist()
    squares: list[int] = np.square(rows, dtype=np.int64).sum(axis=1).tolist()
    return [
        PackedVector(
            leading,
            square,
            row[:leading].tobytes()
            + np.packbits(row[leading:] != 0).tobytes()
            + row[leading:][row[leading:] != 0].tobytes(),
        )
        for row, leading, square in zip(rows, dense, squares, strict=True)
    ]


def unpacked_rows(vectors: Sequence[PackedVector], dim: int) -> Int8Rows:
    """Return the rows of *dim* dimensions that *vectors* were packed from; none of them is damaged (``PackedVector.is_whole``)."""
    masks: list[bytes] = []
    values: list[bytes] = []
    for dense, _, numbers in vectors:
        stored_at = dense + _bytes_of_bits(dim - dense)
        masks += [_ALL * _bytes_of_bits(dense), numbers[dense:stored_at]]
        values += [numbers[:dense], numbers[stored_at:]]
    rows = np.zeros((len(vectors), dim), np.int8)
    width = _bytes_of_bits(dim)
    is_set = np.unpackbits(np.frombuffer(b"".join(masks), np.uint8).reshape(-1, width), axis=1, count=dim)
    rows[is_set.view(np.bool_)] = np.frombuffer(b"".join(values), np.int8)
    return rows


def cosines(query: bytes, vectors: Mapping[int, PackedVector]) -> dict[int, float]:
    """Return the cosine of *query*, int8, and each of *vectors*; 0 where one is all zero or has another length.

    The numbers are the same with and without numpy: both add integers.
    """
    dim = len(query)
    similarities = dict.fromkeys(vectors, 0.0)
    sound = {row: vector for row, vector in vectors.items() if vector.is_whole(dim)}
    if sound and any(query):
        values = array(_SIGNED, query)
        squares = _product(values, values)
        products = _numpy_products if "numpy" in sys.modules else _products
        for (row, vector), product in zip(sound.items(), products(query, list(sound.values())), strict=True):
            similarities[row] = product / sqrt(squares * vector.squares) if vector.squares else 0.0
    return similarities


def prepare_packing(connection: sqlite3.Connection) -> None:
    """Register the SQL functions on *connection* with which a migration packs the vectors of former stores."""

    @lru_cache(maxsize=1)
    def packed(vector: bytes) -> PackedVector:
        return packed_rows(np.frombuffer(vector, np.int8).reshape(1, -1))[0]

    def column(place: int, vector: bytes) -> int | bytes:
        return packed(vector)[place]

    for place, name in enumerate(PackedVector._fields):
        connection.create_function(f"packed_{name}", 1, partial(column, place))


def _products(query: bytes, vectors: Sequence[PackedVector]) -> Iterator[int]:
    """Yield the dot product of *query* and each of *vectors*."""
    dim = len(query)
    values = array(_SIGNED, query)
    asked = int("".join(["1" if value else "0" for value in values]) or "0", 2)
    leading: dict[int, list[int]] = {}  # reading a list is quicker than an array
    for vector in vectors:
        dense, _, numbers = vector
        if dense not in leading:
            leading[dense] = [*values[:dense]]
        product = _product(leading[dense], memoryview(numbers)[:dense].cast(_SIGNED))
        stored_at = dense + _bytes_of_bits(dim - dense)
        stored = memoryview(numbers)[stored_at:].cast(_SIGNED)
        count = len(stored)
        filling = -(dim - dense) % _BITS
        bits = vector.bits(dim) >> filling
        both = bits & asked  # few numbers are not zero in both
        while both:
            behind = both.bit_length() - 1
            product += values[dim - 1 - behind] * stored[count - (bits & ((2 << behind) - 1)).bit_count()]
            both ^= 1 << behind
        yield product


if sys.version_info >= (3, 12):
    from math import sumprod

    def _product(one: Iterable[int], other: Iterable[int]) -> int:
        return int(sumprod(one, other))  # exact for integers, in a third of the time
else:
    from operator import mul

    def _product(one: Iterable[int], other: Iterable[int]) -> int:
        return sum(map(mul, one, other))


def _numpy_products(query: bytes, vectors: Sequence[PackedVector]) -> list[int]:
    """Return the dot products, all at once: float64 holds every sum exactly."""
    rows = unpacked_rows(vectors, len(query)).astype(np.float64)
    products: list[int] = (rows @ np.frombuffer(query, np.int8).astype(np.float64)).astype(np.int64).tolist()
    return products


def _bytes_of_bits(count: int) -> int:
    return -(-max(count, 0) // _BITS)
