"""``KeptItems``: items in a dictionary, with every promise of ``ItemRepository`` except durability.

It is the executable specification: ``InMemoryItemRepository`` returns its answers as effects, and the laws compare every
other repository with it.  No method waits, so each is a transaction by itself.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, TypeVar, final

from attrs import define, evolve, field, frozen

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import NotUndoableError
from chatmemory.events.event import UNDO, because
from chatmemory.events.kept_log import KeptLog
from chatmemory.items.item_past import MOST_EARLIER, EarlierItem, as_of_in, undoing_put
from chatmemory.items.item_ranking import Rankable, ranked
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemSearch,
    Labels,
    StoredItem,
    Wanted,
    WholeItem,
    change_of_forgetting,
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
    """An item with its search terms and vectors; *place* is the order in which items were made."""

    place: int
    put: ItemPut
    item: StoredItem
    expires_at: datetime | None

    def is_there(self, now: datetime) -> bool:
        """Whether its lifetime has not ended."""
        return self.expires_at is None or self.expires_at > now


@final
@define(eq=False)
class KeptItems:
    """Items by their names; an item whose lifetime is over stays until it is swept."""

    rows: dict[ItemName, KeptItem] = field(factory=dict[ItemName, KeptItem])
    log: KeptLog = field(factory=KeptLog)
    earlier: dict[ItemName, list[EarlierItem]] = field(factory=dict[ItemName, list[EarlierItem]])
    _last_place: int = field(default=0, init=False, repr=False)

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> None:
        """Store and remove items, all or none."""
        last = last_of_each(puts)
        gone = [put for put in last if put.value is None and put.name in self.rows]
        kept = [put for put in last if put.value is not None]
        for put in last:
            self._put(put, now)
        self.log.note(map(change_of_put, [*gone, *kept]))

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> A:
        """Read, decide and write in one transaction, while all other writers of items wait."""
        change = steps()
        answer: A
        try:
            wanted = next(change)
            while True:
                wanted = change.send(self._answer(wanted, now))
        except StopIteration as end:
            puts, answer = end.value
        self.write(puts, now=now)
        return answer

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime, as_of: int | datetime | None = None
    ) -> tuple[StoredItem | None, ...]:
        """Return the item of each name, in order; None for a name without an item."""
        present = [row.item if (row := self._there(name, now)) else None for name in names]
        if as_of is None:
            return tuple(present)
        return tuple(
            [
                as_of_in(item, self.earlier.get(name, ()), as_of)
                for name, item in zip(names, present, strict=True)
            ]
        )

    def whole(self, names: tuple[ItemName, ...], *, now: datetime) -> tuple[WholeItem | None, ...]:
        """Return the item of each name with what it is found by, in order; None for a name without an item."""
        return tuple([self._whole(name, now) for name in names])

    def _whole(self, name: ItemName, now: datetime) -> WholeItem | None:
        if (row := self._there(name, now)) is None:
            return None
        put = row.put
        model = put.model if put.vectors else ""
        return WholeItem(row.item, put.terms, model, put.vectors)

    def undo(self, name: ItemName, /, *, now: datetime) -> Outcome[StoredItem | None, NotUndoableError]:
        """Take the newest put or removal of an item back, by a put of the value before, or by a removal."""
        row, past = self._there(name, now), self.earlier.get(name, [])
        put = undoing_put(name, None if row is None else row.item, past[-1] if past else None)
        if not isinstance(put, ItemPut):
            return Failure(put)
        with because(UNDO):
            self.write((put,), now=now)
        return Success(self.read((name,), now=now)[0])

    def forget(self, names: tuple[ItemName, ...], /) -> int:
        """Remove items with their earlier values, and return their number; only the log keeps a trace."""
        gone = [name for name in dict.fromkeys(names) if name in self.rows or name in self.earlier]
        for name in gone:
            self.rows.pop(name, None)
            self.earlier.pop(name, None)
        self.log.note(map(change_of_forgetting, gone))
        return len(gone)

    def prune(self, before: datetime, /) -> None:
        """Remove the values that ended before an instant, see ``EventLog.prune``."""
        for name, past in list(self.earlier.items()):
            self.earlier[name] = [one for one in past if one.ended_at >= before]
            if not self.earlier[name]:
                del self.earlier[name]

    def search(self, search: ItemSearch, /, *, now: datetime) -> tuple[StoredItem, ...]:
        """Return the items that *search* finds; ``item_ranking.py`` defines their scores."""
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
        """Return each namespace below *prefix* that has an item, ordered by its labels."""
        return tuple(sorted({row.item.name.namespace for row in self._below(prefix, now)}))

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> None:
        """Start the lifetimes of these items again."""
        for name in names:
            row = self._there(name, now)
            if row is not None:
                self.rows[name] = evolve(row, expires_at=_end(row.put.lifetime, now))

    def sweep(self, *, now: datetime) -> int:
        """Remove the items whose lifetime has ended at *now* (UTC), and return how many."""
        gone = [name for name, row in self.rows.items() if not row.is_there(now)]
        for name in gone:
            del self.rows[name]
        self.log.note(map(change_of_sweep, gone))
        return len(gone)

    def _answer(self, wanted: Wanted, now: datetime) -> tuple[StoredItem | None, ...]:
        return self.search(wanted, now=now) if isinstance(wanted, ItemSearch) else self.read(wanted, now=now)

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
        former = self._there(put.name, now)
        if not put.keeps:
            self.earlier.pop(put.name, None)
        elif former is not None and not former.item.has_lifetime and former.item.updated_at != now:
            past = self.earlier.setdefault(put.name, [])
            past.append(EarlierItem(former.item, former.put.terms, now))
            del past[:-MOST_EARLIER]
        if put.value is None:
            self.rows.pop(put.name, None)
            return
        past = self.earlier.get(put.name, [])
        version = 1 + (past[-1].item.version if past else 0)
        if former is not None:
            version = former.item.version + (former.item.updated_at != now)
        item = StoredItem(
            put.name,
            put.value,
            created_at=now if former is None else former.item.created_at,
            updated_at=now,
            has_lifetime=put.lifetime is not None,
            version=version,
        )
        if former is None:
            self._last_place += 1
        place = self._last_place if former is None else former.place
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
