"""``ReEmbedding``: gives memories a vector of the present embedder, batch by batch, so that it can stop at any time."""

from __future__ import annotations

from typing import Final, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.embedding.embedder import Embedder
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.embedding.unit_vectors import each_embedded
from chatmemory.errors import GenericMemoryError
from chatmemory.input.rules import Place, cursor_of
from chatmemory.longterm.memories import Memory, ReEmbedReport
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import Attachment
from chatmemory.longterm.saving.memory_drafts import text_to_embed

BATCH: Final = 100  # memories that get their vectors in one transaction
PROBE: Final = "dimension"  # any word: only an answer shows the dimension of an embedder's vectors


@final
@frozen
class ReEmbedding:
    """One run over the memories of *namespace* that lack a vector of *embedder*."""

    repository: MemoryRepository
    embedder: Embedder
    namespace: Namespace

    @Effect.gen
    async def run(self, do: Do[GenericMemoryError], *, limit: int, after: Place | None) -> ReEmbedReport:
        """Embed at most *limit* memories without a vector, newest first, beginning after *after*; None: with the newest.

        Fails with:
            GenericMemoryError: the embedder or the store failed; the batches before it are stored.
        """
        probe = await do(self.embedder.embed([PROBE]).alt(GenericMemoryError))
        space = EmbeddingSpace(self.embedder.model, probe.shape[1])
        embedded = remaining = seen = 0
        while True:
            size = min(BATCH, limit - seen)
            lacking = self.repository.unembedded(self.namespace, space, limit=size, after=after)
            memories, missing = await do(lacking.alt(GenericMemoryError))
            attached = await do(self._attach(space, memories)) if memories else 0
            embedded, remaining, seen = embedded + attached, missing - attached, seen + len(memories)
            if memories:
                after = (memories[-1].created_at, memories[-1].id)
            if len(memories) < size:
                return ReEmbedReport(embedded, remaining, None)
            if seen == limit:
                return ReEmbedReport(embedded, remaining, None if after is None else cursor_of(after))

    @Effect.gen
    async def _attach(
        self, do: Do[GenericMemoryError], space: EmbeddingSpace, memories: tuple[Memory, ...]
    ) -> int:
        texts = [text_to_embed(memory) for memory in memories]
        vectors = await do(each_embedded(self.embedder, texts).alt(GenericMemoryError))
        attachments = tuple(
            Attachment(memory.id, memory.version, vector)
            for memory, vector in zip(memories, vectors, strict=True)
            if vector is not None
        )
        attach = self.repository.attach(self.namespace, space, attachments)
        return await do(attach.alt(GenericMemoryError)) if attachments else 0
