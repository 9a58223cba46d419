"""``query_embedder_of``: turns any embedder into an embedder of queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from attrs import frozen

from chatmemory.effect import Effect, Layer
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.embedding.query_embedder import QueryEmbedderTag

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix
    from chatmemory.errors import EmbeddingError


@final
@frozen
class QueriesOf:
    """Embeds a query with *embedder*, as if it were a text to store."""

    embedder: Embedder

    @property
    def model(self) -> str:
        """The model of the embedder."""
        return self.embedder.model

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None, EmbeddingError]:
        """Return the vector of *text*, or None for a vector of zeros; fails as the embedder does."""
        return self.embedder.embed([text]).map(_only_row)


def _only_row(rows: Matrix) -> list[float] | None:
    numbers: list[float] = rows[0].tolist()
    return numbers if any(numbers) else None


query_embedder_of: Final = Layer.effect(
    QueryEmbedderTag, EmbedderTag.get().map(QueriesOf), needs=(EmbedderTag,)
)
