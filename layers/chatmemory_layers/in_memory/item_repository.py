"""``InMemoryItemRepository``: keeps every promise of ``ItemRepository`` except durability, in a dictionary.

``chatmemory.items.kept_items`` answers each call.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar, final

from chatmemory.effect import Effect, Layer
from chatmemory.errors import NotUndoableError, RepositoryError
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
    WholeItem,
)
from chatmemory_layers.in_memory.database import Database, DatabaseTag, InMemoryEventLog, database

A = TypeVar("A")


@final
class InMemoryItemRepository(ItemRepository):
    """Keeps items by name until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.kept = database.items

    def write(self, puts: tuple[ItemPut, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        return self.database.run("store items", lambda: self.kept.write(puts, now=now))

    def read(
        self, names: tuple[ItemName, ...], *, now: datetime, as_of: int | datetime | None = None
    ) -> Effect[tuple[StoredItem | None, ...], RepositoryError]:
        return self.database.run("read items", lambda: self.kept.read(names, now=now, as_of=as_of))

    def whole(
        self, names: tuple[ItemName, ...], *, now: datetime
    ) -> Effect[tuple[WholeItem | None, ...], RepositoryError]:
        return self.database.run("read items whole", lambda: self.kept.whole(names, now=now))

    def undo(
        self, name: ItemName, /, *, now: datetime
    ) -> Effect[StoredItem | None, NotUndoableError | RepositoryError]:
        return self.database.write("undo a change of an item", lambda: self.kept.undo(name, now=now))

    def forget(self, names: tuple[ItemName, ...], /) -> Effect[int, RepositoryError]:
        return self.database.run("forget items", lambda: self.kept.forget(names))

    def search(
        self, search: ItemSearch, /, *, now: datetime
    ) -> Effect[tuple[StoredItem, ...], RepositoryError]:
        return self.database.run("search items", lambda: self.kept.search(search, now=now))

    def namespaces(self, prefix: Labels, *, now: datetime) -> Effect[tuple[Labels, ...], RepositoryError]:
        return self.database.run("list namespaces", lambda: self.kept.namespaces(prefix, now=now))

    def refresh(self, names: tuple[ItemName, ...], *, now: datetime) -> Effect[None, RepositoryError]:
        return self.database.run("refresh items", lambda: self.kept.refresh(names, now=now))

    def sweep(self, *, now: datetime) -> Effect[int, RepositoryError]:
        return self.database.run("sweep items", lambda: self.kept.sweep(now=now))

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        return self.database.run("change items", lambda: self.kept.change(steps, now=now))


item_repository = database >> Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(InMemoryItemRepository), needs=[DatabaseTag]
)
