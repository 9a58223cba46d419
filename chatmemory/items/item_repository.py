"""``ItemRepository``: stores items by namespace and key, as agent frameworks keep documents.

An item is not a memory: a write replaces it, a few of its earlier values are kept, and its namespace has any number of
labels.  So items have separate tables, next to the memories in the same store.  The adapters in
``chatmemory.integrations`` decide which framework an item serves and which texts of its value are embedded.

``Condition`` compares a field of an item's value in the same way on every backend; a store may preselect items.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeGuard, TypeVar, final

from attrs import field, frozen

from chatmemory.access.namespace import UNOWNED
from chatmemory.effect import Do, Effect, Tag
from chatmemory.effect.services.clock import ClockTag
from chatmemory.embedding.embedder import Vector
from chatmemory.errors import NotUndoableError, RepositoryError
from chatmemory.events.event import AGE, Change, EventAction

Relation: TypeAlias = Literal["is", "is not", "above", "at least", "below", "at most"]

_SIGNS: dict[Relation, tuple[int, ...]] = {
    "above": (1,),
    "at least": (0, 1),
    "below": (-1,),
    "at most": (-1, 0),
}

A = TypeVar("A")

ALL: Final = sys.maxsize
"""The limit of a search that returns all items."""

Labels: TypeAlias = tuple[str, ...]
"""A namespace: none of its labels is empty or holds a ``.`` or a NUL.

The first says whose items they are (``langgraph``), so that nobody who searches through their own sees those of others.
"""


@final
@frozen(slots=False)  # made for every item, see messages.py
class ItemName:
    """The namespace and the key of an item; a key contains no NUL."""

    namespace: Labels
    key: str


@final
@frozen(slots=False)
class ItemPut:
    """An item to be stored, or removed.

    Attributes:
        name: its namespace and key.
        value: JSON as ``json.dumps`` writes it, returned exactly; None: remove the item.
        terms: the words by which it is found, see ``MemoryDraft.terms``; None: it is not found by words.
        model: the embedder of *vectors*.
        vectors: one for each passage of the item; a search compares the best one.
        lifetime: how long the item exists after it was put or refreshed; None: for ever.
        keeps_past: keep the value that is replaced or removed, with those before it, so that it can be read ``as_of`` and
            brought back by ``undo``.  Without it, and with a lifetime, nothing is kept: a removal leaves no content.
    """

    name: ItemName
    value: str | None
    terms: str | None = None
    model: str = ""
    vectors: tuple[Vector, ...] = field(default=(), eq=False, repr=False)
    lifetime: timedelta | None = None
    keeps_past: bool = False

    @property
    def keeps(self) -> bool:
        """Whether earlier values are kept."""
        return self.keeps_past and self.lifetime is None


@final
@frozen(slots=False)  # made for every item, see messages.py
class StoredItem:
    """A stored item.

    Attributes:
        score: its score in a search; None when nothing was searched for.
        version: 1 for the first value, one more with each put at a later instant; it goes on after a removal while earlier
            values are kept.
    """

    name: ItemName
    value: str
    created_at: datetime
    updated_at: datetime
    has_lifetime: bool
    score: float | None = None
    version: int = 1


@final
@frozen
class WholeItem:
    """An item with what it is found by; earlier values are not part of it.

    Attributes:
        terms: the words by which it is found; None: it is not found by words.
        model: the embedder of *vectors*; "" without vectors.
        vectors: one for each passage, in order, shape ``(dim,)``.
    """

    item: StoredItem
    terms: str | None
    model: str
    vectors: tuple[Vector, ...] = field(eq=False, repr=False)


@final
@frozen
class ItemSearch:
    """Which items to return.

    With *terms* or *vector* the best match comes first.  With neither, all items are returned, the newest write first.

    Attributes:
        prefix: the first labels of the namespace; ``()``: any namespace.
        limit: the largest number of items.
        offset: how many items to skip.
        conditions: the value of an item fulfils all of them.
        terms: the words of the query.
        model: the embedder of *vector*.
        vector: the vector of the query; None: vectors are not compared.
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
        """Whether the search ranks by a query, instead of returning the newest items."""
        return bool(self.terms) or self.vector is not None

    def admits(self, value: str) -> bool:
        """Return whether *value*, the JSON of an item, fulfils the conditions."""
        if not self.conditions:
            return True
        read = json.loads(value)
        return all(condition.holds(read) for condition in self.conditions)


