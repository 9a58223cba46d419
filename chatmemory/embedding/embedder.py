"""``Embedder``: makes vectors of texts; and the types of vectors.

A vector is a row of numpy float32.  Only type checkers import numpy here, so a program that never embeds never loads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from chatmemory.effect import Effect, Tag
from chatmemory.effect.lazy import np
from chatmemory.errors import EmbeddingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""Shape ``(dim,)``, finite, of length 1."""

Matrix: TypeAlias = "NDArray[np.float32]"
"""Shape ``(count, dim)``, one text per row, finite; a row has length 1, or is all zero for a text without features."""

USUAL_THRESHOLD: Final = 0.3
"""The cosine below which two texts are unrelated, for embedders without their own threshold (spec 001, D2)."""


class Embedder(Protocol):
    """Makes vectors of texts.  Two vectors are comparable when they have the same *model* and dimension."""

    @property
    def model(self) -> str:
        """The name under which its vectors are stored; two embedders with different vectors need different names."""
        ...

    @property
    def similarity_threshold(self) -> float:
        """The cosine, -1 to 1, below which two texts are unrelated; each model has its own scale."""
        ...

    def unavailability(self) -> EmbeddingError | None:
        """Return why the embedder cannot work, if it knows this without a request; None: it can work (spec 001, D1)."""
        ...

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return a matrix with one row for each text, in the order of *texts*; without texts the matrix is empty.

        Fails with:
            EmbeddingError: the embedder is not configured, refused the texts, was too slow, or returned unusable vectors.
        """
        ...


class EmbedderTag(Tag[Embedder]):
    """The tag under which layers provide ``Embedder``."""
