"""``LawEmbedder``: an embedder whose similarities a law can foresee, and that fails when it is told to."""

import re
from collections.abc import Sequence
from functools import partial
from math import cos, radians, sin
from typing import Final, final

import numpy as np
from attrs import define

from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.embedding.embedder import Matrix
from chatmemory.errors import EmbeddingError

_NUMBER: Final = re.compile(r"\d+")


@final
@define
class LawEmbedder:
    """Turns a text by as many degrees as its last number says, or not at all.

    Two texts are as similar as the angle between them is small.
    """

    fails: bool = False
    calls: int = 0
    model: str = "law"
    similarity_threshold: float = 0.3

    def unavailability(self) -> EmbeddingError | None:
        """Say that it may well work; whether it does is found out by asking."""
        return None

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return one row per text, shape ``(count, 2)``."""
        return Effect.from_outcome(partial(self._embed, texts))

    async def _embed(self, texts: Sequence[str]) -> Outcome[Matrix, EmbeddingError]:
        self.calls += 1
        if self.fails:
            return Failure(EmbeddingError(self.model, "unavailable"))
        turns = [radians(int((_NUMBER.findall(text) or [0])[-1])) for text in texts]
        return Success(np.array([(cos(turn), sin(turn)) for turn in turns], dtype=np.float32))
