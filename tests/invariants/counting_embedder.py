"""An embedder whose answer is always the same, and that fails when it is told to."""

from collections.abc import Sequence

import numpy as np

from chatmemory import Effect, EmbedderTag, EmbeddingError, Layer
from chatmemory.embedding.embedder import Matrix
from chatmemory.errors import EmbeddingProblem
from chatmemory_layers import stacks


class CountingEmbedder:
    """Answers ``(1, 0)`` for every text."""

    model = "counting"
    similarity_threshold = 0.3

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.fails = False
        self.problem: EmbeddingProblem = "unavailable"
        self.calls = 0

    def unavailability(self) -> None:
        return None

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        def ask() -> Effect[Matrix, EmbeddingError]:
            self.calls += 1
            if self.fails:
                return Effect.fail(EmbeddingError(self.model, self.problem))
            return Effect.succeed(np.array([[1.0, 0.0]] * len(texts), dtype=np.float32))

        return Effect.sync(ask).bind(lambda made: made)


def given(embedder: CountingEmbedder) -> stacks.Embedders:
    return Layer.succeed(EmbedderTag, embedder)
