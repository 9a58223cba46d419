"""``SqliteMemoryRepository``: ``MemoryRepository`` in one file.

What its methods do is said in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and
``memory_search.py``, how they get to the disk in ``engine/jobs.py``.
"""

from typing import final

from attrs import field, frozen

from chatmemory.effect import Effect, Failure, Layer, Outcome
from chatmemory.errors import RepositoryError
from chatmemory.longterm.memories import ForgetReceipt
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import Candidates, Forgetting, MemorySearch
from chatmemory_layers.sqlite.engine.database import DatabaseTag, empty_log
from chatmemory_layers.sqlite.engine.jobs import Database, reads, writes
from chatmemory_layers.sqlite.events.event_log import SqliteEventLog
from chatmemory_layers.sqlite.memories import (
    memory_history,
    memory_reads,
    memory_removal,
    memory_store,
    memory_writes,
)
from chatmemory_layers.sqlite.memories.memory_search import MemorySearcher


@final
@frozen
class SqliteMemoryRepository:
    """Keeps memories in the file of *database*."""

    database: Database

    @property
    def log(self) -> SqliteEventLog:
        """See ``KeepsLog``."""
        return SqliteEventLog(self.database)

    searcher: MemorySearcher = field(factory=MemorySearcher, init=False, eq=False, repr=False)

    store = writes("store memories", memory_store.store)
    get = reads("read memory", memory_reads.get)
    value = reads("read value", memory_reads.value)
    retire = writes("retire value", memory_writes.retire)
    restore = writes("restore memory", memory_writes.restore)
    list = reads("list memories", memory_reads.listed)
    history = reads("read the history of a memory", memory_history.history)
    rewrite = writes("rewrite memory", memory_writes.rewrite)
    mark = writes("mark memory", memory_writes.mark)
    record_use = writes("record use", memory_writes.record_use)
    expire = writes("expire memories", memory_removal.expire)
    unembedded = reads("list memories without vector", memory_reads.unembedded)
    attach = writes("attach vectors", memory_writes.attach)

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """See ``MemoryRepository.search``."""
        return Effect.from_outcome(
            lambda: self.database.read("search memories", self.searcher.search, search)
        )

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """Forget, see ``MemoryRepository.forget``, and empty the write-ahead log, so that no byte of a forgotten memory stays in it."""

        async def forget() -> Outcome[ForgetReceipt, RepositoryError]:
            outcome = await self.database.write("forget memories", memory_removal.forget, forgetting)
            if not isinstance(outcome, Failure) and outcome.unwrap().memories:
                await self.database.run_on_writer(empty_log)
            return outcome

        return Effect.from_outcome(forget)


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(SqliteMemoryRepository), needs=[DatabaseTag]
)
