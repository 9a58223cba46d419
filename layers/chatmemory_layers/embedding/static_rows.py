"""``StaticRows``: a vector for each piece of a vocabulary; that of a text is their sum.

The rows come from a sentence embedding model, so that words of like meaning have like rows; the bundled ones are named
in ``bundled.py``.
"""

from collections.abc import Sequence
from functools import cache
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from chatmemory.embedding.embedder import Matrix
from chatmemory.embedding.unit_vectors import unit_rows
from chatmemory_layers.embedding.bundled import ROWS, SCALES, bundled_pieces
from chatmemory_layers.embedding.word_piece import WordPiece


@final
@frozen(eq=False)
class StaticRows:
    """Rows of small numbers, each with the scale that it was divided by.

    Attributes:
        rows: shape ``(pieces, dim)``.
        scales: shape ``(pieces,)``.
    """

    pieces: WordPiece
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def dim(self) -> int:
        """How long a vector is."""
        return int(self.rows.shape[1])

    def of(self, texts: Sequence[str]) -> Matrix:
        """Return a row of length 1 for each text, shape ``(count, dim)``; all zero for one without known pieces."""
        sums = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(sums, texts, strict=True):
            places = self.pieces.places(text)
            if places:
                row[:] = self.scales[places] @ self.rows[places].astype(np.float32)
        return unit_rows(sums)


@cache
def bundled_rows() -> StaticRows:
    """Return the rows that ship with the package, read once.

    The numbers stay in the file: they are mapped, so that processes share them and only what is used is read.
    """
    rows: NDArray[np.int8] = np.load(ROWS, mmap_mode="r")
    return StaticRows(bundled_pieces(), np.asarray(rows), np.load(SCALES))
