"""``ItemWitness``: asks an item repository on behalf of a law, and observes all that can be read of its items.

``ItemRepositoryUnderTest``: the base class of all groups of laws for item repositories.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, TypeAlias, final

from attrs import evolve, frozen

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.errors import NotUndoableError, RepositoryError
from chatmemory.items.item_repository import (
    ItemName,
    ItemPut,
    ItemRepository,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
)
from chatmemory.laws.items.item_samples import MODEL
from chatmemory.laws.kit.asking import Asker
from chatmemory.laws.kit.law import expect
from chatmemory.laws.kit.under_test import RepositoryUnderTest
from chatmemory.laws.memories.memory_samples import TERMS, VECTORS
from chatmemory.laws.memories.memory_witness import rounded

ALL: Final = 1000  # more than any law stores

Found: TypeAlias = Mapping[ItemName, tuple[StoredItem, float | None]]
"""Items by name, each with its rounded score."""


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


QUERIES: Final[tuple[dict[str, Any], ...]] = (
    {"terms": TERMS},
    {"model": MODEL, "vector": VECTORS[0]},
    {"terms": TERMS[:2], "model": MODEL, "vector": VECTORS[3]},
)
"""Searches by words, by meaning, and by both."""

NOTHING: Final = ItemObservation(
    {}, (), tuple([dict[ItemName, tuple[StoredItem, float | None]]() for _ in QUERIES])
)
"""The observation of an empty space."""


def found(items: Sequence[StoredItem]) -> Found:
    """Return the results in a form that can be compared."""
    return {item.name: (evolve(item, score=None), rounded(item.score)) for item in items}


def keys_of(items: Sequence[StoredItem]) -> list[str]:
    """Return the keys, in order."""
    return [item.name.key for item in items]


class ItemRepositoryUnderTest(RepositoryUnderTest[ItemWitness]):
    """An item repository: a layer that provides ``ItemRepositoryTag``."""

    repository: Layer[ItemRepositoryTag, Any, Any]

    async def witness(self, runtime: ManagedRuntime[ItemRepositoryTag], **witness: Any) -> ItemWitness:
        """Return a witness for the repository that *runtime* has built."""
        return ItemWitness(await runtime.service(ItemRepositoryTag), **witness)
