"""``LongTermWitness``: speaks with a long-term memory on behalf of a law, beside its embedder and its clock."""

from collections.abc import Sequence
from typing import ClassVar, Final, final, get_args

from attrs import frozen

from chatmemory.effect.services.clock import TestClock
from chatmemory.errors import MemoryChangeError
from chatmemory.laws.kit.asking import Asker
from chatmemory.laws.kit.law_embedder import LawEmbedder
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.memories import Memory, Namespace, NewMemory, RememberReport
from chatmemory.longterm.recall.recall import Recall

MOST: Final = 50  # more hits than any law can have


@final
@frozen
class LongTermWitness(Asker):
    """Speaks with one long-term memory, as users of its own."""

    ERRORS: ClassVar[tuple[type, ...]] = get_args(MemoryChangeError)
    memory: LongTermMemory
    embedder: LawEmbedder
    clock: TestClock

    def user(self, app: str = "") -> Namespace:
        """Return the user of this space, in an app."""
        return Namespace(self.named("a"), app)

    async def remember(
        self, memories: Sequence[NewMemory], *, namespace: Namespace | None = None
    ) -> RememberReport:
        """Store memories that nothing speaks against."""
        return await self.get(self.memory.remember(namespace or self.user(), memories, dedup="none"))

    async def recall(self, query: str, *, limit: int = MOST, namespace: Namespace | None = None) -> Recall:
        """Return what belongs to *query*."""
        return await self.get(self.memory.recall(namespace or self.user(), query, limit=limit))

    async def read(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Return these memories, which are there."""
        return [await self.get(self.memory.get(self.user(), memory_id)) for memory_id in memory_ids]


def ids_of(recall: Recall) -> list[str]:
    """Return the ids of the hits, best first."""
    return [hit.memory.id for hit in recall.hits]
