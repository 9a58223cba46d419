"""The default ``PromptRanker``: words and vectors in one score, and what speaks for a turn besides.

Pure Python: for the few hundred candidates of a search it is quick enough, and numpy need not be loaded.  The numbers were
found on labelled conversations, English and Chinese; ``benchmarks/retrieval.py`` tries them again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

from chatmemory.effect import Layer
from chatmemory.pastchats.finding.prompt_dates import named_dates
from chatmemory.pastchats.finding.prompt_hits import PromptHit, PromptRankerTag, PromptSignals
from chatmemory.pastchats.finding.replies import is_latin, of_questions, of_times
from chatmemory.text.search_terms import CJK_RUN, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from chatmemory.pastchats.prompt_repository import PromptCandidate, PromptCandidates, PromptSearch

LEXICAL_SHARE: Final = 0.5
"""Of words, beside vectors: flat from 0.3 to 0.7 in English."""

LEXICAL_SHARE_OF_PAIRS: Final = 0.7
"""Of pairs of Chinese characters, of whose meaning the bundled vectors know little: R@5 + 1 to 3, nDCG + 2 to 3."""

NEIGHBOUR_SHARE: Final = 0.3
"""Of the better turn beside a turn, an answer stands next to its question: R@5 + 5.5, the largest single gain."""

CONVERSATION_SHARE: Final = 0.2
"""Of the mean of the best turns of a conversation's part: R@5 + 2.5."""

BEST_OF_CONVERSATION: Final = 3

SPEAKER_BONUS: Final = 0.2
"""For being said by the only person whom the query names; after the turns beside it: nDCG + 1.2 to 5.6."""

DATE_BONUS: Final = 0.2
"""For being said when the query says: nDCG + 0.8, and no harm where queries name no dates."""

TELLING_CHARACTERS: Final = 12
"""Of a turn; the words of a shorter one count for less."""

SHORTEST_NAME: Final = 2  # characters
READ_CHARACTERS: Final = 4096
"""How far a query is read for names."""


@final
class HybridRanking:
    """Adds up signals; the score of a hit is their sum.

    Words are bm25 as a share of the best candidate's; vectors are cosines, spread over 0 to 1 between the least and the
    most similar candidate.  They share a score of 1, and words have all of it where there are no vectors.  On top comes a
    share of the scores around it, and a bonus for who said it and when.
    """

    def rank(
        self, search: PromptSearch, candidates: PromptCandidates, /, *, now: datetime
    ) -> tuple[PromptHit, ...]:
        """See ``PromptRanker``."""
        found = candidates.found
        semantic = _semantic(found)
        share = 1.0 if semantic is None else _lexical_share(search.terms)
        lexical = [share * score for score in _lexical(candidates)]
        semantic = [(1 - share) * score for score in semantic or [0.0] * len(found)]
        scores = [words + vector for words, vector in zip(lexical, semantic, strict=True)]
        parts = _parts(found)
        neighbour = _neighbour(parts, scores)
        scores = _sums(scores, neighbour)
        date = _date(search.text, found, now)
        if is_latin(search.text):
            replies = of_questions(found, parts, scores)
            scores = [score + max(0.0, more) for score, more in zip(scores, replies, strict=True)]
            neighbour = _sums(neighbour, replies)
            date = _sums(date, of_times(search.text, found))
        conversation = _conversation(parts, scores)
        speaker = _speaker(search.text, found)
        hits = [
            _hit(candidate, *signals)
            for candidate, *signals in zip(
                found, lexical, semantic, neighbour, conversation, speaker, date, strict=True
            )
        ]
        return tuple(sorted(filter(_is_hit, hits), key=_place, reverse=True))


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
    """Tell whether anything speaks for *hit*; the least similar of all has a score of 0, and is similar all the same."""
    return hit.score > 0 or (hit.similarity is not None and hit.similarity > 0)


def _place(hit: PromptHit) -> tuple[float, float, int]:
    instant = hit.prompt.timestamp
    return hit.score, float("-inf") if instant is None else instant.timestamp(), hit.prompt.id


