"""Vectors of two halves: static rows, which know what English words mean, beside hashed features, which know any script.

Which half knows how much of a text is said in ``two_halves.py``.
"""

from collections.abc import Sequence

import numpy as np

from chatmemory.embedding.embedder import Matrix
from chatmemory.embedding.unit_vectors import unit_rows
from chatmemory_layers.embedding.hashed_features import hashed_rows
from chatmemory_layers.embedding.static_rows import bundled_rows
from chatmemory_layers.embedding.text_features import LONGEST_READ
from chatmemory_layers.embedding.two_halves import hashed_share, static_part


def composite_rows(texts: Sequence[str]) -> Matrix:
    """Return a row of length 1 for each text; all zero for one that neither half knows anything of."""
    read = [text[:LONGEST_READ] for text in texts]
    hashed = np.array([hashed_share(text) for text in read], dtype=np.float32).reshape(-1, 1)
    static = bundled_rows().of([static_part(text) for text in read])
    return unit_rows(np.hstack([np.sqrt(1 - hashed) * static, np.sqrt(hashed) * hashed_rows(read)]))
