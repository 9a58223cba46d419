"""``TimedEmbedder``: adds a time limit to an embedder that has none.

The embedders of this package do not need it: an endpoint has its own limit, and local computation always ends.
``embedding_guard.py`` defines what happens after a failure.
"""

from collections.abc import Sequence
from math import ceil
from typing import Never, final

from attrs import frozen

from chatmemory.effect import Do, Effect, Layer
from chatmemory.embedding.embedder import Embedder, EmbedderTag, Matrix
from chatmemory.errors import EmbeddingError
from chatmemory.settings.embedding_settings import EmbeddingSettingsTag


@final
@frozen
class TimedEmbedder:
    """Embeds with *embedder*, which may take *seconds* for each *batch_size* texts."""

    embedder: Embedder
    seconds: float
    batch_size: int

    @property
    def model(self) -> str:
        """The name of the embedder's model."""
        return self.embedder.model

    @property
    def similarity_threshold(self) -> float:
        """The threshold of the embedder."""
        return self.embedder.similarity_threshold

    def unavailability(self) -> EmbeddingError | None:
        """Return why the embedder cannot work; None: it can work."""
        return self.embedder.unavailability()

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Embed *texts*; fail with the problem ``timeout`` when the time is over."""
        seconds = self.seconds * max(1, ceil(len(texts) / self.batch_size))
        too_late = EmbeddingError(self.model, "timeout", f"no answer within {seconds:g} s")
        return self.embedder.embed(texts).timeout(seconds, lambda: too_late)


@Effect.gen
async def _time(do: Do[Never, EmbedderTag | EmbeddingSettingsTag]) -> Embedder:
    settings = do.service(EmbeddingSettingsTag)
    return TimedEmbedder(do.service(EmbedderTag), settings.timeout_seconds, settings.batch_size)


timed = Layer.effect(EmbedderTag, _time(), needs=[EmbedderTag, EmbeddingSettingsTag])
"""The provided embedder, limited to ``memory.embedding.timeoutSeconds`` for each ``batchSize`` texts:
``embedder >> timed``."""
