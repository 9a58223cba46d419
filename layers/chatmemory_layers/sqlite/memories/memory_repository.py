"""``SqliteMemoryRepository``: ``MemoryRepository`` in one file.

Its methods are implemented in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and
``memory_search.py``; ``engine/jobs.py`` runs them.
"""

from operator import attrgetter
from typing import final

from attrs import define

from chatmemory.effect import Effect, Layer
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory_layers.sqlite.answers.first_answers import SqliteFirstAnswers
from chatmemory_layers.sqlite.engine.database import DatabaseTag
from chatmemory_layers.sqlite.engine.jobs import erases, reads, writes
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

    @property
    def answers(self) -> SqliteFirstAnswers:
        """See ``KeepsAnswers``."""
        return SqliteFirstAnswers(self.database)

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
    forget = erases("forget memories", memory_removal.forget, removed=attrgetter("memories"))


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(SqliteMemoryRepository), needs=[DatabaseTag]
)
