"""Converts items to columns and back, and computes the similarity of passages: the same for all backends."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Final

from chatmemory.embedding.embedder import Vector
from chatmemory.items.item_repository import Labels

SEPARATOR: Final = (
    "."  # no label contains it; it also follows the last label, so that ("a",) is not a prefix of ("ab",)
)
_BEHIND_SEPARATOR: Final = "/"  # the next code point
LONGEST_LIFETIME_US: Final = 1000 * 366 * 86_400 * 1_000_000
_REMEMBERED: Final = 512  # cached namespaces: many items share one


@lru_cache(_REMEMBERED)
def to_text(namespace: Labels) -> str:
    """Return *namespace* as the text of the column."""
    return "".join([label + SEPARATOR for label in namespace])


@lru_cache(_REMEMBERED)
def to_labels(text: str) -> Labels:
    """Return the labels from which ``to_text`` made *text*."""
    return tuple(text.split(SEPARATOR)[:-1])


def span(prefix: Labels) -> tuple[str, str | None]:
    """Return the first text of the namespaces below *prefix*, and the text before which they end; None: no such end."""
    if not prefix:
        return "", None
    text = to_text(prefix)
    return text, text[:-1] + _BEHIND_SEPARATOR


def best_similarities(query: Vector, passages: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """Return the cosine of *query* and the most similar passage of each item, by the item's key.

    Args:
        query: shape ``(dim,)``, of length 1.
        passages: the key of an item, and a vector as the column stores it; vectors of another length are ignored.
    """
    import numpy as np

    size = query.size * 4
    fitting = [passage for passage in passages if len(passage[1]) == size]
    if not fitting:
        return {}
    rows = np.frombuffer(b"".join([vector for _, vector in fitting]), dtype="<f4").reshape(-1, query.size)
    best: dict[int, float] = {}
    for (key, _), similarity in zip(fitting, (rows @ query).tolist(), strict=True):
        if similarity > best.get(key, -2.0):
            best[key] = similarity
    return best


def nearest(similarities: Mapping[int, float], most: int) -> list[tuple[int, float]]:
    """Return the *most* items with the highest similarity, and all others that tie with the last of them."""
    least = min(heapq.nlargest(most, similarities.values()), default=2.0)
    return [(key, similarity) for key, similarity in similarities.items() if similarity >= least]


def lifetime_us(lifetime: timedelta | None) -> int | None:
    """Return *lifetime* in microseconds, limited so that an instant plus it stays in range; None for None."""
    if lifetime is None:
        return None
    return min(lifetime // timedelta(microseconds=1), LONGEST_LIFETIME_US)


def vector_column(vector: Vector) -> bytes:
    """Return *vector* as the column stores it: float32, little endian."""
    return vector.astype("<f4", copy=False).tobytes()
