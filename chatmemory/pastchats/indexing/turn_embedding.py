"""Embeds turns before they are stored: only texts without a stored vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from attrs import define

from chatmemory.effect import Do, Effect
from chatmemory.embedding.embedder import Embedder, Matrix, Vector
from chatmemory.errors import EmbeddingError, GenericMemoryError
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.prompt_repository import PromptRepository

NO_MODEL: Final = "none"  # the model name of an embedder that makes no vectors
BATCH_TEXTS: Final = 256
LONGEST_EMBEDDED: Final = 10_000  # characters: the vector of a longer text is too unspecific


@final
@define
class TurnEmbedding:
    """Makes the vectors that a store lacks.

    When the embedder *has_worked* in this run, a refusal concerns one text and not all.
    """

    repository: PromptRepository
    embedder: Embedder
    has_worked: bool = False

    @Effect.gen
    async def stage(
        self, do: Do[GenericMemoryError], batch: Sequence[PromptDraft], *, is_dry_run: bool = False
    ) -> int:
        """Stage *batch* with the vectors that it needs, and return how many of its turns are already stored.

        A failing embedder ends the run; staged turns are never visible.  A dry run only counts.
        """
        hashes = {draft.content_hash: draft.text_hash for draft in batch}
        unchanged = await do(self.repository.unchanged(hashes).alt(GenericMemoryError))
        if not is_dry_run:
            vectors = await do(self._missing(batch, unchanged))
            staged = self.repository.stage(batch, vectors, model=self.embedder.model)
            await do(staged.alt(GenericMemoryError))
        return len(unchanged)

    @Effect.gen
    async def _missing(
        self, do: Do[GenericMemoryError], drafts: Sequence[PromptDraft], unchanged: frozenset[str]
    ) -> dict[str, Vector]:
        """Return the vectors of those *drafts* that need one, by the hash of their text.

        A text that the embedder refuses gets no vector; search finds it by its words.
        """
        if self.embedder.model == NO_MODEL:
            return {}
        texts = {draft.text_hash: draft.content for draft in drafts if draft.content_hash not in unchanged}
        if not texts:
            return {}
        lacking = await do(
            self.repository.unembedded(tuple(texts), self.embedder.model).alt(GenericMemoryError)
        )
        wanted = [hash_ for hash_ in texts if hash_ in lacking]
        vectors: dict[str, Vector] = {}
        for start in range(0, len(wanted), BATCH_TEXTS):
            batch = wanted[start : start + BATCH_TEXTS]
            rows = await do(self.rows([texts[hash_] for hash_ in batch]))
            vectors |= {hash_: row for hash_, row in zip(batch, rows, strict=True) if row is not None}
        return vectors

    @Effect.gen
    async def rows(self, do: Do[GenericMemoryError], texts: Sequence[str]) -> list[Vector | None]:
        """Embed *texts*; if a batch is refused, embed each text alone, so that one bad text does not affect the others."""

        def halve(error: EmbeddingError) -> Effect[list[Vector | None], GenericMemoryError]:
            if error.problem != "refused" or not (self.has_worked or len(texts) > 1):
                return Effect.fail(GenericMemoryError(error))
            if len(texts) == 1:
                return Effect.succeed([None])
            middle = len(texts) // 2
            halves = Effect.all([self.rows(texts[:middle]), self.rows(texts[middle:])])
            return halves.map(lambda parts: [row for part in parts for row in part])

        cut = [text[:LONGEST_EMBEDDED] for text in texts]
        return await do(self.embedder.embed(cut).bind(lambda rows: self._checked(rows, len(cut))).lash(halve))

    def _checked(self, rows: Matrix, count: int) -> Effect[list[Vector | None], EmbeddingError]:
        if len(rows) != count:
            detail = f"{len(rows)} vectors for {count} texts"
            return Effect.fail(EmbeddingError(self.embedder.model, "wrong_count", detail))
        self.has_worked = True
        return Effect.succeed(list(rows))
