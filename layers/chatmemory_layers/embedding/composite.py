"""Vectors of two halves: static rows, which know what English words mean, beside hashed features, which know any script.

Which half knows how much of a text is said in ``text_features.py``.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from chatmemory.embedding.embedder import Matrix
from chatmemory.embedding.unit_vectors import unit_rows
from chatmemory_layers.embedding.static_rows import bundled_rows
from chatmemory_layers.embedding.text_features import (
    DIM,
    IS_LIGHT,
    LIGHT,
    LONGEST_READ,
    hashed_share,
    static_part,
    text_features,
)

BATCH: Final = 32  # texts that numpy works on at once: twice as fast as each by itself, and bounded
_OWNER_BITS: Final = 33
_WEIGHTS: Final = np.array([-1.0, 1.0, -LIGHT, LIGHT])  # by lightness and by sign, the lowest bit of the hash


def hashed_rows(texts: Sequence[str]) -> Matrix:
    """Return a row of length 1 for each text, shape ``(count, DIM)``; all zero for one without letters and digits."""
    rows = np.zeros((len(texts), DIM), dtype=np.float32)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        rows[start : start + BATCH] = _sums([text_features(text[:LONGEST_READ]) for text in batch])
    return unit_rows(rows)


def _sums(features: Sequence[Sequence[int]]) -> Matrix:
    """Add up the features of each text: each with its weight, its sign, and the logarithm of how often it occurs."""
    owners = np.repeat(np.arange(len(features)), [len(of_text) for of_text in features])
    codes = np.array([feature for of_text in features for feature in of_text], dtype=np.int64)
    codes, times = np.unique(owners << _OWNER_BITS | codes, return_counts=True)
    places = (codes >> _OWNER_BITS) * DIM + (codes >> 1) % DIM
    weights = _WEIGHTS[(codes & IS_LIGHT != 0) * 2 + (codes & 1)] * (1 + np.log(times))
    return np.bincount(places, weights, len(features) * DIM).reshape(-1, DIM).astype(np.float32)


def composite_rows(texts: Sequence[str]) -> Matrix:
    """Return a row of length 1 for each text; all zero for one that neither half knows anything of."""
    read = [text[:LONGEST_READ] for text in texts]
    hashed = np.array([hashed_share(text) for text in read], dtype=np.float32).reshape(-1, 1)
    static = bundled_rows().of([static_part(text) for text in read])
    return unit_rows(np.hstack([np.sqrt(1 - hashed) * static, np.sqrt(hashed) * hashed_rows(read)]))
