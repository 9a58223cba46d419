"""``varied_ranker``: the default ranking, but hits that repeat an earlier hit move behind hits with another content.

This is maximal marginal relevance (Carbonell and Goldstein, 1998): it makes hits more varied, but finds no more of them.
It is one layer, ``stacks.embedded(path, ranker=varied_ranker)``; ``VariedRanking`` can wrap any other ranker, too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Never, final

from attrs import evolve, frozen

from chatmemory.effect import Do, Effect, Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.longterm.recall.recall import Recall, RecallHit
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.longterm.recall.recall_ranking import ranking_by_settings
from chatmemory.longterm.repository_values import Candidates, MemorySearch
from chatmemory.settings.memory_settings import RetrievalSettingsTag

VARIETY: Final = 0.6
"""The share of its score that a hit loses when it has exactly the words of a hit before it."""

POOL: Final = 50
"""How many of the best hits are put in another order; the hits behind them follow in their order."""


@final
@frozen
class VariedRanking(RecallRanker):
    """Orders the hits of another ranking by ``score * (1 - variety * likeness)``.

    *likeness* compares a hit with the most similar hit before it: the number of words that both have, divided by the
    number of words that either has.  The first hit is always the first hit of the other ranking.

    Attributes:
        ranking: the ranking that decides what is a hit.
        variety: 0 to 1; with 0 the order is the order of *ranking*, with 1 a hit that repeats an earlier one word for
            word scores 0.
    """

    ranking: RecallRanker
    variety: float = VARIETY

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
        most = max(limit, len(candidates.found))
        recall = self.ranking.rank(search, candidates, now=now, limit=most, unembedded=unembedded)
        words = {one.memory.id: frozenset(one.terms.split()) for one in candidates.found}
        waiting = list(recall.hits[:POOL])
        likeness = dict.fromkeys((hit.memory.id for hit in waiting), 0.0)
        chosen: list[RecallHit] = []

        def worth(hit: RecallHit) -> tuple[float, datetime, str]:
            score = hit.score * (1 - self.variety * likeness[hit.memory.id])
            return score, hit.memory.created_at, hit.memory.id

        while waiting and len(chosen) < limit:
            best = max(waiting, key=worth)
            waiting.remove(best)
            chosen.append(evolve(best, score=worth(best)[0]))
            for hit in waiting:
                alike = _likeness(words[best.memory.id], words[hit.memory.id])
                likeness[hit.memory.id] = max(likeness[hit.memory.id], alike)
        least = chosen[-1].score if chosen else 0.0
        behind = [evolve(hit, score=min(hit.score, least)) for hit in recall.hits[POOL:]]
        return evolve(recall, hits=tuple([*chosen, *behind][:limit]))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    either = one | other
    return len(one & other) / len(either) if either else 0.0


@Effect.gen
async def _vary(do: Do[Never, RetrievalSettingsTag | EmbedderTag]) -> RecallRanker:
    return VariedRanking(await do(ranking_by_settings()))


varied_ranker = Layer.effect(RecallRankerTag, _vary(), needs=[RetrievalSettingsTag, EmbedderTag])
"""The default ranking with more varied hits."""
