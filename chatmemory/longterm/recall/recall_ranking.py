"""The default ``RecallRanker``: the words and the vector of a candidate in one score, weighted by its age.

Pure Python: for the few hundred candidates of a recall it is as quick as numpy, and need not load it.  It is held to the
formula of spec 001, D2, for whole arrays: ``recall_scores``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import fsum
from typing import Final, Never, final

from attrs import frozen

from chatmemory.effect import Do, Effect, Layer
from chatmemory.embedding.embedder import EmbedderTag, Matrix, Vector
from chatmemory.input.choices import RecallMode
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.recall.recall import Recall, RecallHit, Signals
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.longterm.repository_values import Candidate, Candidates, MemorySearch
from chatmemory.settings.memory_settings import RetrievalSettings, RetrievalSettingsTag
from chatmemory.text.search_terms import LEAST_SHARE, lexical_scores

DAY: Final = timedelta(days=1)
DECAY_PER_DAY: Final = 0.01  # halves a memory's weight after 100 days; spec 001, D2


@final
@frozen
class WeightedRanking:
    """Adds up what words and vectors say.

    ``score = (share * lexical + (1 - share) * similarity) * decay``, *share* being ``lexical_share`` of the settings.
    Where words have found nothing at all, vectors have the whole score, and the other way round.

    A memory is a hit when it shares words with the query, ``LEAST_SHARE`` of their weight, or when its similarity
    reaches *threshold*; a similarity below counts as 0.  One without a vector counts as similar as the others are on
    average: with 0, a store in which every second memory has a vector would answer 48 % of LoCoMo's questions among the
    first five instead of 56 %.  Where no memory shares a word, one that contains the text of the query counts like the
    best of them.
    """

    settings: RetrievalSettings
    threshold: float

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
        """See ``RecallRanker``."""
        lexical = _lexical(search, candidates)
        similar = [self._similarity(candidate) for candidate in candidates.found]
        evidence = self._evidence(candidates, lexical, similar)
        places: list[tuple[float, datetime, str, int]] = []
        for index, (candidate, weight) in enumerate(zip(candidates.found, evidence, strict=True)):
            if weight is not None:
                memory = candidate.memory
                places.append((weight * self._decay(memory, now), memory.created_at, memory.id, index))
        places.sort(reverse=True)
        hits = [
            self._hit(candidates.found[index], score, lexical[index], now)
            for score, _, _, index in places[:limit]
        ]
        has_similar = any(similarity is not None for similarity in similar)
        mode, reason = _explained(search, candidates, unembedded, has_similar=has_similar)
        return Recall(tuple(hits), mode, reason, candidates.coverage)

    def _similarity(self, candidate: Candidate) -> float | None:
        """Return the similarity as evidence, 0 to 1; None for one below the threshold."""
        similarity = candidate.similarity
        if similarity is None or similarity < self.threshold:
            return None
        return min(1.0, max(0.0, similarity))

    def _evidence(
        self, candidates: Candidates, lexical: Sequence[float], similar: Sequence[float | None]
    ) -> list[float | None]:
        """Return what speaks for each candidate, 0 to 1; None for what is no hit."""
        reached = [similarity for similarity in similar if similarity is not None]
        if not reached:
            return [words or None for words in lexical]
        usual = fsum(reached) / len(reached)
        share = self.settings.lexical_share if any(lexical) else 0.0

        def weigh(candidate: Candidate, words: float, similarity: float | None) -> float | None:
            if similarity is None and not words:
                return None
            if similarity is None:
                similarity = usual if candidate.similarity is None else 0.0
            return share * words + (1 - share) * similarity

        return list(map(weigh, candidates.found, lexical, similar))

    def _decay(self, memory: Memory, now: datetime) -> float:
        """Return the weight that age leaves *memory*: all of it, unless it was inferred or came from a system.

        What the user stated stays true until something newer is said, and is retired by that, not by age: decay of all
        cost 15 points of R@5 on conversations of a year (spec 001, R2).
        """
        if memory.pinned or memory.source == "user_stated":
            return 1.0
        return time_decay(_age_days(memory, now), self.settings.decay_per_day)

    def _hit(self, candidate: Candidate, score: float, lexical: float, now: datetime) -> RecallHit:
        memory = candidate.memory
        signals = Signals(candidate.similarity, lexical, _age_days(memory, now), self._decay(memory, now))
        return RecallHit(memory, score, signals)


def _lexical(search: MemorySearch, candidates: Candidates) -> list[float]:
    """Return the lexical signal of each candidate."""
    if candidates.matched_text:
        return [float(search.text in candidate.memory.content) for candidate in candidates.found]
    least = 0.0 if search.space is None else LEAST_SHARE  # without vectors, words are all there is
    return lexical_scores(
        search.terms, [candidate.terms for candidate in candidates.found], least_share=least
    )


def _age_days(memory: Memory, now: datetime) -> float:
    return max(0.0, (now - memory.created_at) / DAY)


def _explained(
    search: MemorySearch, candidates: Candidates, unembedded: str | None, *, has_similar: bool
) -> tuple[RecallMode, str]:
    coverage = candidates.coverage
    if search.space is None:
        why = unembedded or "the query has no vector"
    elif not coverage.embedded:
        why = f"no memory has a vector of {search.space.model}"
    else:
        how = "by words and vectors" if has_similar else "no vector is similar enough"
        missing = coverage.memories - coverage.embedded
        without = f"; {missing} of {coverage.memories} memories have no vector of {search.space.model}"
        return "hybrid", how + (without if missing else "")
    if candidates.matched_text:
        return "like", f"{why}; no memory shares a word with the query, these contain its text"
    return "lexical", why


def recall_scores(
    query: Vector, memories: Matrix, age_days: Vector, *, decay_per_day: float = DECAY_PER_DAY
) -> Vector:
    """Score *memories* against *query*; higher is better, never above 1.

    ``score[i] = cosine(query, memories[i]) / (1 + age_days[i] * decay_per_day)``   (spec 001, D2)

    Args:
        query: shape ``(dim,)``, any scale.
        memories: shape ``(count, dim)``, one row per memory, of any scale.
        age_days: shape ``(count,)``, days since creation, 0 or more.
        decay_per_day: 1/day.

    Returns:
        shape ``(count,)``. A zero vector on either side scores 0.

    Raises:
        ValueError: the three shapes do not belong together.
    """
    import numpy as np

    count = len(age_days)
    if memories.shape != (count, *query.shape) or age_days.shape != (count,) or query.ndim != 1:
        shapes = f"query {query.shape}, memories {memories.shape}, age_days {age_days.shape}"
        raise ValueError(f"expected the shapes (dim,), (count, dim) and (count,), not {shapes}")
    # The square of a large float32 would be infinite; and what rounding adds to a cosine of 1 is gone in the result.
    exact = memories.astype(np.float64)
    wanted = query.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(wanted)
    cosines = np.divide(exact @ wanted, lengths, out=np.zeros(count), where=lengths > 0)
    decays = 1 / (1 + age_days.astype(np.float64) * decay_per_day)
    scores: Vector = (cosines * decays).astype(np.float32)
    return scores


def time_decay(age_days: float, decay_per_day: float) -> float:
    """Return the weight that *age_days* leave a memory, above 0 and up to 1; one from the future has age 0."""
    return 1 / (1 + max(0.0, age_days) * decay_per_day)


@Effect.gen
async def _rank_by_settings(do: Do[Never, RetrievalSettingsTag | EmbedderTag]) -> RecallRanker:
    settings = do.service(RetrievalSettingsTag)
    threshold = settings.similarity_threshold
    if threshold is None:
        threshold = do.service(EmbedderTag).similarity_threshold
    return WeightedRanking(settings, threshold)


recall_ranker = Layer.effect(RecallRankerTag, _rank_by_settings(), needs=[RetrievalSettingsTag, EmbedderTag])
"""The default ranking, as ``memory.retrieval`` sets it, with the threshold of the embedder unless that is set too."""
