"""``KeptItems``: every promise of ``ItemRepository`` but durability, in a dictionary.

The executable specification: ``InMemoryItemRepository`` hands its answers out as effects, and the laws ask it what any
other repository has to answer.  No method waits for anything, so each is a transaction by itself.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from typing import Final, TypeVar, final

from attrs import define, evolve, field, frozen

from chatmemory.events.kept_log import KeptLog
from chatmemory.items.item_ranking import Rankable, ranked
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemSearch,
    Labels,
    StoredItem,
    change_of_put,
    change_of_sweep,
    last_of_each,
)

A = TypeVar("A")

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


@final
@frozen
class KeptItem:
    """An item, and what it is found by; *place* tells which of two was made later."""

    place: int
    put: ItemPut
    item: StoredItem
    expires_at: datetime | None

    def is_there(self, now: datetime) -> bool:
        """Whether its lifetime is not over."""
        return self.expires_at is None or self.expires_at > now


@final
@define(eq=False)
class KeptItems:
    """Items by their names, those whose lifetime is over included until they are swept."""

    rows: dict[ItemName, KeptItem] = field(factory=dict[ItemName, KeptItem])
    log: KeptLog = field(factory=KeptLog)
    _places: Iterator[int] = field(factory=lambda: count(1), init=False, repr=False)

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> None:
        """See ``ItemRepository.write``."""
        last = last_of_each(puts)
        gone = [put for put in last if put.value is None and put.name in self.rows]
        kept = [put for put in last if put.value is not None]
        for put in last:
            self._put(put, now)
        self.log.note(map(change_of_put, [*gone, *kept]))

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> A:
        """See ``ItemRepository.change``."""
        change = steps()
        answer: A
        try:
            names = next(change)
            while True:
                names = change.send(self.read(names, now=now))
        except StopIteration as end:
            puts, answer = end.value
        self.write(puts, now=now)
        return answer

    def read(self, names: tuple[ItemName, ...], *, now: datetime) -> tuple[StoredItem | None, ...]:
        """See ``ItemRepository.read``."""
        return tuple([row.item if (row := self._there(name, now)) else None for name in names])

    def search(self, search: ItemSearch, /, *, now: datetime) -> tuple[StoredItem, ...]:
        """See ``ItemRepository.search``."""
        rows = sorted(
            self._below(search.prefix, now), key=lambda row: (row.item.updated_at, row.place), reverse=True
        )
        fitting = (row for row in rows if search.admits(row.item.value))
        if not search.is_query:
            return tuple([row.item for row in islice(fitting, search.offset, search.offset + search.limit)])
        found = {row.place: row for row in fitting}
        items = [
            Rankable(
                row.place,
                (row.item.updated_at - EPOCH) // MICROSECOND,
                row.put.terms,
                _similarity(search, row.put),
            )
            for row in found.values()
        ]
        return tuple([evolve(found[place].item, score=score) for place, score in ranked(search, items)])

    def namespaces(self, prefix: Labels, *, now: datetime) -> tuple[Labels, ...]:
        """See ``ItemRepository.namespaces``."""
        return tuple(sorted({row.item.name.namespace for row in self._below(prefix, now)}))

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> None:
        """See ``ItemRepository.refresh``."""
        for name in names:
            row = self._there(name, now)
            if row is not None:
                self.rows[name] = evolve(row, expires_at=_end(row.put.lifetime, now))

    def sweep(self, *, now: datetime) -> int:
        """See ``ItemRepository.sweep``."""
        gone = [name for name, row in self.rows.items() if not row.is_there(now)]
        for name in gone:
            del self.rows[name]
        self.log.note(map(change_of_sweep, gone))
        return len(gone)

    def _there(self, name: ItemName, now: datetime) -> KeptItem | None:
        row = self.rows.get(name)
        return row if row is not None and row.is_there(now) else None

    def _below(self, prefix: Labels, now: datetime) -> list[KeptItem]:
        return [
            row
            for name, row in self.rows.items()
            if name.namespace[: len(prefix)] == prefix and row.is_there(now)
        ]

    def _put(self, put: ItemPut, now: datetime) -> None:
        if put.value is None:
            self.rows.pop(put.name, None)
            return
        former = self._there(put.name, now)
        item = StoredItem(
            put.name,
            put.value,
            created_at=now if former is None else former.item.created_at,
            updated_at=now,
            has_lifetime=put.lifetime is not None,
        )
        place = next(self._places) if former is None else former.place
        self.rows[put.name] = KeptItem(place, put, item, _end(put.lifetime, now))


def _end(lifetime: timedelta | None, now: datetime) -> datetime | None:
    if lifetime is None:
        return None
    try:
        return now + lifetime
    except OverflowError:
        return None  # behind all calendars


def _similarity(search: ItemSearch, put: ItemPut) -> float | None:
    """Return the cosine of the query and the best passage; passages of another length are not compared."""
    query = search.vector
    if query is None or put.model != search.model:
        return None
    return max((float(vector @ query) for vector in put.vectors if vector.size == query.size), default=None)
