"""The embedder that makes no vectors: memories are found by their words."""

from collections.abc import Sequence
from typing import Final, final

from chatmemory.contracts import EmbedderTag, Matrix
from chatmemory.effect import Effect, Layer
from chatmemory.errors import EmbeddingError

NOT_WANTED: Final = EmbeddingError("none", "not_configured", 'memory.embedding.provider is "none"')


@final
class NoEmbedder:
    """Says that it cannot embed."""

    @property
    def model(self) -> str:
        """A name for errors; no vector bears it."""
        return NOT_WANTED.model

    def unavailability(self) -> EmbeddingError:
        """Return ``NOT_WANTED``."""
        return NOT_WANTED

    def embed(self, _: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Fail with ``NOT_WANTED``."""
        return Effect.fail(NOT_WANTED)


none: Final = Layer.succeed(EmbedderTag, NoEmbedder())
