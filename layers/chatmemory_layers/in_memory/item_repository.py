"""``InMemoryItemRepository``: every promise of ``ItemRepository`` but durability, in a dictionary."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count, islice
from typing import Final, TypeVar, final

from attrs import evolve, frozen

from chatmemory.effect import Effect, Layer
from chatmemory.errors import RepositoryError
from chatmemory.items.item_ranking import Rankable, ranked
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
)
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.item_columns import (
    LONGEST_LIFETIME_US,
    best_similarities,
    last_of_each,
    vector_column,
)

A = TypeVar("A")

LONGEST_LIFETIME: Final = timedelta(microseconds=LONGEST_LIFETIME_US)


@final
@frozen
class Row:
    """An item, and what it is found by; *place* tells which of two was made later."""

    place: int
    put: ItemPut
    item: StoredItem
    expires_at: datetime | None

    def is_there(self, now: datetime) -> bool:
        """Whether its lifetime is not over."""
        return self.expires_at is None or self.expires_at > now


@final
class InMemoryItemRepository:
    """Items by their names, gone with the process.  No method waits for anything, so each is a transaction by itself."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: dict[ItemName, Row] = {}
        self._places = count(1)

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """See ``ItemRepository.write``."""
        return self._database.run("store items", lambda: self._put_all(puts, now))

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        """See ``ItemRepository.change``."""
        return self._database.run("change items", lambda: self._change(steps(), now))

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        """See ``ItemRepository.read``."""
        return self._database.run("read items", lambda: self._items(names, now))

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        """See ``ItemRepository.search``."""
        return self._database.run("search items", lambda: self._search(search, now))

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        """See ``ItemRepository.namespaces``."""
        return self._database.run(
            "list namespaces",
            lambda: tuple(sorted({row.item.name.namespace for row in self._below(prefix, now)})),
        )

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        """See ``ItemRepository.refresh``."""
        return self._database.run("refresh items", lambda: self._refresh_all(names, now))

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        """See ``ItemRepository.sweep``."""
        return self._database.run("sweep items", lambda: self._sweep(now))

    def _items(self, names: tuple[ItemName, ...], now: datetime) -> tuple[StoredItem | None, ...]:
        return tuple([row.item if (row := self._there(name, now)) else None for name in names])

    def _there(self, name: ItemName, now: datetime) -> Row | None:
        row = self._rows.get(name)
        return row if row is not None and row.is_there(now) else None

    def _below(self, prefix: Labels, now: datetime) -> list[Row]:
        return [
            row
            for name, row in self._rows.items()
            if name.namespace[: len(prefix)] == prefix and row.is_there(now)
        ]

    def _put_all(self, puts: tuple[ItemPut, ...], now: datetime) -> None:
        for put in last_of_each(puts):
            self._put(put, now)

    def _put(self, put: ItemPut, now: datetime) -> None:
        if put.value is None:
            self._rows.pop(put.name, None)
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
        self._rows[put.name] = Row(place, put, item, _end(put.lifetime, now))

    def _change(self, change: ItemChange[A], now: datetime) -> A:
        answer: A
        try:
            names = next(change)
            while True:
                names = change.send(self._items(names, now))
        except StopIteration as end:
            puts, answer = end.value
        self._put_all(puts, now)
        return answer

    def _refresh_all(self, names: tuple[ItemName, ...], now: datetime) -> None:
        for name in names:
            row = self._there(name, now)
            if row is not None:
                self._rows[name] = evolve(row, expires_at=_end(row.put.lifetime, now))

    def _sweep(self, now: datetime) -> int:
        gone = [name for name, row in self._rows.items() if not row.is_there(now)]
        for name in gone:
            del self._rows[name]
        return len(gone)

    def _search(self, search: ItemSearch, now: datetime) -> tuple[StoredItem, ...]:
        rows = sorted(
            self._below(search.prefix, now), key=lambda row: (row.item.updated_at, row.place), reverse=True
        )
        fitting = (row for row in rows if search.admits(row.item.value))
        if not search.is_query:
            return tuple([row.item for row in islice(fitting, search.offset, search.offset + search.limit)])
        found = {row.place: row for row in fitting}
        items = [
            Rankable(row.place, to_us(row.item.updated_at), row.put.terms, _similarity(search, row.put))
            for row in found.values()
        ]
        return tuple([evolve(found[place].item, score=score) for place, score in ranked(search, items)])


def _end(lifetime: timedelta | None, now: datetime) -> datetime | None:
    return None if lifetime is None else now + min(lifetime, LONGEST_LIFETIME)


def _similarity(search: ItemSearch, put: ItemPut) -> float | None:
    if search.vector is None or put.model != search.model:
        return None
    return best_similarities(search.vector, [(0, vector_column(vector)) for vector in put.vectors]).get(0)


item_repository = database >> Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(InMemoryItemRepository), needs=[DatabaseTag]
)
