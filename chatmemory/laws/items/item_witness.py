"""``ItemWitness``: asks an item repository on behalf of a law, and observes all that can be read of its items.

``ItemRepositoryUnderTest``: the base class of all groups of laws for item repositories.  The samples are values,
conditions on them, and names that have confused stores before.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Any, ClassVar, Final, TypeAlias, final

from attrs import evolve, frozen
from hypothesis import strategies as st

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.errors import NotUndoableError, RepositoryError
from chatmemory.items.item_repository import (
    Condition,
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    Relation,
    StoredItem,
)
from chatmemory.laws.kit.law import Asker, RepositoryUnderTest, expect
from chatmemory.laws.kit.samples import ALIKE, START, TEXTS
from chatmemory.laws.memories.memory_witness import TERMS, VECTORS, rounded

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

QUERIES: Final[tuple[dict[str, Any], ...]] = (
    {"terms": TERMS},
    {"model": MODEL, "vector": VECTORS[0]},
    {"terms": TERMS[:2], "model": MODEL, "vector": VECTORS[3]},
)
"""Searches by words, by meaning, and by both."""

BITING: Final = tuple(
    [
        Condition(field, relation, operand)
        for field, relation, operand in product(("n", "a.b"), _RELATIONS[:4], (1, "梅", None))
    ]
)
"""A few conditions that some of the values fulfil and others do not."""

LIFETIMES: Final = (None, timedelta(microseconds=1), timedelta(minutes=2), timedelta.max)
ALL: Final = 1000  # more than any law stores

Found: TypeAlias = Mapping[ItemName, tuple[StoredItem, float | None]]
"""Items by name, each with its rounded score."""

names = st.tuples(st.sampled_from(LABELS[:5]), st.sampled_from(KEYS[:4]))
"""Incomplete names; only a few, so that operations meet the same item."""

values = st.none() | st.sampled_from(VALUES)
lifetimes = st.sampled_from(LIFETIMES)
terms = st.none() | st.lists(st.sampled_from(TERMS[:5]), max_size=3, unique=True).map(" ".join)
vectors = st.lists(st.sampled_from(VECTORS), max_size=2).map(tuple)
models = st.sampled_from((MODEL, MODEL, OTHER_MODEL))


@final
@frozen
class ItemObservation:
    """All that can be read of the items of a space at an instant.

    Attributes:
        found: the results by every word, by a vector, and by both.
    """

    items: Mapping[ItemName, StoredItem]
    namespaces: tuple[Labels, ...]
    found: tuple[Found, ...]


NOTHING: Final = ItemObservation(
    {}, (), tuple([dict[ItemName, tuple[StoredItem, float | None]]() for _ in QUERIES])
)
"""The observation of an empty space."""


@final
@frozen
class ItemWitness(Asker):
    """Asks one repository about its own items: the space is the first label of their namespaces."""

    ERRORS: ClassVar[tuple[type, ...]] = (NotUndoableError, RepositoryError)
    repository: ItemRepository

    def name(self, key: str, labels: Labels = ("a",)) -> ItemName:
        """Return a name in this space."""
        return ItemName(self.below(labels), key)

    def below(self, labels: Labels = ()) -> Labels:
        """Return a namespace in this space, or a prefix."""
        return (self.space, *labels)

    async def write(self, *puts: ItemPut, now: datetime) -> None:
        """Store and remove items."""
        await self.get(self.repository.write(puts, now=now))

    async def item(self, name: ItemName, *, now: datetime) -> StoredItem | None:
        """Return the item with a name; None when there is none."""
        (item,) = await self.get(self.repository.read((name,), now=now))
        return item

    async def search(self, labels: Labels = (), *, now: datetime, **search: Any) -> tuple[StoredItem, ...]:
        """Return the result of a search, by default everything below *labels*."""
        asked = evolve(ItemSearch(self.below(labels), ALL), **search)
        return await self.get(self.repository.search(asked, now=now))

    async def observe(self, names: Sequence[ItemName] = (), *, now: datetime) -> ItemObservation:
        """Return all that can be read, and check that the results agree with each other."""
        listed = await self.search(now=now)
        items = {item.name: item for item in listed}
        expect(len(items), len(listed), "names in the list")
        times = [item.updated_at for item in listed]
        expect(times, sorted(times, reverse=True), "the order of the list, that which was put last first")
        read = await self.get(self.repository.read(tuple(names), now=now))
        expect(read, tuple([items.get(name) for name in names]), f"what is read of {names}")
        return ItemObservation(
            items=items,
            namespaces=await self.get(self.repository.namespaces(self.below(), now=now)),
            found=tuple([found(await self.search(now=now, **query)) for query in QUERIES]),
        )


class ItemRepositoryUnderTest(RepositoryUnderTest[ItemWitness]):
    """An item repository: a layer that provides ``ItemRepositoryTag``."""

    repository: Layer[ItemRepositoryTag, Any, Any]

    async def witness(self, runtime: ManagedRuntime[ItemRepositoryTag], **witness: Any) -> ItemWitness:
        return ItemWitness(await runtime.service(ItemRepositoryTag), **witness)


def found(items: Sequence[StoredItem]) -> Found:
    """Return the results in a form that can be compared."""
    return {item.name: (evolve(item, score=None), rounded(item.score)) for item in items}


def keys_of(items: Sequence[StoredItem]) -> list[str]:
    """Return the keys, in order."""
    return [item.name.key for item in items]


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
