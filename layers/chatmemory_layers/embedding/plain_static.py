"""The bundled embedder for one query: the vectors of ``static.py``, without numpy and without an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from chatmemory.effect import Effect, Layer
from chatmemory.embedding.query_embedder import QueryEmbedderTag
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.plain_rows import plain_vector

if TYPE_CHECKING:
    from collections.abc import Sequence


@final
class PlainStatic:
    """See ``QueryEmbedder``; it never fails, save by a defect."""

    @property
    def model(self) -> str:
        """That of ``static``, whose vectors these are."""
        return MODEL

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None]:
        """Return the vector of *text*, or None."""
        return Effect.sync(lambda: plain_vector(text))


plain_static: Final = Layer.succeed(QueryEmbedderTag, PlainStatic())
