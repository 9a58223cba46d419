"""``PostgresMemoryRepository``: ``MemoryRepository`` in one PostgreSQL store.

What its methods do is said in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and
``memory_search.py``, how they get to the server in ``engine/methods.py``.
"""

from typing import final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Layer, Outcome, Success
from chatmemory.errors import MemoryStoreError, RepositoryError
from chatmemory.longterm.memories import SaveOutcome
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import (
    Candidates,
    Forgetting,
    MemoryDraft,
    MemorySearch,
)
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.methods import reads, writes
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.memories import (
    memory_history,
    memory_reads,
    memory_removal,
    memory_search,
    memory_store,
    memory_writes,
)


def _user(namespace: Namespace, *_: object, **__: object) -> str:
    return f"memories of {namespace.user}"


def _user_of_draft(draft: MemoryDraft, **_: object) -> str:
    return _user(draft.namespace)


def _user_of_forgetting(forgetting: Forgetting, /) -> str:
    return _user(forgetting.namespace)


@final
@frozen
class PostgresMemoryRepository:
    """Memories in the store of *database*, beside the conversations that they come from."""

    database: Database

    @property
    def log(self) -> PostgresEventLog:
        """See ``KeepsLog``."""
        return PostgresEventLog(self.database)

    get = reads("read memory", memory_reads.get)
    value = reads("read value", memory_reads.value)
    retire = writes("retire value", memory_writes.retire, owner=_user)
    restore = writes("restore memory", memory_writes.restore, owner=_user)
    list = reads("list memories", memory_reads.listed, on_snapshot=True)
    history = reads("read the history of a memory", memory_history.history, on_snapshot=True)
    rewrite = writes("rewrite memory", memory_writes.rewrite, owner=_user_of_draft)
    mark = writes("mark memory", memory_writes.mark, owner=_user)
    record_use = writes("record use", memory_writes.record_use, owner=_user)
    forget = writes("forget memories", memory_removal.forget, owner=_user_of_forgetting)
    expire = writes("expire memories", memory_removal.expire, owner=_user)
    unembedded = reads("list memories without vector", memory_reads.unembedded, on_snapshot=True)
    attach = writes("attach vectors", memory_writes.attach, owner=_user)

    @Effect.coroutine
    async def store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Outcome[tuple[SaveOutcome, ...], MemoryStoreError]:
        """See ``MemoryRepository.store``."""
        if not drafts:
            return Success(())
        # Should there be several users, the lock is the first one's, and a unique index refuses what others do meanwhile.
        owner = _user(drafts[0].namespace)
        return await self.database.write("store memories", owner, memory_store.store, drafts)

    @Effect.coroutine
    async def search(self, search: MemorySearch, /) -> Outcome[Candidates, RepositoryError]:
        """See ``MemoryRepository.search``."""
        indexes = self.database.vector_indexes
        return await self.database.read_snapshot("search memories", memory_search.search, search, indexes)


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(PostgresMemoryRepository), needs=[DatabaseTag]
)
