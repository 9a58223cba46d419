"""``IndexMaintenance``: the operations of an index that read no histories: re-embedding, reindexing, forgetting."""

from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from chatmemory.effect import Do, Effect
from chatmemory.embedding.embedder import Embedder
from chatmemory.errors import DataValidationError, GenericMemoryError, PastChatsError, Problem
from chatmemory.pastchats.indexing.turn_embedding import BATCH_TEXTS, NO_MODEL, TurnEmbedding
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory.pastchats.prompt_repository import PromptRepository

PROBE: Final = "dimension"  # any word: only an answer shows the dimensions of an embedder


@frozen
class IndexMaintenance:
    """The part of ``PastChatsIndex`` that reads no histories."""

    repository: PromptRepository
    embedder: Embedder

    def prepare(self) -> Effect[None, PastChatsError]:
        """Do nothing: providing this service has opened the index."""
        return Effect.succeed(None)

    @Effect.gen
    async def re_embed(
        self,
        do: Do[PastChatsError],
        *,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> int:
        """See ``PastChatsIndex.re_embed``; each batch is a transaction, and embedded turns are not embedded again."""
        import numpy as np

        model = self.embedder.model
        if model == NO_MODEL:
            unavailable = self.embedder.unavailability()
            if unavailable is not None:
                do.fail(GenericMemoryError(unavailable))
        embedding = TurnEmbedding(self.repository, self.embedder)
        width = (await do(self.embedder.embed([PROBE]).alt(GenericMemoryError))).shape[1]
        statistics = await do(self.repository.statistics().alt(GenericMemoryError))
        lacking = statistics.embeddings - statistics.models.get(model, 0)
        done = 0
        while True:
            rows = await do(self.repository.without_vector(model, limit=BATCH_TEXTS).alt(GenericMemoryError))
            if not rows:
                return done
            vectors = await do(embedding.rows([content for _, content in rows]))
            matrix = np.zeros((len(rows), width), dtype=np.float32)  # a text that was refused has no features
            for place, vector in enumerate(vectors):
                if vector is not None:
                    matrix[place] = vector
            put = self.repository.re_embed([id_ for id_, _ in rows], matrix, model=model)
            await do(put.alt(GenericMemoryError))
            done += len(rows)
            on_progress(done, max(lacking, done))

    def reindex(self) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.reindex``."""
        return self.repository.reindex_words().alt(GenericMemoryError)

    def forget(
        self,
        which: PromptFilter = EVERYTHING,
        /,
        *,
        sources: Sequence[str] = (),
        is_dry_run: bool = False,
    ) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.forget``."""
        if which == EVERYTHING and not sources:
            problem = Problem(
                "$", "say what is to be forgotten: a source, a project, a conversation, a time ..."
            )
            return Effect.fail(DataValidationError((problem,)))
        return self.repository.forget(which, sources=sources, is_dry_run=is_dry_run).alt(GenericMemoryError)

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.prune``."""
        return self.repository.prune(is_dry_run=is_dry_run).alt(GenericMemoryError)
