"""``QueryEmbedder``: makes the vector of one query, for commands that have to be fast.

Its vectors equal the vectors of the ``Embedder`` of the same model.  It may work without numpy, whose import takes longer
than most searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chatmemory.effect import Effect, Tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.errors import EmbeddingError


class QueryEmbedder(Protocol):
    """Makes the vector of a query."""

    @property
    def model(self) -> str:
        """The name of the model that made the vectors."""
        ...

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None, EmbeddingError]:
        """Return a vector of length 1; None for a text with nothing to embed.

        Fails with:
            EmbeddingError: the embedder is not configured, refused the text, was too slow, or returned no usable vector.
        """
        ...


class QueryEmbedderTag(Tag[QueryEmbedder]):
    """The tag under which layers provide ``QueryEmbedder``."""
