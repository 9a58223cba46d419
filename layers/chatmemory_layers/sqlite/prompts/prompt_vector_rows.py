"""Converts vectors to columns of ``prompt_vectors`` and ``prompt_codes``, many at once.

It imports numpy, so it is imported when the first vector is written, and never for reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from chatmemory.effect.lazy import np
from chatmemory_layers.sqlite.prompts.packed_vectors import packed_rows
from chatmemory_layers.sqlite.prompts.prompt_codes import code_of, quantised_rows

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix, Vector

NO_MODEL: Final = "none"
"""The model name of a turn without a vector, which may or may not get one later."""


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
