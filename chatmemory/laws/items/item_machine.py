"""``ItemMachine``: runs any sequence of operations on an item repository and on the model, and compares them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from chatmemory.embedding.embedder import Vector
from chatmemory.items.item_repository import (
    Condition,
    ItemChange,
    ItemName,
    ItemPut,
    ItemSearch,
    Labels,
    StoredItem,
)
from chatmemory.items.kept_items import KeptItems
from chatmemory.laws.items import item_witness
from chatmemory.laws.items.item_witness import (
    ALL,
    LABELS,
    LIFETIMES,
    MODEL,
    QUERIES,
    Found,
    ItemObservation,
    ItemWitness,
    found,
    keys_of,
)
from chatmemory.laws.kit.law import Host, expect
from chatmemory.laws.kit.side_by_side import SideBySide
from chatmemory.laws.memories.memory_witness import TERMS, VECTORS

PUT: Final = "L1 put: an item reads as it was put, and nothing else changes"
FOUND: Final = (
    "L8 found: a query finds all items with one of its words or a vector of its model, with their scores"
)
WINDOW: Final = "L10 window: a list is the part of the whole that its prefix and its conditions select"
REFRESH: Final = "E2 refresh: a refresh restarts lifetimes and changes nothing else"
SWEEP: Final = "E3 sweep: a sweep changes nothing that can be read"
PAST: Final = "L27 past: as of a version or an instant an item reads as it did then, while that value is kept"
UNDO: Final = "L29 undo: the newest put or removal is undone, while the value before is kept"
FORGET: Final = "L30 forget: a forgotten item is gone with its earlier values, and nothing else is"
CHANGE: Final = "L7 race: a change reads the current items, and its puts are stored"

_WHOSE: Final = item_witness.names.map(lambda name: ItemName(*name))
_PUT: Final = st.builds(
    ItemPut,
    _WHOSE,
    item_witness.values,
    terms=item_witness.terms,
    model=item_witness.models,
    vectors=item_witness.vectors,
    lifetime=item_witness.lifetimes,
    keeps_past=st.booleans(),
)
_PUTS: Final = st.lists(_PUT, max_size=4)
_LASTING: Final = st.builds(
    ItemPut,
    _WHOSE,
    st.sampled_from(item_witness.VALUES),
    terms=item_witness.terms,
    lifetime=st.sampled_from((None, *LIFETIMES[2:])),
)
_PREFIXES: Final = st.just(()) | st.sampled_from(LABELS[:5])
"""Half of them are the whole space, because few samples share a namespace."""


class ItemMachine(SideBySide[ItemWitness]):
    """Writes, queries, reopenings and the passing of time in any order."""

    def __init__(self, host: Host[ItemWitness], *, is_durable: bool) -> None:
        super().__init__(host, is_durable=is_durable)
        self.model: KeptItems = KeptItems()

    @initialize(puts=st.lists(_LASTING, min_size=4, max_size=8))
    def fill(self, puts: Sequence[ItemPut]) -> None:
        """Store the items of the first queries."""
        self.write(puts)

    @rule(puts=_PUTS)
    def write(self, puts: Sequence[ItemPut]) -> None:
        """Put and remove items."""
        named, now = self._named(puts), self._later()
        self.host.ask(lambda witness: witness.write(*named, now=now))
        self.model.write(named, now=now)
        self._agree(PUT)

    @rule(puts=_PUTS, names=st.lists(item_witness.names, max_size=3))
    def change(self, puts: Sequence[ItemPut], names: Sequence[tuple[Labels, str]]) -> None:
        """Read items and put others, in one change."""
        named, read, now = self._named(puts), self._names(names), self._later()

        everything = ItemSearch((self.space,), ALL)

        def steps() -> ItemChange[Any]:
            items = yield read
            listed = yield everything
            return named, (items, {item.name: item for item in listed if item is not None})

        answer = self.host.ask(lambda witness: witness.get(witness.repository.change(steps, now=now)))
        listed = {item.name: item for item in self.model.search(everything, now=now)}
        predicted = self.model.read(read, now=now), listed
        expect(answer, predicted, f"what a change reads of {read}, and all that it finds", law=CHANGE)
        self.model.write(named, now=now)
        self._agree(CHANGE)

    @rule(name=item_witness.names)
    def undo(self, name: tuple[Labels, str]) -> None:
        """Undo the newest change of an item."""
        (undone,), now = self._names([name]), self._later()
        self._same(UNDO, "undo", undone, now=now)
        self._agree(UNDO)

    @rule(names=st.lists(item_witness.names, max_size=2))
    def forget(self, names: Sequence[tuple[Labels, str]]) -> None:
        """Forget items with their earlier values."""
        self._same(FORGET, "forget", self._names(names))
        self._agree(FORGET)

    @rule(name=item_witness.names, as_of=st.integers(-12, 6))
    def read_as_of(self, name: tuple[Labels, str], as_of: int) -> None:
        """Read an item as of a version, or as of some minutes ago."""
        now = self._now()
        at = as_of if as_of > 0 else now + timedelta(minutes=as_of)
        self._same(PAST, "read", self._names([name]), now=now, as_of=at)

    @rule(names=st.lists(item_witness.names, max_size=3))
    def refresh(self, names: Sequence[tuple[Labels, str]]) -> None:
        """Restart lifetimes."""
        self._same(REFRESH, "refresh", self._names(names), now=self._later())
        self._agree(REFRESH)

    @rule()
    def sweep(self) -> None:
        """Remove expired items."""
        now = self._later()
        self.host.ask(lambda witness: witness.get(witness.repository.sweep(now=now)))
        self.model.sweep(now=now)
        self._agree(SWEEP)

    @rule(
        prefix=_PREFIXES,
        conditions=st.lists(st.sampled_from(item_witness.BITING), max_size=3),
        limit=st.integers(0, 3),
    )
    def read_list(self, prefix: Labels, conditions: Sequence[Condition], limit: int) -> None:
        """Read a list, its items that fulfil each condition, and the pages of all these lists, with one page after the end."""
        for asked in ((), *((condition,) for condition in conditions)):
            whole = self._search(prefix, conditions=asked)
            expect(
                found(whole),
                self._found(prefix, conditions=asked),
                f"the list below {prefix} of {asked}",
                law=WINDOW,
            )
            for offset in range(0, len(whole) + limit, max(limit, 1)):
                page = self._search(prefix, limit=limit, offset=offset, conditions=asked)
                what = f"{limit} from {offset} of the list below {prefix} of {asked}"
                expect(keys_of(page), keys_of(whole[offset : offset + limit]), what, law=WINDOW)

    @rule(
        prefix=_PREFIXES,
        terms=st.lists(st.sampled_from(TERMS[:6]), max_size=3, unique=True).map(tuple),
        vector=st.none() | st.sampled_from(VECTORS),
        condition=st.none() | st.sampled_from(item_witness.BITING),
    )
    def find(
        self, prefix: Labels, terms: tuple[str, ...], vector: Vector | None, condition: Condition | None
    ) -> None:
        """Search by words, by a vector, or by both."""
        search: dict[str, Any] = {"terms": terms, "model": MODEL, "vector": vector}
        search["conditions"] = () if condition is None else (condition,)
        expect(
            found(self._search(prefix, **search)),
            self._found(prefix, **search),
            f"what is found below {prefix} by {terms}, {vector}",
            law=FOUND,
        )

    def _agree(self, law: str) -> None:
        """Compare all that can be read."""
        names = [*self.model.rows]
        observed = self.host.ask(lambda witness: self._speaking(witness).observe(names, now=self._now()))
        expect(observed, self._predicted(), "what is read", law=law)

    def _predicted(self) -> ItemObservation:
        """Return the expected result of ``ItemWitness.observe``."""
        space, now = (self.space,), self._now()
        return ItemObservation(
            items={item.name: item for item in self.model.search(ItemSearch(space, ALL), now=now)},
            namespaces=self.model.namespaces(space, now=now),
            found=tuple([self._found(**query) for query in QUERIES]),
        )

    def _found(self, labels: Labels = (), **search: Any) -> Found:
        asked = evolve(ItemSearch((self.space, *labels), ALL), **search)
        return found(self.model.search(asked, now=self._now()))

    def _search(self, labels: Labels, **search: Any) -> tuple[StoredItem, ...]:
        return self.host.ask(
            lambda witness: self._speaking(witness).search(labels, now=self._now(), **search)
        )

    def _speaking(self, witness: ItemWitness) -> ItemWitness:
        return evolve(witness, space=self.space)

    def _named(self, puts: Sequence[ItemPut]) -> tuple[ItemPut, ...]:
        return tuple([evolve(put, name=self._name(put.name)) for put in puts])

    def _names(self, names: Sequence[tuple[Labels, str]]) -> tuple[ItemName, ...]:
        return tuple([self._name(ItemName(labels, key)) for labels, key in names])

    def _name(self, name: ItemName) -> ItemName:
        return ItemName((self.space, *name.namespace), name.key)
