"""``none``: the embedder that fails every call with its reason; memories are then found by their words."""

from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.effect import Effect, Layer
from chatmemory.embedding.embedder import USUAL_THRESHOLD, EmbedderTag, Matrix
from chatmemory.errors import EmbeddingError


@final
@frozen
class NoEmbedder:
    """Fails every call with *reason*, which comes from the configuration."""

    reason: EmbeddingError
    similarity_threshold: float = USUAL_THRESHOLD

    @property
    def model(self) -> str:
        """A name for errors; no vector has this model."""
        return self.reason.model

    def unavailability(self) -> EmbeddingError:
        """Return the reason."""
        return self.reason

    def embed(self, _: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return an effect that fails with the reason."""
        return Effect.fail(self.reason)


none: Final = Layer.succeed(
    EmbedderTag, NoEmbedder(EmbeddingError("none", "not_configured", 'memory.embedding.provider is "none"'))
)
