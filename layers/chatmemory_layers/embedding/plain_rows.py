"""The bundled embedder for one query, ``plain_static``: the vectors of ``local.py`` in plain Python.

They equal the vectors of ``composite.py``, and are ready sooner: importing numpy takes some 60 ms, this some 5 ms for a
question.  For many texts, or long ones, numpy is much faster.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import repeat
from math import log, sqrt
from typing import Final, final

from chatmemory.effect import Effect, Layer
from chatmemory.embedding.query_embedder import QueryEmbedder, QueryEmbedderTag
from chatmemory_layers.embedding.bundled import MODEL, ROWS, SCALES, mapped_numbers, vocabulary
from chatmemory_layers.embedding.text_features import (
    DIM,
    IS_LIGHT,
    LIGHT,
    LONGEST_READ,
    PLACES,
    WordPiece,
    hashed_share,
    static_pieces,
    text_features,
)


def plain_vector(text: str) -> list[float] | None:
    """Return the vector of *text*, of length 1; None when neither half of the model knows any part of it."""
    read = text[:LONGEST_READ]
    hashed = hashed_share(read)
    static = _of_length(_bundled().sum_of(read), sqrt(1 - hashed))
    features = _of_length(_sum_of_features(read), sqrt(hashed))
    vector = _of_length([*static, *features], 1.0)
    return vector if any(vector) else None


def _sum_of_features(text: str) -> list[float]:
    """Return the sum of the features, each with its weight, its sign, and the logarithm of its number of occurrences."""
    total = [0.0] * DIM
    for code, times in Counter(text_features(text)).items():
        weight = (LIGHT if code & IS_LIGHT else 1.0) * (1 + log(times))
        total[(code >> 1) & PLACES] += weight if code & 1 else -weight
    return total


def _of_length(vector: Sequence[float], length: float) -> list[float]:
    """Return *vector* scaled to *length*; a zero vector stays zero."""
    present = sqrt(sum(number * number for number in vector))
    return [number * length / present for number in vector] if present else list(vector)


@final
class _PlainRows:
    """``StaticRows`` without numpy: rows of small numbers, each with the scale that it was divided by."""

    def __init__(self, pieces: WordPiece, rows: memoryview[int], scales: memoryview[float]) -> None:
        self._pieces = pieces
        self._rows = rows
        self._scales = scales
        self._dim = len(rows) // len(scales)

    def sum_of(self, text: str) -> list[float]:
        """Return the sum of the rows of the pieces of *text*, each with its weight."""
        total = [0.0] * self._dim
        places, weights = static_pieces(self._pieces, text)
        weighed: defaultdict[int, float] = defaultdict(float)
        for place, weight in zip(places, weights or repeat(1.0)):  # noqa: B905  repeat never ends
            weighed[place] += weight
        for place, times in weighed.items():
            scale = self._scales[place] * times
            row = self._rows[place * self._dim : (place + 1) * self._dim]
            total = [sum_ + scale * number for sum_, number in zip(total, row, strict=True)]
        return total


@cache
def _bundled() -> _PlainRows:
    return _PlainRows(
        WordPiece(vocabulary()), mapped_numbers(ROWS).cast("b"), mapped_numbers(SCALES).cast("f")
    )


@final
class PlainStatic(QueryEmbedder):
    """Embeds queries by the bundled table of words; it never fails, except by a defect."""

    @property
    def model(self) -> str:
        """The model of ``static``, which makes the same vectors."""
        return MODEL

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None]:
        return Effect.sync(lambda: plain_vector(text))


plain_static: Final = Layer.succeed(QueryEmbedderTag, PlainStatic())
