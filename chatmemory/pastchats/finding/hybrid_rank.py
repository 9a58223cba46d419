"""``HybridRanking``, the default ``PromptRanker``: combines words, vectors and signals of the conversation in one score.

It is pure Python, so numpy is not loaded; this is fast enough for the few hundred candidates of a search.  The numbers were
tuned on labelled conversations, English and Chinese; ``benchmarks/retrieval.py`` measures them.

A reply is about the question before it, and a turn that only asks has no information.  These signals count for queries
in Latin script: R@5 + 3.1 for replies, and 1.1 for the other two.  In Chinese, where a question needs no mark, R@5 would
lose 1.8.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

from chatmemory.effect import Layer
from chatmemory.pastchats.finding.prompt_hits import PromptHit, PromptRanker, PromptRankerTag, PromptSignals
from chatmemory.pastchats.prompt import CLOCK_SKEW
from chatmemory.text.conversation_shares import beside, of_best, of_speakers
from chatmemory.text.named_dates import of_dates
from chatmemory.text.stop_words import CJK_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from chatmemory.pastchats.prompt_repository import PromptCandidate, PromptCandidates, PromptSearch

QUESTION_SHARE: Final = 0.25
"""The share that a turn gets of the score of the question before it, which it probably answers."""

QUESTION_CHARACTERS: Final = 80  # a longer turn contains more than a question
REPLY_CHARACTERS: Final = 160  # a longer turn contains more than a reply

ASKING_MALUS: Final = 0.1
ASKING_CHARACTERS: Final = 120  # a longer turn that ends with a question contains information too

TIME_BONUS: Final = 0.1
"""The bonus for a turn that names a time, if the query asks when."""

READ_CHARACTERS: Final = 1024
"""The number of characters of a turn in which times are searched."""

_ASKS_WHEN: Final = r"(?:when|how long ago|(?:in )?(?:what|which) (?:day|date|week|month|year|time))\b"
_TIME: Final = (
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|week|month|year|morning|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|\d{4})\b"
)

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
        parts = _parts(found)
        neighbour = beside(parts, scores)
        scores = _sums(scores, neighbour)
        date = of_dates(search.text, [one.prompt.timestamp for one in found], now=now)
        if is_latin(search.text):
            replies = of_questions(found, parts, scores)
            scores = [score + max(0.0, more) for score, more in zip(scores, replies, strict=True)]
            neighbour = _sums(neighbour, replies)
            date = _sums(date, of_times(search.text, found))
        conversation = of_best(parts, scores)
        speaker = of_speakers(search.text, [one.prompt.speaker for one in found])
        hits = [
            _hit(candidate, *signals)
            for candidate, *signals in zip(
                found, lexical, semantic, neighbour, conversation, speaker, date, strict=True
            )
        ]
        latest = now.timestamp() + CLOCK_SKEW.total_seconds()
        return tuple(sorted(filter(_is_hit, hits), key=lambda hit: _place(hit, latest), reverse=True))


def _sums(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one + other for one, other in zip(ones, others, strict=True)]


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


def is_latin(query: str) -> bool:
    """Return whether *query* holds no Chinese, Japanese or Korean."""
    return query.isascii() or re.search(CJK_RUN, query) is None


def of_questions(
    found: Sequence[PromptCandidate], parts: Iterable[Sequence[int]], scores: Sequence[float]
) -> list[float]:
    """Return the bonus of each candidate for the question before it, minus a malus if it only asks.

    Args:
        found: the candidates.
        parts: the places in *found* of the turns of each part of a conversation, in the order of turns.
        scores: the score of each candidate.

    Returns:
        shape ``(count,)``, from ``-ASKING_MALUS`` up.
    """
    shares = [-ASKING_MALUS if _only_asks(candidate.prompt.content) else 0.0 for candidate in found]
    for part in parts:
        for asked, answered in pairwise(part):
            question, reply = found[asked].prompt, found[answered].prompt
            if reply.turn_index == question.turn_index + 1 and "?" in question.content:
                shares[answered] += (
                    QUESTION_SHARE
                    * scores[asked]
                    * min(1.0, QUESTION_CHARACTERS / len(question.content))
                    * min(1.0, REPLY_CHARACTERS / max(1, len(reply.content)))
                )
    return shares


def of_times(query: str, found: Sequence[PromptCandidate]) -> list[float]:
    """Return the bonus of each candidate for naming a time; 0 for all unless *query* asks when."""
    if not re.match(_ASKS_WHEN, query.strip().lower()):
        return [0.0] * len(found)
    return [
        TIME_BONUS if re.search(_TIME, candidate.prompt.content[:READ_CHARACTERS].lower()) else 0.0
        for candidate in found
    ]


def _only_asks(content: str) -> bool:
    return len(content) < ASKING_CHARACTERS and content.rstrip().endswith("?")


prompt_ranker = Layer.succeed(PromptRankerTag, HybridRanking())
"""The default ranking."""
