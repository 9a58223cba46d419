"""Vectors of two parts: static rows, which represent the meaning of words, and hashed features, which work for any script.

The rows come from a sentence embedding model, so that words of similar meaning have similar rows; ``bundled.py`` names the
bundled ones.  ``text_features.py`` reads a text, and decides the share of each part.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from chatmemory.embedding.embedder import Matrix
from chatmemory.embedding.unit_vectors import unit_rows
from chatmemory_layers.embedding.bundled import ROWS, SCALES, vocabulary
from chatmemory_layers.embedding.text_features import (
    DIM,
    IS_LIGHT,
    LIGHT,
    LONGEST_READ,
    PLACES,
    WordPiece,
    hashed_share,
    static_pieces,
    text_features,
)

BATCH: Final = 32  # texts per call of numpy: twice as fast as one by one, with bounded memory
_OWNER_BITS: Final = 33
_WEIGHTS: Final = np.array([-1.0, 1.0, -LIGHT, LIGHT])  # by lightness and by sign, the lowest bit of the hash


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
        """The number of dimensions of a vector."""
        return int(self.rows.shape[1])

    def of(self, texts: Sequence[str]) -> Matrix:
        """Return a unit vector for each text, shape ``(count, dim)``; zeros for a text without known pieces."""
        sums = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(sums, texts, strict=True):
            places, weights = static_pieces(self.pieces, text)
            if places:
                taken = np.array(places, np.intp)
                scales = self.scales.take(taken)
                if weights is not None:
                    scales *= np.array(weights, np.float32)
                # take is twice as fast as indexing by a list.
                row[:] = scales @ self.rows.take(taken, axis=0).astype(np.float32)
        return unit_rows(sums)


@cache
def bundled_rows() -> StaticRows:
    """Return the rows that ship with the package, read once.

    The numbers stay in the file, mapped into memory, so that processes share them and only the used parts are read.
    """
    rows: NDArray[np.int8] = np.load(ROWS, mmap_mode="r")
    return StaticRows(WordPiece(vocabulary()), np.asarray(rows), np.load(SCALES))


def hashed_rows(texts: Sequence[str]) -> Matrix:
    """Return a unit vector for each text, shape ``(count, DIM)``; zeros for a text without letters and digits."""
    rows = np.zeros((len(texts), DIM), dtype=np.float32)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        rows[start : start + BATCH] = _sums([text_features(text[:LONGEST_READ]) for text in batch])
    return unit_rows(rows)


def _sums(features: Sequence[Sequence[int]]) -> Matrix:
    """Return the sum of the features of each text: weight times sign times the logarithm of the number of occurrences."""
    owners = np.repeat(np.arange(len(features)), [len(of_text) for of_text in features])
    codes = np.array([feature for of_text in features for feature in of_text], dtype=np.int64)
    codes, times = np.unique(owners << _OWNER_BITS | codes, return_counts=True)
    places = (codes >> _OWNER_BITS) * DIM + ((codes >> 1) & PLACES)
    weights = _WEIGHTS[(codes & IS_LIGHT != 0) * 2 + (codes & 1)] * (1 + np.log(times))
    return np.bincount(places, weights, len(features) * DIM).reshape(-1, DIM).astype(np.float32)


def composite_rows(texts: Sequence[str]) -> Matrix:
    """Return a unit vector for each text; zeros for a text in which neither part finds anything."""
    read = [text[:LONGEST_READ] for text in texts]
    hashed = np.array([hashed_share(text) for text in read], dtype=np.float32).reshape(-1, 1)
    static = bundled_rows().of(read)
    return unit_rows(np.hstack([np.sqrt(1 - hashed) * static, np.sqrt(hashed) * hashed_rows(read)]))
