"""``WeightedRanking``, the default ``RecallRanker``: combines words, vector, age and surroundings of a memory in one score.

It is pure Python: for the few hundred candidates of a recall it is as fast as numpy, and need not load it.

``chatmemory/text/conversation_shares.py`` has the surroundings, which the ranking of past chats uses too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain, pairwise
from math import fsum
from typing import Final, Never, final

from attrs import frozen

from chatmemory.effect import Do, Effect, Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.input.choices import RecallMode
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.recall.recall import Recall, RecallHit, Signals
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.longterm.repository_values import TEXT_READ, Candidate, Candidates, MemorySearch
from chatmemory.settings.memory_settings import RetrievalSettings, RetrievalSettingsTag
from chatmemory.text.conversation_shares import ConversationTexts, Surroundings, surroundings
from chatmemory.text.named_dates import DATED_CHARACTERS, MAY_NAME_A_DATE, of_dates
from chatmemory.text.search_terms import (
    LEAST_SHARE,
    bm25,
    count_words,
    covered_shares,
    scaled_scores,
)

_SPEAKER: Final = r"([^\s:：][^:：\n]{0,39})[:：]\s*"
DAY: Final = timedelta(days=1)

ENOUGH_COVERED: Final = 0.3
"""The share of the weight of the words of a query, or of one sentence of it, with which a memory is relevant, however
similar it is.

A message often has a greeting, a request and a question, and a memory answers one of them: of 80 prompts that put a
question and something else side by side 66 keep their answer; without a look at each sentence 44 do."""

FEW_WORDS: Final = 2
"""A memory that lacks no more words of the query than these is relevant with the least similarity that counts."""

MANY_WORDS: Final = 6
"""The number of missing words above which no more similarity is asked for."""

SIMILARITY_PER_WORD: Final = 0.08
"""How much more similarity each missing word asks for, as a share of what lies between the threshold and 1.

The vector of a text with many words is near to many other texts: of prompts that no memory answers, the long ones reach the
highest similarities.  With a constant bar of 1.75 times the threshold, 48 instead of 62 of 66 questions in other words keep
the answer that recall finds, and 221 instead of 227 of 240 prompts about something else are met with silence
(``tests/recall/test_recall_gate.py``)."""

NEAR_BEST: Final = 0.2
"""How far below the most similar memory one may be, as a share of what lies between the threshold and 1.

It halves what is shown beside an answer: 1.4 memories for each of 40 questions, instead of 2.6."""


@final
@frozen
class WeightedRanking(RecallRanker):
    """Combines words, vectors, surroundings and age into one score.

    ``evidence = share * lexical + (1 - share) * similarity``, where *share* is ``lexical_share`` of the settings.  When words
    have found nothing at all, the evidence is the similarity alone, and the other way round.

    ``score = (evidence + (1 - evidence) * around) * decay``, where *around* is the sum of what the session of a memory, and
    the speaker and the date that the query names, add (``surroundings``).  It is a share of what the evidence leaves, so
    that a score never exceeds 1.  It adds 11 points to R@5 on LoCoMo, each turn a memory.

    A memory is a hit when it shares words with the query, ``LEAST_SHARE`` of their weight, or when its similarity
    reaches *threshold*; a similarity below counts as 0.  A memory without a vector gets the mean similarity of the others.
    With 0, a store in which every second memory has a vector would answer 48 % of LoCoMo's questions among the first five
    instead of 56 %.  Where no memory shares a word, one that contains the text of the query counts like the best of them.

    A search returns the nearest memories, even when all of them are unrelated to the query.  A model takes everything
    that it is shown as relevant, so a hit with little evidence is marked as weak.  A query of stop words has only weak hits.
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
        texts = [candidate.terms.split() for candidate in candidates.found]
        matches = bm25(search.terms, texts)
        covered = covered_shares(search.text, matches, texts)
        words = count_words(search.text, search.terms)
        least = 0.0 if search.space is None else LEAST_SHARE  # without vectors, words are all there is
        lexical = scaled_scores(matches, least_share=least)
        if candidates.matched_text:
            lexical = [float(search.text in candidate.memory.content) for candidate in candidates.found]
        similar = [self._similarity(candidate) for candidate in candidates.found]
        evidence = self._evidence(candidates, lexical, similar)
        around = surroundings_of(
            search.text, candidates.found, [weight or 0.0 for weight in evidence], now=now
        )
        added = list(zip(*around, strict=True))
        relevant = self._relevant(candidates.found, covered, around.neighbour, words=words)
        places: list[tuple[float, datetime, str, int]] = []
        for index, (candidate, weight) in enumerate(zip(candidates.found, evidence, strict=True)):
            if weight is not None:
                memory = candidate.memory
                score = _with(weight, sum(added[index])) * self._decay(memory, now)
                places.append((score, memory.created_at, memory.id, index))
        places.sort(reverse=True)
        hits = [
            self._hit(
                candidates.found[index],
                score,
                lexical[index],
                now,
                around=added[index],
                is_weak=not (words and (candidates.matched_text or relevant[index])),
            )
            for score, _, _, index in places[:limit]
        ]
        has_similar = any(similarity is not None for similarity in similar)
        mode, reason = _explained(search, candidates, unembedded, has_similar=has_similar)
        if candidates.coverage.memories > TEXT_READ and not _share_words(search, candidates):
            reason += f"; no memory shares a word with the query, and its text was sought in the newest {TEXT_READ} only"
        return Recall(tuple(hits), mode, reason, candidates.coverage)

    def _similarity(self, candidate: Candidate) -> float | None:
        """Return the similarity as evidence, 0 to 1; None when it is below the threshold."""
        similarity = candidate.similarity
        if similarity is None or similarity < self.threshold:
            return None
        return min(1.0, max(0.0, similarity))

    def _evidence(
        self, candidates: Candidates, lexical: Sequence[float], similar: Sequence[float | None]
    ) -> list[float | None]:
        """Return the evidence of each candidate, 0 to 1; None for a candidate that is not a hit."""
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

    def _relevant(
        self,
        found: Sequence[Candidate],
        covered: Sequence[float],
        neighbour: Sequence[float],
        *,
        words: float,
    ) -> list[bool]:
        """Return whether each candidate is about a query of so many *words*, by its words, neighbours or similarity."""
        best = max([one.similarity for one in found if one.similarity is not None], default=0.0)
        room = 1 - self.threshold

        def is_about(candidate: Candidate, covered: float) -> bool:
            if covered >= ENOUGH_COVERED:
                return True
            if candidate.similarity is None:
                return False
            if self.threshold <= 0:
                return True
            missing = min(MANY_WORDS, max(FEW_WORDS, words * (1 - covered))) - FEW_WORDS
            least = self.threshold + room * SIMILARITY_PER_WORD * missing
            return candidate.similarity >= max(least, best - room * NEAR_BEST)

        return [
            is_about(candidate, share + max(0.0, beside))
            for candidate, share, beside in zip(found, covered, neighbour, strict=True)
        ]

    def _decay(self, memory: Memory, now: datetime) -> float:
        """Return the weight of *memory* at its age: 1, unless it was inferred or comes from a system.

        A statement of the user stays true until a newer statement supersedes it, so age does not reduce its weight.  Decay
        of all memories cost 15 points of R@5 on conversations of a year (spec 001, R2).
        """
        if memory.pinned or memory.source == "user_stated":
            return 1.0
        return time_decay(_age_days(memory, now), self.settings.decay_per_day)

    def _hit(
        self,
        candidate: Candidate,
        score: float,
        lexical: float,
        now: datetime,
        *,
        around: Sequence[float],
        is_weak: bool,
    ) -> RecallHit:
        memory = candidate.memory
        signals = Signals(
            candidate.similarity, lexical, _age_days(memory, now), self._decay(memory, now), *around
        )
        return RecallHit(memory, score, signals, is_weak=is_weak)


