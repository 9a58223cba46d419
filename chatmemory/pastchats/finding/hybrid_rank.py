"""``HybridRanking``, the default ``PromptRanker``: combines words, vectors and signals of the conversation in one score.

It is pure Python, so numpy is not loaded; this is fast enough for the few hundred candidates of a search.  The numbers were
tuned on labelled conversations, English and Chinese; ``benchmarks/retrieval.py`` measures them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

from chatmemory.effect import Layer
from chatmemory.pastchats.finding.prompt_hits import PromptHit, PromptRanker, PromptRankerTag, PromptSignals
from chatmemory.pastchats.prompt import CLOCK_SKEW
from chatmemory.text.conversation_shares import ConversationTexts, surroundings
from chatmemory.text.named_dates import of_dates
from chatmemory.text.stop_words import CJK_RUN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from chatmemory.pastchats.prompt_repository import PromptCandidate, PromptCandidates, PromptSearch

LEXICAL_SHARE: Final = 0.5
"""The share of the score for words; the rest is for vectors.  In English, results are equal from 0.3 to 0.7."""

LEXICAL_SHARE_OF_PAIRS: Final = 0.7
"""The same share for pairs of Chinese characters, whose meaning the bundled vectors represent poorly: R@5 + 1 to 3,
nDCG + 2 to 3."""

TELLING_CHARACTERS: Final = 12
"""The words of a turn with fewer characters count less."""


@final
class HybridRanking(PromptRanker):
    """Adds up signals; the score of a hit is their sum.

    The score for words is bm25, divided by that of the best candidate; the score for vectors is the cosine, scaled to 0 for
    the least and 1 for the most similar candidate.  Their weights add up to 1; without vectors, words have the weight 1.
    Added to this are a share of the scores of the turns around it, and bonuses for its speaker and its date.
    """

    def rank(
        self, search: PromptSearch, candidates: PromptCandidates, /, *, now: datetime
    ) -> tuple[PromptHit, ...]:
        found = candidates.found
        semantic = _semantic(found)
        share = 1.0 if semantic is None else _lexical_share(search.terms)
        lexical = [share * score for score in _lexical(candidates)]
        semantic = [(1 - share) * score for score in semantic or [0.0] * len(found)]
        scores = [words + vector for words, vector in zip(lexical, semantic, strict=True)]
        dates = of_dates(search.text, [one.prompt.timestamp for one in found], now=now)
        around = surroundings(search.text, said_of(found), scores, dates)
        hits = [
            _hit(candidate, *signals)
            for candidate, *signals in zip(found, lexical, semantic, *around, strict=True)
        ]
        latest = now.timestamp() + CLOCK_SKEW.total_seconds()
        return tuple(sorted(filter(_is_hit, hits), key=lambda hit: _place(hit, latest), reverse=True))


def said_of(found: Sequence[PromptCandidate]) -> ConversationTexts:
    """Return the turns of *found*; the one with the next number in a conversation is a reply."""
    prompts = [one.prompt for one in found]
    parts = _parts(found)
    return ConversationTexts(
        [one.content for one in prompts],
        [one.speaker for one in prompts],
        parts,
        [
            (one, next_)
            for part in parts
            for one, next_ in pairwise(part)
            if prompts[next_].turn_index == prompts[one].turn_index + 1
        ],
        asking=range(len(found)),
    )


def _hit(candidate: PromptCandidate, *signals: float) -> PromptHit:
    lexical, semantic, neighbour, conversation, speaker, date = signals
    named = PromptSignals(
        lexical=lexical,
        semantic=semantic,
        neighbour=neighbour,
        conversation=conversation,
        speaker=speaker,
        date=date,
    )
    return PromptHit(
        prompt=candidate.prompt, score=sum(signals), signals=named, similarity=candidate.similarity
    )


def _is_hit(hit: PromptHit) -> bool:
    """Return whether *hit* has any signal; the least similar candidate has a score of 0 but is still a hit."""
    return hit.score > 0 or (hit.similarity is not None and hit.similarity > 0)


def _place(hit: PromptHit, latest: float) -> tuple[float, float, int]:
    """Return what orders *hit*; a time after *latest* is a mistake, and counts as unknown."""
    instant = hit.prompt.timestamp
    said_at = float("-inf") if instant is None else instant.timestamp()
    return hit.score, said_at if said_at <= latest else float("-inf"), hit.prompt.id


def _lexical_share(terms: Sequence[str]) -> float:
    pairs = sum(not term.isascii() and re.search(CJK_RUN, term) is not None for term in terms)
    return LEXICAL_SHARE + (LEXICAL_SHARE_OF_PAIRS - LEXICAL_SHARE) * pairs / max(len(terms), 1)


def _lexical(candidates: PromptCandidates) -> list[float]:
    """Return bm25 divided by the best; 1 for all if the candidates only contain the text of the query."""
    if candidates.matched_text:
        return [1.0] * len(candidates.found)
    # bm25 prefers short texts, but "有效，谢谢" is about nothing.
    told = [
        candidate.lexical * min(1.0, len(candidate.prompt.content) / TELLING_CHARACTERS)
        for candidate in candidates.found
    ]
    best = max(told, default=0.0)
    return [score / best if best else 0.0 for score in told]


def _semantic(found: Sequence[PromptCandidate]) -> list[float] | None:
    """Return cosines, scaled to 0 for the least similar and 1 for the most; None if no candidate has a vector.

    A candidate without a vector gets the middle value: a missing vector does not make it less similar.
    """
    known = [candidate.similarity for candidate in found if candidate.similarity is not None]
    if not known:
        return None
    least, span = min(known), max(known) - min(known)
    middle = sum(known) / len(known)
    similar = [middle if one.similarity is None else one.similarity for one in found]
    return [(similarity - least) / span if span else 1.0 for similarity in similar]


def _parts(found: Sequence[PromptCandidate]) -> list[list[int]]:
    """Return the indices in *found* of the candidates of each part of a conversation, in the order of turns."""
    parts = defaultdict[tuple[str, str], list[int]](list)
    for place, candidate in enumerate(found):
        parts[candidate.prompt.conversation_id, candidate.prompt.session].append(place)
    for part in parts.values():
        part.sort(key=lambda place: (found[place].prompt.turn_index, found[place].prompt.id))
    return list(parts.values())


prompt_ranker = Layer.succeed(PromptRankerTag, HybridRanking())
"""The default ranking."""
