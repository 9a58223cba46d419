"""``InMemoryMemoryRepository``: keeps every promise of ``MemoryRepository`` except durability, in dictionaries.

``chatmemory.longterm.kept_memories`` answers each call.  No method waits for anything, so each is a transaction by itself,
on asyncio and on trio.
"""

from collections.abc import Sequence
from typing import final

from chatmemory.effect import Effect, Layer
from chatmemory.errors import RepositoryError
from chatmemory.longterm.kept_memories import KeptMemories
from chatmemory.longterm.kept_memory import KeptMemory
from chatmemory.longterm.memories import ForgetReceipt
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import Forgetting
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database, lifted, lifted_outcome
from chatmemory_layers.in_memory.event_log import InMemoryEventLog


@final
class InMemoryMemoryRepository:
    """Keeps memories beside the conversations of the same database, until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.kept = database.memories

    store = lifted_outcome("store memories", KeptMemories.store)
    get = lifted("read memory", KeptMemories.get)
    value = lifted("read value", KeptMemories.value)
    retire = lifted("retire value", KeptMemories.retire)
    restore = lifted_outcome("restore memory", KeptMemories.restore)
    list = lifted("list memories", KeptMemories.listed)
    count = lifted("count memories", KeptMemories.count)
    whole = lifted("read whole memories", KeptMemories.whole)
    reach = lifted("walk through memories", KeptMemories.reach)
    search = lifted("search memories", KeptMemories.search)
    history = lifted("read the history of a memory", KeptMemories.history)
    rewrite = lifted_outcome("rewrite memory", KeptMemories.rewrite)
    mark = lifted("mark memory", KeptMemories.mark)
    record_use = lifted("record use", KeptMemories.record_use)
    expire = lifted("expire memories", KeptMemories.expire)
    unembedded = lifted("list memories without vector", KeptMemories.unembedded)
    attach = lifted("attach vectors", KeptMemories.attach)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """See ``MemoryRepository.forget``."""

        def forget() -> ForgetReceipt:
            gone = self.kept.forget(forgetting)
            return ForgetReceipt(
                memories=len(gone),
                embeddings=sum(row.vector is not None for row in gone),
                stale_summaries=self._mark_stale(gone),
            )

        return self.database.run("forget memories", forget)

    def _mark_stale(self, gone: Sequence[KeptMemory]) -> tuple[str, ...]:
        stale = set[str]()
        for memory in (row.memory for row in gone):
            if memory.session_id is not None:
                for message_id in memory.provenance.message_ids:
                    stale |= self.database.conversations.mark_stale(memory.session_id, message_id)
        return tuple(sorted(stale))


memory_repository = database >> Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(InMemoryMemoryRepository), needs=[DatabaseTag]
)
