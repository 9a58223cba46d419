"""BM25: how well texts match the words of a query (Robertson and Zaragoza, 2009)."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import fsum, log
from typing import Final

K1: Final = 1.2  # how soon a word said again adds nothing; the usual value, and FTS5's
B: Final = 0.75  # how much a long text has to say a word more often; the usual value, and FTS5's


def bm25_scores(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Score each of *texts* against *query*; 0 for one that has none of its words.

    ``score(text) = sum over words of idf(word) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean length))``,
    ``idf(word) = ln(1 + (count - df + 0.5) / (df + 0.5))``: always above 0, unlike the one without ``1 +``.

    Args:
        query: terms, none twice.
        texts: shape ``(count, any)``, the terms of each.

    Returns:
        shape ``(count,)``, not scaled.
    """
    wanted = frozenset(query)
    frequencies = [{term: text.count(term) for term in wanted.intersection(text)} for text in texts]
    containing = Counter(chain.from_iterable(frequencies))
    weights = {
        term: (K1 + 1) * log(1 + (len(texts) - count + 0.5) / (count + 0.5))
        for term, count in containing.items()
    }
    mean_length = sum(map(len, texts)) / max(1, len(texts))
    scores: list[float] = []
    for text, found in zip(texts, frequencies, strict=True):
        damping = K1 * (1 - B + B * len(text) / mean_length) if found else 0.0
        scores.append(fsum([weights[term] * times / (times + damping) for term, times in found.items()]))
    return scores
