"""``LongTermWitness``: asks a long-term memory on behalf of a law, and holds its embedder and its clock.

``LawEmbedder`` is an embedder whose similarities a law can predict, and that fails when ``fails`` is set.
"""

import re
from collections.abc import Sequence
from functools import partial
from math import cos, radians, sin
from typing import ClassVar, Final, final, get_args

import numpy as np
from attrs import define, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.embedding.embedder import Matrix
from chatmemory.errors import EmbeddingError, MemoryUndoError
from chatmemory.events.event import Event
from chatmemory.laws.kit.law import Asker
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.memories import Memory, NewMemory, RememberReport
from chatmemory.longterm.recall.recall import Recall

MOST: Final = 50  # more hits than any law can have
_NUMBER: Final = re.compile(r"\d+")


@final
@define
class LawEmbedder:
    """Turns a text into a vector at the angle, in degrees, of the last number in the text, or fails.

    The similarity of two texts is the cosine of the angle between them.
    """

    fails: bool = False
    calls: int = 0
    model: str = "law"
    similarity_threshold: float = 0.3

    def unavailability(self) -> EmbeddingError | None:
        """Return None: only a call shows whether the embedder works."""
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


@final
@frozen
class LongTermWitness(Asker):
    """Asks one long-term memory, as its own users."""

    ERRORS: ClassVar[tuple[type, ...]] = get_args(MemoryUndoError)
    memory: LongTermMemory
    embedder: LawEmbedder
    clock: TestClock

    def user(self, app: str = "") -> Namespace:
        """Return the user of this space, in an app."""
        return Namespace(self.named("a"), app)

    async def remember(
        self, memories: Sequence[NewMemory], *, namespace: Namespace | None = None
    ) -> RememberReport:
        """Store memories that must be accepted."""
        return await self.get(self.memory.remember(namespace or self.user(), memories, dedup="none"))

    async def recall(self, query: str, *, limit: int = MOST, namespace: Namespace | None = None) -> Recall:
        """Return the hits for *query*."""
        return await self.get(self.memory.recall(namespace or self.user(), query, limit=limit))

    async def read(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Return these memories, which exist."""
        return [await self.get(self.memory.get(self.user(), memory_id)) for memory_id in memory_ids]

    async def events(self, memory_id: str) -> Sequence[Event]:
        """Return the changes of a memory, oldest first."""
        return (await self.get(self.memory.history(self.user(), memory_id))).events


def ids_of(recall: Recall) -> list[str]:
    """Return the ids of the hits, best first."""
    return [hit.memory.id for hit in recall.hits]
