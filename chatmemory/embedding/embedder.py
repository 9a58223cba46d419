"""``Embedder``: what makes vectors of texts, and the types of vectors.

A vector is a row of numpy float32.  numpy is named here for type checkers only: who never embeds never loads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from chatmemory.effect import Effect, Tag
from chatmemory.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""Shape ``(dim,)``, finite, of length 1."""

Matrix: TypeAlias = "NDArray[np.float32]"
"""Shape ``(count, dim)``, one text per row, finite; a row has length 1, or is all zero for a text without features."""

USUAL_THRESHOLD: Final = 0.3
"""The cosine below which a vector is no evidence, for embedders that know no better (spec 001, D2)."""


class Embedder(Protocol):
    """Makes vectors of texts.  Vectors of two embedders are comparable when *model* and dimension agree."""

    @property
    def model(self) -> str:
        """The name under which its vectors are kept; another one for vectors that mean something else."""
        ...

    @property
    def similarity_threshold(self) -> float:
        """The cosine below which two texts have nothing to do with each other: scales differ between models."""
        ...

    def unavailability(self) -> EmbeddingError | None:
        """Say, without asking anybody, why it cannot embed; None: it may well do (spec 001, D1)."""
        ...

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return one row per text, in their order; no texts, no rows."""
        ...


class EmbedderTag(Tag[Embedder]):
    """Where layers provide ``Embedder``."""
