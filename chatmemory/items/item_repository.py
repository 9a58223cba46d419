"""``ItemRepository``: what keeps the items of a store of documents by namespace and key, as agent frameworks have it.

An item is no memory: it is rewritten in its place, leaves no past behind, and its namespace has as many labels as its
owner likes.  So it has tables of its own, beside the memories in the same store.  What framework it serves, and which
texts of a value are embedded, is for ``chatmemory.integrations``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias, TypeVar, final

from attrs import field, frozen

from chatmemory.effect import Effect, Tag
from chatmemory.embedding.embedder import Vector
from chatmemory.errors import RepositoryError
from chatmemory.items.item_condition import Condition

A = TypeVar("A")

Labels: TypeAlias = tuple[str, ...]
"""A namespace: none of its labels is empty or holds a ``.`` or a NUL.

The first says whose items they are (``langgraph``), so that nobody who searches through their own sees those of others.
"""


@final
@frozen(slots=False)  # made for every item, see messages.py
class ItemName:
    """Where an item stands; a key holds no NUL."""

    namespace: Labels
    key: str


@final
@frozen(slots=False)
class ItemPut:
    """An item to be stored, or removed.

    Attributes:
        value: JSON as ``json.dumps`` writes it, which comes back as it is; None: the item is removed.
        terms: the words by which it is found, see ``MemoryDraft.terms``; None: by none.
        model: whose vectors *vectors* are.
        vectors: of its passages; the best one counts.
        lifetime: it is gone so long after it was put or refreshed; None: it stays.
    """

    name: ItemName
    value: str | None
    terms: str | None = None
    model: str = ""
    vectors: tuple[Vector, ...] = field(default=(), eq=False, repr=False)
    lifetime: timedelta | None = None


def last_of_each(puts: Sequence[ItemPut]) -> list[ItemPut]:
    """Return the last put of each name, in their order."""
    last = {put.name: put for put in puts}
    return list(last.values()) if len(last) == len(puts) else [put for put in puts if last[put.name] is put]


@final
@frozen(slots=False)  # made for every item, see messages.py
class StoredItem:
    """An item as it is stored; *score* of a search, None where nothing was asked."""

    name: ItemName
    value: str
    created_at: datetime
    updated_at: datetime
    has_lifetime: bool
    score: float | None = None


@final
@frozen
class ItemSearch:
    """Which items; without *terms* and *vector* all of them, that which was put last first, otherwise the best first.

    Attributes:
        prefix: the first labels of their namespaces; ``()``: of any.
        conditions: all of which their value fulfils.
        terms: the words of a query.
        vector: of *model*.
    """

    prefix: Labels
    limit: int
    offset: int = 0
    conditions: tuple[Condition, ...] = ()
    terms: tuple[str, ...] = ()
    model: str = ""
    vector: Vector | None = field(default=None, eq=False, repr=False)

    @property
    def is_query(self) -> bool:
        """Whether the best are asked for, and not the newest."""
        return bool(self.terms) or self.vector is not None

    def admits(self, value: str) -> bool:
        """Tell whether *value*, as an item has it, fulfils the conditions."""
        if not self.conditions:
            return True
        read = json.loads(value)
        return all(condition.holds(read) for condition in self.conditions)


ItemChange: TypeAlias = Generator[
    tuple[ItemName, ...], tuple[StoredItem | None, ...], tuple[tuple[ItemPut, ...], A]
]
"""What is to be done with items that have to be read first.

It yields names and is sent their items, None where there is none, as often as it likes; then it returns what is to be
put, and an answer.
"""


class ItemRepository(Protocol):
    """Keeps items.  Every method is one transaction; no driver exception escapes.

    An item whose lifetime is over at *now* is not there, whether it was removed yet or not.
    """

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """Store and remove, all or nothing; of one name the last counts.  What is put again keeps its ``created_at``."""
        ...

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        """Read, decide and write, while nobody else writes items; return the answer of *steps*.

        *steps* is called again when the transaction has to begin anew, so it does nothing else; others wait for it.
        """
        ...

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        """Return the item of each name, None where there is none."""
        ...

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        """Return what *search* asks for, see ``item_ranking.py``."""
        ...

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        """Return each namespace below *prefix* that has an item, in the order of their labels."""
        ...

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """Begin the lifetimes of these items anew."""
        ...

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        """Remove the items whose lifetime is over; return how many."""
        ...


class ItemRepositoryTag(Tag[ItemRepository]):
    """Where layers provide ``ItemRepository``."""
