"""``EmbeddingSpace``: the vectors that can be compared with each other; ``Embedding``: a vector that a caller gives.

They are not in ``embedder.py``, because the annotations there are strings, and schemas and the reading of input need the
types of these classes.
"""

from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen


@final
@frozen
class EmbeddingSpace:
    """A *model* and its number of dimensions; vectors of the same space can be compared."""

    model: str
    dim: int


@final
@frozen
class Embedding:
    """A vector that the caller has computed with *model*; *vector* has any scale, is finite, and is not all zero."""

    model: str
    vector: Sequence[float] = field(eq=False, repr=False)


MAX_DIMENSIONS: Final = 16_000  # the longest vector that pgvector can store
