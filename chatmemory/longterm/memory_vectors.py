"""Rows of numbers that a repository may keep: made of what a caller gives, and of what an embedder answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chatmemory.contracts import Matrix, Vector
from chatmemory.errors import Problem
from chatmemory.memories import Embedding

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DIMENSIONS: Final = 16_000  # what pgvector can store


def unit_vector(path: str, embedding: Embedding) -> Vector | Problem:
    """Return the vector of *embedding* at length 1, shape ``(dim,)``, or what keeps it from being one."""
    import numpy as np  # noqa: PLC0415  only those who bring vectors pay for it

    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
            row = np.asarray(embedding.vector, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        return Problem(path, f"no row of numbers: {error}")
    if row.ndim != 1 or not 1 <= row.size <= MAX_DIMENSIONS:
        return Problem(path, f"shape {row.shape}: one row of 1 to {MAX_DIMENSIONS} numbers is expected")
    # The squares of large float32 numbers would overflow, those of small ones vanish.
    exact = row.astype(np.float64)
    length = np.sqrt(exact @ exact)
    if not 0 < length < np.inf:
        return Problem(path, "numbers that are finite, and not all zero, are expected")
    return (exact / length).astype(np.float32)


def usable_rows(matrix: Matrix) -> Sequence[Vector | None]:
    """Return each row of an embedder's answer, shape ``(count, dim)``; None for a text without features."""
    return [row if row.any() else None for row in matrix]
