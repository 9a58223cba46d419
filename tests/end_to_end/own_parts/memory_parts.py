"""An embedder, an extractor and a ranking of one's own."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from chatmemory import (
    EmbedderTag,
    EmbeddingError,
    Extraction,
    Layer,
    MemoryExtractorTag,
    ProposedMemory,
    Recall,
    RecallHit,
    RecallRankerTag,
)
from chatmemory.effect import Effect
from chatmemory.embedding.embedder import Matrix
from chatmemory.input.choices import RecallMode
from chatmemory.longterm.extraction.memory_extractor import Evidence, Speaker
from chatmemory.longterm.recall.recall import Signals
from chatmemory.longterm.repository_values import Candidate, Candidates, MemorySearch

NOTE = "note:"


class CountedCharacters:
    """An embedder: a text is how often each of 64 kinds of characters occurs in it."""

    model = "counted-characters"
    similarity_threshold = 0.1

    def unavailability(self) -> None:
        """Nothing keeps it from counting."""

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        rows = [np.bincount([ord(character) % 64 for character in text], minlength=64) for text in texts]
        return Effect.succeed(np.array(rows, dtype=np.float32).reshape(-1, 64))


class Notes:
    """An extractor: what stands in a line behind ``note:`` is worth remembering."""

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:
        found: list[ProposedMemory] = []
        start = 0
        for line in content.splitlines(keepends=True):
            if line.startswith(NOTE):
                said = line.removeprefix(NOTE).strip()
                where = Evidence(start, start + len(line))
                found.append(ProposedMemory(f"note of the {role}", said, said, "fact", 1.0, "other", where))
            start += len(line)
        return Effect.succeed(Extraction(tuple(found), "notes"))


class TheLatestFirst:
    """A ranking: whatever was found, the newest first."""

    def rank(
        self,
        search: MemorySearch,
        candidates: Candidates,
        /,
        *,
        now: datetime,
        limit: int,
        unembedded: str | None = None,
    ) -> Recall:
        latest = sorted(candidates.found, key=age, reverse=True)[:limit]
        hits = tuple(
            RecallHit(candidate.memory, 1.0, Signals(candidate.similarity, 0.0, 0.0, 1.0))
            for candidate in latest
        )
        mode: RecallMode = "lexical" if search.vector is None else "hybrid"
        return Recall(hits, mode, unembedded or "the latest first", candidates.coverage)


def age(candidate: Candidate) -> tuple[datetime, str]:
    return candidate.memory.created_at, candidate.memory.id


embedder = Layer.succeed(EmbedderTag, CountedCharacters())
extractor = Layer.succeed(MemoryExtractorTag, Notes())
ranker = Layer.succeed(RecallRankerTag, TheLatestFirst())
