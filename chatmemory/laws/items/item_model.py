"""``ModelItems``: what an item repository has to do, in the plainest words: a dictionary and a loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, final

from attrs import evolve, frozen

from chatmemory.items.item_ranking import Rankable, ranked
from chatmemory.items.item_repository import ItemName, ItemPut, ItemSearch, Labels, StoredItem
from chatmemory.laws.items.item_witness import ALL, QUERIES, Found, ItemObservation, found


@final
@frozen
class Entry:
    """An item, and the put that it comes from; it is there until *ends_at*."""

    item: StoredItem
    put: ItemPut
    ends_at: datetime | None


@final
class ModelItems:
    """The reading of ``ItemRepository`` that the laws go by; *prefix* is the space of the law."""

    def __init__(self, prefix: Labels) -> None:
        self.prefix = prefix
        self.entries: dict[ItemName, Entry] = {}

    def write(self, puts: Sequence[ItemPut], now: datetime) -> None:
        """Answer ``ItemRepository.write``."""
        for name, put in {put.name: put for put in puts}.items():
            former = self.there(now).get(name)
            self.entries.pop(name, None)
            if put.value is not None:
                created_at = now if former is None else former.item.created_at
                item = StoredItem(name, put.value, created_at, now, put.lifetime is not None)
                self.entries[name] = Entry(item, put, _end(put, now))

    def refresh(self, names: Iterable[ItemName], now: datetime) -> None:
        """Answer ``ItemRepository.refresh``."""
        for name in names:
            entry = self.there(now).get(name)
            if entry is not None:
                self.entries[name] = evolve(entry, ends_at=_end(entry.put, now))

    def sweep(self, now: datetime) -> int:
        """Answer ``ItemRepository.sweep``, as far as it is about this space."""
        there = self.there(now)
        gone = len(self.entries) - len(there)
        self.entries = there
        return gone

    def there(self, now: datetime) -> dict[ItemName, Entry]:
        """Return what is there."""
        return {
            name: entry
            for name, entry in self.entries.items()
            if entry.ends_at is None or entry.ends_at > now
        }

    def search(self, now: datetime, **search: Any) -> Found:
        """Answer ``ItemRepository.search``, without its order."""
        asked = evolve(ItemSearch(self.prefix, ALL), **search)
        entries = [
            entry
            for name, entry in self.there(now).items()
            if name.namespace[: len(asked.prefix)] == asked.prefix and asked.admits(entry.item.value)
        ]
        if not asked.is_query:
            return found([entry.item for entry in entries])
        rankable = [
            Rankable(place, 0, entry.put.terms, _similarity(asked, entry.put))
            for place, entry in enumerate(entries)
        ]
        return found([evolve(entries[place].item, score=score) for place, score in ranked(asked, rankable)])

    def namespaces(self, now: datetime, prefix: Labels) -> tuple[Labels, ...]:
        """Answer ``ItemRepository.namespaces``."""
        there = {name.namespace for name in self.there(now)}
        return tuple(sorted(each for each in there if each[: len(prefix)] == prefix))

    def observe(self, now: datetime) -> ItemObservation:
        """Return all that can be read."""
        return ItemObservation(
            items={name: entry.item for name, entry in self.there(now).items()},
            namespaces=self.namespaces(now, self.prefix),
            found=tuple([self.search(now, **query) for query in QUERIES]),
        )


def _end(put: ItemPut, now: datetime) -> datetime | None:
    if put.lifetime is None:
        return None
    try:
        return now + put.lifetime
    except OverflowError:
        return None  # behind all calendars


def _similarity(search: ItemSearch, put: ItemPut) -> float | None:
    if search.vector is None or put.model != search.model or not put.vectors:
        return None
    return max(float(search.vector @ vector) for vector in put.vectors)
