"""BM25: how well texts match the words of a query (Robertson and Zaragoza, 2009)."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import fsum, log
from typing import Final, NamedTuple

K1: Final = 1.2  # how soon a word said again adds nothing; the usual value, and FTS5's
B: Final = 0.75  # how much a long text has to say a word more often; the usual value, and FTS5's


class Match(NamedTuple):
    """How a text matches a query.

    Attributes:
        score: BM25, not scaled; 0 without a word in common.
        share: of the weight of all words of the query, that of those which the text has; 0 to 1.
    """

    score: float
    share: float


def bm25(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Match]:
    """Match each of *texts* with *query*.

    ``score(text) = sum over words of idf(word) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean length))``,
    ``idf(word) = ln(1 + (count - df + 0.5) / (df + 0.5))``: always above 0, unlike the one without ``1 +``.

    Args:
        query: terms, none twice.
        texts: shape ``(count, any)``, the terms of each.

    Returns:
        shape ``(count,)``.
    """
    wanted = frozenset(query)
    frequencies = [{term: text.count(term) for term in wanted.intersection(text)} for text in texts]
    containing = Counter(chain.from_iterable(frequencies))
    idf = {term: log(1 + (len(texts) - containing[term] + 0.5) / (containing[term] + 0.5)) for term in wanted}
    whole = fsum(idf.values())
    mean_length = sum(map(len, texts)) / max(1, len(texts))
    matches: list[Match] = []
    for text, found in zip(texts, frequencies, strict=True):
        damping = K1 * (1 - B + B * len(text) / mean_length) if found else 0.0
        score = fsum([idf[term] * (K1 + 1) * times / (times + damping) for term, times in found.items()])
        matches.append(Match(score, fsum([idf[term] for term in found]) / whole if found else 0.0))
    return matches
