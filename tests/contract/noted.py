"""What the tests of memory repositories share: two users, two apps, and how they ask."""

from functools import partial
from typing import Any, Final

from chatmemory.access.namespace import Namespace
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.repository_values import MemoryListing

MING: Final = Namespace("小明")
EXCEL: Final = Namespace("小明", "excel")
WORD: Final = Namespace("小明", "word")
HONG: Final = Namespace("小红")

note = partial(remembered, namespace=MING)


async def listed(memories: MemoryRepository, namespace: Namespace = MING, **filters: Any) -> list[str]:
    """Return the ids of a list."""
    listing = MemoryListing(namespace, **{"limit": 100, **filters})
    return [memory.id for memory in await memories.list(listing).or_raise()]


async def stored(memories: MemoryRepository, memory_id: str = "1") -> Memory:
    memory = await memories.get(MING, memory_id).or_raise()
    assert memory is not None
    return memory