Wanted: TypeAlias = tuple[ItemName, ...] | ItemSearch
"""What a change reads: items by their names, or those that a search finds."""

ItemReading: TypeAlias = Generator[Wanted, tuple[StoredItem | None, ...], A]
"""A part of an ``ItemChange`` that only reads."""

ItemChange: TypeAlias = Generator[Wanted, tuple[StoredItem | None, ...], tuple[tuple[ItemPut, ...], A]]
"""What is to be done with items that have to be read first.

It yields names and is sent their items, None where there is none, or a search and is sent what it finds, as often as it
likes; then it returns what is to be put, and an answer.
"""


class ItemRepository(Protocol):
    """Stores items.  Every method is one transaction; exceptions of a driver are returned as ``RepositoryError``.

    An item whose lifetime has ended at *now* is never returned, even if ``sweep`` has not removed it yet.
    """

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """Store and remove items, all or none.

        Args:
            puts: what to write; when a name occurs twice, the last one counts.  An item that already exists keeps its
                ``created_at``.  With ``keeps_past`` its previous value is kept until there are ``MOST_EARLIER`` newer
                ones, or until the log is pruned.  It is not kept if it was put at the same instant or has a lifetime.
            now: the time of the write, UTC.
        """
        ...

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        """Read, decide and write in one transaction, while all other writers of items wait.

        Args:
            steps: returns the steps, see ``ItemChange``.  It is called again when the transaction has to start again,
                so it must change nothing else.
            now: the time of the write, UTC.

        Returns:
            the answer of *steps*.
        """
        ...

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime, as_of: int | datetime | None = None
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        """Return the item of each name, in order; None for a name without an item.

        Args:
            names: which items.
            now: the present time, UTC.
            as_of: the version, or the instant, whose value is read, if it is kept; None: the present one.
        """
        ...

    def whole(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[WholeItem | None, ...], RepositoryError]:
        """Return the item of each name with what it is found by, in order; None for a name without an item.

        Args:
            names: which items.
            now: the present time, UTC.
        """
        ...

    def undo(
        self, name: ItemName, /, *, now: datetime
    ) -> Effect[StoredItem | None, NotUndoableError | RepositoryError]:
        """Take the newest put or removal of an item back, by a put of the value before, or by a removal.

        Vectors of earlier values are not kept: a restored value is found by its words until it is put again.

        Args:
            name: the item.
            now: the time of the write, UTC.

        Returns:
            the item now; None when its first put was taken back.

        Fails with:
            NotUndoableError: no earlier value is kept, or the item has a lifetime.
        """
        ...

    def forget(self, names: tuple[ItemName, ...], /) -> Effect[int, RepositoryError]:
        """Remove items with their earlier values, and return their number; only the log keeps a trace."""
        ...

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        """Return the items that *search* finds; ``item_ranking.py`` defines their scores.

        Args:
            search: which items.
            now: the present time, UTC.
        """
        ...

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        """Return each namespace below *prefix* that has an item, ordered by its labels.

        Args:
            prefix: the first labels of the namespace; ``()``: any namespace.
            now: the present time, UTC.
        """
        ...

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """Start the lifetimes of these items again.

        Args:
            names: which items; a name without an item is skipped.
            now: the new start of their lifetimes, UTC.
        """
        ...

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        """Remove the items whose lifetime has ended at *now* (UTC), and return how many."""
        ...


class ItemRepositoryTag(Tag[ItemRepository]):
    """The tag under which layers provide ``ItemRepository``."""


