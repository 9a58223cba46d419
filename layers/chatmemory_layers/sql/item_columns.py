"""Converts items to columns and back, computes the similarity of passages, narrows conditions: the same for all backends."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from attrs import frozen

from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import Vector
from chatmemory.items.item_past import EarlierItem
from chatmemory.items.item_repository import Condition, ItemName, Labels, StoredItem, WholeItem
from chatmemory_layers.sql.columns import from_us

# No label contains it; it also follows the last label, so that ("a",) is not a prefix of ("ab",).
SEPARATOR: Final = "."
_BEHIND_SEPARATOR: Final = "/"  # the next code point
LONGEST_LIFETIME_US: Final = 1000 * 366 * 86_400 * 1_000_000
_REMEMBERED: Final = 512  # cached namespaces: many items share one
_PLAIN: Final = re.compile(r"[\w-]+")  # a name that a path can quote
_MARGIN: Final = 1e-9  # a database may parse numbers slightly differently

ITEM: Final = "namespace, key, value, created_at_us, updated_at_us, lifetime_us, version"
"""The columns of ``item_of``, after which more may follow."""
EARLIER_ITEM: Final = "version, value, search_terms, created_at_us, updated_at_us, ended_at_us"
"""The columns of ``earlier_item_of``."""


@lru_cache(_REMEMBERED)
def to_text(namespace: Labels) -> str:
    """Return *namespace* as the text of the column."""
    return "".join([label + SEPARATOR for label in namespace])


@lru_cache(_REMEMBERED)
def to_labels(text: str) -> Labels:
    """Return the labels from which ``to_text`` made *text*."""
    return tuple(text.split(SEPARATOR)[:-1])


def item_of(row: Sequence[Any], score: float | None = None) -> StoredItem:
    """Return an item from its row."""
    namespace, key, value, created_at_us, updated_at_us, lifetime, version, *_ = row
    created_at = from_us(created_at_us)
    updated_at = created_at if updated_at_us == created_at_us else from_us(updated_at_us)
    name = ItemName(to_labels(namespace), key)
    return StoredItem(name, value, created_at, updated_at, lifetime is not None, score, version)


def earlier_item_of(name: ItemName, row: Sequence[Any]) -> EarlierItem:
    """Return the earlier value of an item from its row."""
    version, value, terms, created_at_us, updated_at_us, ended_at_us = row
    created_at, updated_at = from_us(created_at_us), from_us(updated_at_us)
    item = StoredItem(name, value, created_at, updated_at, has_lifetime=False, version=version)
    return EarlierItem(item, terms, from_us(ended_at_us))


def whole_item(item: StoredItem, terms: str | None, passages: Sequence[tuple[str, bytes]]) -> WholeItem:
    """Return an item with what it is found by; *passages*: model and vector of each, in order."""
    vectors = tuple([np.frombuffer(vector, "<f4").astype(np.float32) for _, vector in passages])
    return WholeItem(item, terms, passages[0][0] if passages else "", vectors)


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


@frozen
class ValueRange:
    """The range in which the value of a field must be.

    Attributes:
        paths: the paths of the field, valid in SQLite and PostgreSQL; the value at one of them has to meet the condition.
        low: the lower bound; None: there is none.  When *low* and *high* are both None, the value has to be null.
        high: the upper bound; None: there is none.
    """

    paths: tuple[str, ...]
    low: float | str | bool | None
    high: float | str | bool | None


def narrowing(conditions: Sequence[Condition]) -> list[ValueRange]:
    """Return the ranges that *conditions* require, for the fields that a database can check.

    Python checks the remaining items.  A database may leave too many of them, because ``ItemSearch.admits`` decides, but
    never too few.  So it checks nothing where its JSON and Python's JSON could differ.
    """
    ranges: list[ValueRange] = []
    for condition in conditions:
        names = condition.field.split(".")
        if condition.relation == "is not" or not all(map(_PLAIN.fullmatch, names)):
            continue
        is_equal, operand = condition.relation == "is", condition.operand
        paths = _paths(condition.field, names)
        if operand is None or isinstance(operand, bool):
            if is_equal:
                ranges.append(ValueRange(paths, operand, operand))
        elif (bounds := _bounds(operand)) is not None:
            low, high = bounds
            has_low, has_high = (
                condition.relation in {"above", "at least"},
                condition.relation in {"below", "at most"},
            )
            ranges.append(
                ValueRange(
                    paths, low if is_equal or has_low else None, high if is_equal or has_high else None
                )
            )
    return ranges


def _paths(field: str, names: Sequence[str]) -> tuple[str, ...]:
    below = "$" + "".join([f'."{name}"' for name in names])
    return (below,) if len(names) == 1 else (below, f'$."{field}"')


def _bounds(operand: Any) -> tuple[float, float] | tuple[str, str] | None:
    """Return two bounds for all values that equal *operand* in Python; None when bounds cannot be given."""
    if isinstance(operand, str):
        is_text = "\0" not in operand and not any("\ud800" <= character <= "\udfff" for character in operand)
        return (operand, operand) if is_text else None
    if not isinstance(operand, int | float):
        return None
    try:
        number = float(operand)
    except OverflowError:
        return None
    margin = abs(number) * _MARGIN
    return (number - margin, number + margin) if math.isfinite(2 * number) else None
