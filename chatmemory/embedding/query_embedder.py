"""``QueryEmbedder``: what makes the vector of one query, for a command that is over in a moment.

It means the same as ``Embedder`` of the same model, and may do so without numpy, whose loading takes longer than most
searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chatmemory.effect import Effect, Tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.errors import EmbeddingError


class QueryEmbedder(Protocol):
    """Makes a vector of a query."""

    @property
    def model(self) -> str:
        """See ``Embedder.model``."""
        ...

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None, EmbeddingError]:
        """Return a vector of length 1; None for a text without features."""
        ...


class QueryEmbedderTag(Tag[QueryEmbedder]):
    """The tag under which layers provide ``QueryEmbedder``."""