@Effect.gen
async def changed_items(do: Do[RepositoryError, ItemRepositoryTag], steps: Callable[[], ItemChange[A]]) -> A:
    """Do what ``ItemRepository.change`` does, at the present time."""
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    return await do(items.change(steps, now=now))


def items_below(prefix: Labels) -> ItemReading[list[StoredItem]]:
    """Return all items whose namespace begins with *prefix*."""
    found = yield ItemSearch(prefix, ALL)
    return [item for item in found if item is not None]


def removals_below(prefix: Labels) -> ItemReading[list[ItemPut]]:
    """Return the puts that remove all items whose namespace begins with *prefix*."""
    return [ItemPut(item.name, None) for item in (yield from items_below(prefix))]


def name_in_log(name: ItemName) -> str:
    """Return the target of events of an item: its labels and its key, as a JSON array."""
    return json.dumps([*name.namespace, name.key], ensure_ascii=False)


def labels_in_log(target: str) -> Labels:
    """Return the labels of the item in the target of an event."""
    *labels, _ = json.loads(target)
    return tuple(labels)


def change_of_put(put: ItemPut) -> Change:
    """Return the change of *put* for the log."""
    action: EventAction = "removed" if put.value is None else "stored"
    return Change(action, "item", name_in_log(put.name), UNOWNED)


def change_of_forgetting(name: ItemName) -> Change:
    """Return the change for the log when an item and its earlier values are forgotten."""
    return Change("forgotten", "item", name_in_log(name), UNOWNED)


def change_of_sweep(name: ItemName) -> Change:
    """Return the change for the log when the lifetime of an item is over."""
    return Change("expired", "item", name_in_log(name), UNOWNED, reason=AGE, is_by_itself=True)


def last_of_each(puts: Sequence[ItemPut]) -> list[ItemPut]:
    """Return the last put of each name, in their order."""
    last = {put.name: put for put in puts}
    return list(last.values()) if len(last) == len(puts) else [put for put in puts if last[put.name] is put]


@final
@frozen
class Condition:
    """A comparison of one field of an item with an operand.  A missing field counts as null.

    >>> at_least_18 = Condition("age", "at least", 18)
    >>> at_least_18.holds({"age": 20}), at_least_18.holds({"age": "20"}), at_least_18.holds({})
    (True, False, False)

    Attributes:
        field: the name of the field.  When no field has this name, it is a path of names (``a.b``).
        relation: how the field is compared with *operand*.
        operand: JSON.  Two numbers have an order, and so have two texts, by code points; no other values have one.
    """

    field: str
    relation: Relation
    operand: Any

    def holds(self, value: Any) -> bool:
        """Return whether *value*, JSON as Python objects, fulfils the condition."""
        found = self._found(value)
        if self.relation == "is":
            return _is_same(found, self.operand)
        if self.relation == "is not":
            return not _is_same(found, self.operand)
        return _order(found, self.operand) in _SIGNS[self.relation]

    def _found(self, value: Any) -> Any:
        if _is_object(value) and self.field in value:
            return value[self.field]
        here = value
        for name in self.field.split("."):
            here = here.get(name) if _is_object(here) else None
        return here


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _is_same(found: Any, wanted: Any) -> bool:
    """Return whether two values are equal in JSON: ``1`` equals ``1.0``, but not ``true``."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if _is_object(found) and _is_object(wanted):
        return found.keys() == wanted.keys() and all(_is_same(found[name], wanted[name]) for name in found)
    if _is_array(found) and _is_array(wanted):
        return len(found) == len(wanted) and all(map(_is_same, found, wanted))
    return bool(found == wanted)


def _order(found: Any, operand: Any) -> int | None:
    """Return -1, 0 or 1 for two numbers or two texts; None for other values, which are unordered."""
    if isinstance(found, bool) or isinstance(operand, bool):
        return None
    if isinstance(found, int | float) and isinstance(operand, int | float):
        return 1 if found > operand else -1 if found < operand else 0 if found == operand else None
    if isinstance(found, str) and isinstance(operand, str):
        return 0 if found == operand else 1 if found > operand else -1
    return None
