"""``EmbeddingSpace`` and ``Embedding``: which vectors can be compared, and a vector in such a space.

They stand apart from ``embedder.py``, whose annotations are text: schemas and input read those of these classes at run time.
"""

from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen


@final
@frozen
class EmbeddingSpace:
    """What makes two vectors comparable: the *model* and the number of dimensions."""

    model: str
    dim: int


@final
@frozen
class Embedding:
    """A vector that the caller has computed; *vector* of any scale, finite, not all zero."""

    model: str
    vector: Sequence[float] = field(eq=False, repr=False)


MAX_DIMENSIONS: Final = 16_000  # of a vector: what pgvector can store