def _with(evidence: float, added: float) -> float:
    """Return *evidence* increased by *added*, 0 to 1."""
    return evidence + (1 - evidence) * min(1.0, added) if added > 0 else max(0.0, evidence + added)


def _share_words(search: MemorySearch, candidates: Candidates) -> bool:
    words = frozenset(search.terms)
    return any(not words.isdisjoint(candidate.terms.split()) for candidate in candidates.found)


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


def time_decay(age_days: float, decay_per_day: float) -> float:
    """Return the weight of a memory at an age, above 0 and up to 1; it is halved after ``1 / decay_per_day`` days.

    Args:
        age_days: the age in days; below 0 counts as 0.
        decay_per_day: 1/day, 0 or more.
    """
    return 1 / (1 + max(0.0, age_days) * decay_per_day)


@Effect.gen
async def ranking_by_settings(do: Do[Never, RetrievalSettingsTag | EmbedderTag]) -> RecallRanker:
    """Return the default ranking with the settings, and with the threshold of the embedder when the settings have none."""
    settings = do.service(RetrievalSettingsTag)
    threshold = settings.similarity_threshold
    if threshold is None:
        threshold = do.service(EmbedderTag).similarity_threshold
    return WeightedRanking(settings, threshold)


recall_ranker = Layer.effect(
    RecallRankerTag, ranking_by_settings(), needs=[RetrievalSettingsTag, EmbedderTag]
)
"""The default ranking with the settings ``memory.retrieval``, which may also replace the threshold of the embedder."""


def surroundings_of(
    query: str, found: Sequence[Candidate], evidence: Sequence[float], *, now: datetime
) -> Surroundings:
    """Return what the session of each candidate, and a date or a person in the query, add to its score.

    *query* is as the caller wrote it.  *evidence*, shape ``(count,)``, is the score of each candidate by its own words
    and vector, 0 to 1.  *now* is the time of the query, UTC.
    """
    nothing = [0.0] * len(found)
    dates = nothing
    if re.search(MAY_NAME_A_DATE, query[:DATED_CHARACTERS]):
        dates = of_dates(query, [one.memory.created_at for one in found], now=now)
    parts = _parts(found)
    if not parts:
        return Surroundings(nothing, nothing, nothing, dates)
    named = [re.match(_SPEAKER, one.memory.content) for one in found]
    said = ConversationTexts(
        [one.memory.content[name.end() if name else 0 :] for name, one in zip(named, found, strict=True)],
        [name and name[1] if one.memory.session_id else None for name, one in zip(named, found, strict=True)],
        parts,
        [pair for part in parts for pair in pairwise(part)],
        asking=chain(*parts),
    )
    return surroundings(query, said, evidence, dates)


def _parts(found: Sequence[Candidate]) -> list[list[int]]:
    """Return, for each session with several candidates, their places in *found* in the order of their creation."""
    sessions = defaultdict[str, list[int]](list)
    for place, one in enumerate(found):
        if one.memory.session_id is not None:
            sessions[one.memory.session_id].append(place)
    parts = [part for part in sessions.values() if len(part) > 1]
    for part in parts:
        part.sort(key=lambda place: (found[place].memory.created_at, found[place].memory.id))
    return parts
