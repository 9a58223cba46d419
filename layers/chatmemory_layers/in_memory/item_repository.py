"""``InMemoryItemRepository``: keeps every promise of ``ItemRepository`` except durability, in a dictionary.

``chatmemory.items.kept_items`` answers each call.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar, final

from chatmemory.effect import Effect, Layer
from chatmemory.errors import RepositoryError
from chatmemory.items.item_repository import ItemChange, ItemRepositoryTag
from chatmemory.items.kept_items import KeptItems
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database, lifted, lifted_outcome
from chatmemory_layers.in_memory.event_log import InMemoryEventLog

A = TypeVar("A")


@final
class InMemoryItemRepository:
    """Keeps items by name until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.kept = database.items

    write = lifted("store items", KeptItems.write)
    read = lifted("read items", KeptItems.read)
    undo = lifted_outcome("undo a change of an item", KeptItems.undo)
    forget = lifted("forget items", KeptItems.forget)
    search = lifted("search items", KeptItems.search)
    namespaces = lifted("list namespaces", KeptItems.namespaces)
    refresh = lifted("refresh items", KeptItems.refresh)
    sweep = lifted("sweep items", KeptItems.sweep)

    def change(self, steps: Callable[[], ItemChange[A]], *, now: datetime) -> Effect[A, RepositoryError]:
        """See ``ItemRepository.change``."""
        return self.database.run("change items", lambda: self.kept.change(steps, now=now))


item_repository = database >> Layer.effect(
    ItemRepositoryTag, Effect.service(DatabaseTag).map(InMemoryItemRepository), needs=[DatabaseTag]
)
