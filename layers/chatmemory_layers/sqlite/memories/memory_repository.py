"""``SqliteMemoryRepository``: ``MemoryRepository`` in one file.

Its methods are implemented in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and
``memory_search.py``; ``engine/jobs.py`` runs them.
"""

from typing import final

from attrs import define

from chatmemory.effect import Effect, Failure, Layer, Outcome
from chatmemory.errors import RepositoryError
from chatmemory.longterm.memories import ForgetReceipt
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import Forgetting
from chatmemory_layers.sqlite.engine.database import DatabaseTag, empty_log
from chatmemory_layers.sqlite.engine.jobs import reads, writes
from chatmemory_layers.sqlite.events.event_log import SqliteEventLog
from chatmemory_layers.sqlite.memories import (
    memory_history,
    memory_reads,
    memory_removal,
    memory_store,
    memory_writes,
    whole_memories,
)
from chatmemory_layers.sqlite.memories.memory_search import MemorySearcher


@final
@define(eq=False)
class SqliteMemoryRepository(MemorySearcher):
    """Keeps memories in the file of *database*."""

    @property
    def log(self) -> SqliteEventLog:
        """See ``KeepsLog``."""
        return SqliteEventLog(self.database)

    store = writes("store memories", memory_store.store)
    get = reads("read memory", memory_reads.get)
    value = reads("read value", memory_reads.value)
    retire = writes("retire value", memory_writes.retire)
    restore = writes("restore memory", memory_writes.restore)
    list = reads("list memories", memory_reads.listed)
    count = reads("count memories", memory_reads.counted)
    whole = reads("read whole memories", whole_memories.whole)
    reach = reads("walk through memories", memory_reads.reach)
    history = reads("read the history of a memory", memory_history.history)
    rewrite = writes("rewrite memory", memory_writes.rewrite)
    mark = writes("mark memory", memory_writes.mark)
    record_use = writes("record use", memory_writes.record_use)
    expire = writes("expire memories", memory_removal.expire)
    unembedded = reads("list memories without vector", memory_reads.unembedded)
    attach = writes("attach vectors", memory_writes.attach)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """See ``MemoryRepository.forget``; then empty the write-ahead log, so that no byte of a forgotten memory stays in it."""

        async def forget() -> Outcome[ForgetReceipt, RepositoryError]:
            outcome = await self.database.write("forget memories", memory_removal.forget, forgetting)
            if not isinstance(outcome, Failure) and outcome.unwrap().memories:
                await self.database.run_on_writer(empty_log)
            return outcome

        return Effect.from_outcome(forget)


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(SqliteMemoryRepository), needs=[DatabaseTag]
)
