"""Samples for the laws of items: values, conditions on them, and names that have confused stores before."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product
from typing import Any, Final

from hypothesis import strategies as st

from chatmemory.items.item_condition import Condition, Relation
from chatmemory.items.item_repository import ItemName, ItemPut, Labels
from chatmemory.laws.kit.samples import ALIKE, START, TEXTS
from chatmemory.laws.memories.memory_samples import TERMS, VECTORS

MODEL: Final = "law"
OTHER_MODEL: Final = "Law"
"""A model whose vectors are unrelated to those of ``MODEL``, although their lengths are equal."""

LABELS: Final[tuple[Labels, ...]] = (
    ("a",),
    ("ab",),
    ("a", "b"),
    ("A",),
    ("a%",),
    ("a*",),
    ("a/", "b"),
    ("a-", "b"),
    ("用户", "梅"),
    ("用户",),
    ("é",),
    ("e\u0301",),
    ("😀", "'; --"),
)
"""Namespaces that differ by case, accents, wildcards, or the end of a label."""

KEYS: Final = (*dict.fromkeys([name for alike in ALIKE for name in alike]), "", "a.b", "键" * 500)

VALUES: Final = (
    *(
        "{}",
        '{"n": 1}',
        '{"n": 1.0}',
        '{"n": true}',
        '{"n": false}',
        '{"n": null}',
        '{"n": 0}',
        '{"n": -0.0}',
    ),
    *(
        '{"n": "1"}',
        '{"n": "梅"}',
        '{"n": "梅花"}',
        '{"n": ""}',
        '{"n": 0.1}',
        '{"n": [1]}',
        '{"n": {"b": 5}}',
    ),
    *(
        '{"名": "梅"}',
        json.dumps({"名": "梅", "😀": 1}),
        '{"名": 5}',
        '{"n": 100000000000000000000}',
        '{"n": 1e+308}',
    ),
    *('{"n": NaN}', '{"n": Infinity}', '{"n": "\\u0000"}', '{"n": "\\ud800"}', '{"n": 1, "m": "\\u0000"}'),
    *(
        '{"a": {"b": 5}}',
        '{"a.b": 5}',
        '{"a.b": null, "a": {"b": 5}}',
        '{"a": [{"b": 5}]}',
        '{"a": {"b": "5"}}',
    ),
    *("5", '"n"', "null", "[1]", '[{"n": 1}]', json.dumps({"text": TEXTS[4], "n": 5}, ensure_ascii=False)),
)
"""Values in the form of ``json.dumps``; some of them are not JSON for a database, or a different value."""

_FIELDS: Final = ("n", "名", "😀", "a", "a.b", "", 'n"', "a b")
_RELATIONS: Final[tuple[Relation, ...]] = ("is", "is not", "above", "at least", "below", "at most")
_OPERANDS: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, 1.0, 5, 0.1, -3, 10**20, 1e308, 10**400, float("inf"), float("nan")),
    *("", "1", "5", "梅", "\0", "\ud800", "😀", [1], {"b": 5}, []),
)

BITING: Final = tuple(
    [
        Condition(field, relation, operand)
        for field, relation, operand in product(("n", "a.b"), _RELATIONS[:4], (1, "梅", None))
    ]
)
"""A few conditions that some of the values fulfil and others do not."""

LIFETIMES: Final = (None, timedelta(microseconds=1), timedelta(minutes=2), timedelta.max)


def conditions() -> Iterator[Condition]:
    """Return every condition that the samples can be tested with."""
    for field, relation, operand in product(_FIELDS, _RELATIONS, _OPERANDS):
        yield Condition(field, relation, operand)


def put(name: ItemName, value: str | None = '{"n": 1}', **rest: Any) -> ItemPut:
    """Return an item to store."""
    return ItemPut(name, value, **rest)


def later(minutes: float) -> datetime:
    """Return an instant some minutes after the start."""
    return START + timedelta(minutes=minutes)


names = st.tuples(st.sampled_from(LABELS[:5]), st.sampled_from(KEYS[:4]))
"""Incomplete names; only a few, so that operations meet the same item."""

values = st.none() | st.sampled_from(VALUES)
lifetimes = st.sampled_from(LIFETIMES)
terms = st.none() | st.lists(st.sampled_from(TERMS[:5]), max_size=3, unique=True).map(" ".join)
vectors = st.lists(st.sampled_from(VECTORS), max_size=2).map(tuple)
models = st.sampled_from((MODEL, MODEL, OTHER_MODEL))