def _lexical_share(terms: Sequence[str]) -> float:
    pairs = sum(not term.isascii() and re.search(CJK_RUN, term) is not None for term in terms)
    return LEXICAL_SHARE + (LEXICAL_SHARE_OF_PAIRS - LEXICAL_SHARE) * pairs / max(len(terms), 1)


def _lexical(candidates: PromptCandidates) -> list[float]:
    """Return bm25 as a share of the best; 1 for all where they have no more in common than the text of the query."""
    if candidates.matched_text:
        return [1.0] * len(candidates.found)
    # bm25 prefers what is short, and "有效，谢谢" is about nothing.
    told = [
        candidate.lexical * min(1.0, len(candidate.prompt.content) / TELLING_CHARACTERS)
        for candidate in candidates.found
    ]
    best = max(told, default=0.0)
    return [score / best if best else 0.0 for score in told]


def _semantic(found: Sequence[PromptCandidate]) -> list[float] | None:
    """Return cosines from 0 for the least similar to 1 for the most; None where there is none at all.

    What has no vector counts as the middle of those that have one: it is no less similar for that.
    """
    known = [candidate.similarity for candidate in found if candidate.similarity is not None]
    if not known:
        return None
    least, span = min(known), max(known) - min(known)
    middle = sum(known) / len(known)
    similar = [middle if one.similarity is None else one.similarity for one in found]
    return [(similarity - least) / span if span else 1.0 for similarity in similar]


def _parts(found: Sequence[PromptCandidate]) -> list[list[int]]:
    """Return the candidates of each part of a conversation, by their places in *found*, in the order of turns."""
    parts = defaultdict[tuple[str, str], list[int]](list)
    for place, candidate in enumerate(found):
        parts[candidate.prompt.conversation_id, candidate.prompt.session].append(place)
    for part in parts.values():
        part.sort(key=lambda place: (found[place].prompt.turn_index, found[place].prompt.id))
    return list(parts.values())


def _neighbour(parts: Iterable[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """Return what each candidate gets from the better of the two beside it.

    Candidates that follow each other count as neighbours: those that were found come with the turns beside them.
    """
    best = [0.0] * len(scores)
    for part in parts:
        for one, other in pairwise(part):
            best[one] = max(best[one], scores[other])
            best[other] = max(best[other], scores[one])
    return [NEIGHBOUR_SHARE * score for score in best]


def _conversation(parts: Iterable[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """Return what each candidate gets from the best of its part; turns that are no candidates count as 0."""
    shares = [0.0] * len(scores)
    for part in parts:
        best = nlargest(BEST_OF_CONVERSATION, (scores[place] for place in part))
        for place in part:
            shares[place] = CONVERSATION_SHARE * sum(best) / BEST_OF_CONVERSATION
    return shares


def _speaker(query: str, found: Sequence[PromptCandidate]) -> list[float]:
    speakers = {candidate.prompt.speaker for candidate in found if candidate.prompt.speaker}
    text = query[:READ_CHARACTERS].casefold()
    named = [speaker for speaker in speakers if _is_named(speaker.casefold(), text)]
    if len(named) != 1:
        return [0.0] * len(found)
    return [SPEAKER_BONUS if candidate.prompt.speaker == named[0] else 0.0 for candidate in found]


def _is_named(name: str, text: str) -> bool:
    """Tell whether *name* stands in *text* as a word, or anywhere where nothing parts the words."""
    if len(name) < SHORTEST_NAME or name in STOP_WORDS or name not in text:
        return False
    if not name.isascii() and re.search(CJK_RUN, name):
        return True
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _date(query: str, found: Sequence[PromptCandidate], now: datetime) -> list[float]:
    windows = named_dates(query, now=now)
    if not windows:
        return [0.0] * len(found)

    def is_then(instant: datetime | None) -> bool:
        return instant is not None and any(window.holds(instant) for window in windows)

    return [DATE_BONUS if is_then(candidate.prompt.timestamp) else 0.0 for candidate in found]


prompt_ranker = Layer.succeed(PromptRankerTag, HybridRanking())
"""The default ranking."""
