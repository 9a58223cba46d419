"""``Database``: what the repositories in memory keep, so that those of one runtime keep it together.

What it holds and how that changes is said in ``history.py`` and ``memory_table.py``.
"""

from typing import final

from attrs import define, field

from chatmemory.effect import Layer, Tag
from chatmemory_layers.in_memory.history import History
from chatmemory_layers.in_memory.memory_table import MemoryTable


@final
@define(eq=False)
class Database:
    """Conversations by their ids, and memories; gone with the process."""

    histories: dict[str, History] = field(factory=dict[str, History])
    memories: MemoryTable = field(factory=MemoryTable)


class DatabaseTag(Tag[Database]):
    """Where layers provide ``Database``."""


database = Layer.sync(DatabaseTag, Database)
