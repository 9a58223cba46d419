"""``re_embed``: gives memories the vector of the present embedder, batch by batch, so that it can stop at any moment."""

from typing import Final, final

from attrs import frozen

from chatmemory.contracts import Attachment, Embedder, MemoryRepository
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError
from chatmemory.longterm.memory_cursor import Place, cursor_of
from chatmemory.longterm.memory_vectors import usable_rows
from chatmemory.memories import EmbeddingSpace, Memory, Namespace, ReEmbedReport
from chatmemory.search_terms import embedding_text

BATCH: Final = 100  # memories that get their vectors in one transaction
PROBE: Final = "dimension"  # any word: only an answer tells how long an embedder's vectors are


@final
@frozen
class ReEmbedding:
    """One run over the memories of *namespace* that lack a vector of *embedder*."""

    repository: MemoryRepository
    embedder: Embedder
    namespace: Namespace

    @Effect.gen
    async def run(self, do: Do[GenericMemoryError], *, limit: int, after: Place | None) -> ReEmbedReport:
        """Look at *limit* memories at most, from behind *after*."""
        probe = await do(self.embedder.embed([PROBE]).alt(GenericMemoryError))
        space = EmbeddingSpace(self.embedder.model, probe.shape[1])
        last: Memory | None = None
        embedded = remaining = seen = 0
        is_over = False
        while seen < limit and not is_over:
            size = min(BATCH, limit - seen)
            lacking = self.repository.unembedded(self.namespace, space, limit=size, after=after)
            memories, missing = await do(lacking.alt(GenericMemoryError))
            attached = await do(self._attach(space, memories)) if memories else 0
            embedded, remaining, seen = embedded + attached, missing - attached, seen + len(memories)
            is_over = len(memories) < size
            if memories:
                last = memories[-1]
                after = (last.created_at, last.id)
        return ReEmbedReport(embedded, remaining, None if is_over or last is None else cursor_of(last))

    @Effect.gen
    async def _attach(
        self, do: Do[GenericMemoryError], space: EmbeddingSpace, memories: tuple[Memory, ...]
    ) -> int:
        texts = [embedding_text(memory.content, key=memory.key) for memory in memories]
        matrix = await do(self.embedder.embed(texts).alt(GenericMemoryError))
        attachments = tuple(
            Attachment(memory.id, memory.version, row)
            for memory, row in zip(memories, usable_rows(matrix), strict=True)
            if row is not None
        )
        attach = self.repository.attach(self.namespace, space, attachments)
        return await do(attach.alt(GenericMemoryError)) if attachments else 0
