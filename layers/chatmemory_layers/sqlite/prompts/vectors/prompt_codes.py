"""Codes of vectors, one bit per direction: a search compares them first, because it is quick, and the real vectors last.

The values of an int8 vector are shuffled and get random signs.  A Walsh-Hadamard transform turns them into as many
directions as the next power of two; each bit says on which side of a direction the vector is.  All of it adds integers, so
Python alone makes, for one query, exactly the bits that numpy makes for many texts.  No mean is subtracted: nothing has to
be learnt or stored.

Of the 10 nearest vectors by cosine, this share is among the 400 (in brackets: 200) nearest by bits, with the bundled
embedder: 100 % (99.4) of English chats, 100 % (99.2) of Chinese ones, 100 % (99.8) of 22,000 pieces of code.  The signs of
the untransformed vectors would reach 72, 65 and 77 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np
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
    import numpy as np

    exact = rows.astype(np.float64)
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    largest[largest == 0] = 1
    return np.asarray(np.rint(exact * LARGEST / largest), np.int8)


def code_of(rows: Int8Rows) -> list[bytes]:
    """Return the code of each row; empty for a row of zeros, and for rows without columns."""
    import numpy as np

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
    import numpy as np

    lower = 1 << size.bit_length() // 2
    upper = size // lower
    places, signs = (np.array(numbers).reshape(upper, lower).T.ravel() for numbers in _chances(size))
    return places, signs.astype(np.float32), _hadamard(lower), _hadamard(upper)


def _hadamard(size: int) -> Matrix:
    import numpy as np

    rows = np.ones((1, 1), np.float32)
    while len(rows) < size:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows
