"""``SqliteMemoryRepository``: ``MemoryRepository`` in one file.

Its methods are implemented in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and
``memory_search.py``; ``Database`` runs them.
"""

from datetime import datetime
from operator import attrgetter
from typing import final

from attrs import define, field

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Layer
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryRestoreError, MemoryStoreError, RepositoryError
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import (
    ForgetReceipt,
    Memory,
    MemoryHistory,
    SaveOutcome,
    UseReport,
)
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.longterm.repository_values import (
    Attachment,
    Candidates,
    Expiry,
    Forgetting,
    Mark,
    MemoryCount,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
    Use,
    WholeMemory,
)
from chatmemory_layers.sqlite.engine.database import DatabaseTag
from chatmemory_layers.sqlite.engine.jobs import Database
from chatmemory_layers.sqlite.events.event_log import SqliteEventLog
from chatmemory_layers.sqlite.first_answers import SqliteFirstAnswers
from chatmemory_layers.sqlite.memories import (
    memory_history,
    memory_reads,
    memory_removal,
    memory_search,
    memory_store,
    memory_writes,
)
from chatmemory_layers.sqlite.memories.vector_search import VectorSearch


@final
@define(eq=False)
class SqliteMemoryRepository(MemoryRepository):
    """Keeps memories in the file of *database*."""

    database: Database
    _vectors: VectorSearch = field(factory=VectorSearch, init=False, repr=False)

    @property
    def log(self) -> SqliteEventLog:
        """The log of the store."""
        return SqliteEventLog(self.database)

    @property
    def answers(self) -> SqliteFirstAnswers:
        """The first answers to repeated requests."""
        return SqliteFirstAnswers(self.database)

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        return self.database.write("store memories", memory_store.store, drafts)

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        return self.database.read("read memory", memory_reads.get, namespace, memory_id)

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        return self.database.read("read value", memory_reads.value, namespace, key, as_of=as_of)

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        return self.database.write("retire value", memory_writes.retire, namespace, key, now=now)

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Effect[Memory, MemoryRestoreError]:
        return self.database.write(
            "restore memory", memory_writes.restore, namespace, memory_id, instead_of=instead_of, now=now
        )

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        return self.database.read("list memories", memory_reads.listed, listing)

    def count(self, listing: MemoryListing, /) -> Effect[tuple[MemoryCount, ...], RepositoryError]:
        return self.database.read("count memories", memory_reads.counted, listing)

    def whole(
        self, *, limit: int, after: tuple[str, str] | None = None
    ) -> Effect[tuple[WholeMemory, ...], RepositoryError]:
        return self.database.read("read whole memories", memory_history.whole, limit=limit, after=after)

    def reach(
        self, namespace: Namespace, count: int, *, after: Place | None = None
    ) -> Effect[datetime | None, RepositoryError]:
        return self.database.read("walk through memories", memory_reads.reach, namespace, count, after=after)

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        return self.database.read("search memories", memory_search.candidates, search, self._vectors)

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, RepositoryError]:
        return self.database.read(
            "read the history of a memory", memory_history.history, namespace, memory_id
        )

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        return self.database.write(
            "rewrite memory",
            memory_writes.rewrite,
            draft,
            expected_version=expected_version,
            keep_vector=keep_vector,
        )

    def mark(self, mark: Mark, /) -> Effect[Memory | None, RepositoryError]:
        return self.database.write("mark memory", memory_writes.mark, mark)

    def record_use(self, use: Use, /) -> Effect[UseReport, RepositoryError]:
        return self.database.write("record use", memory_writes.record_use, use)

    def expire(self, expiry: Expiry, /) -> Effect[int, RepositoryError]:
        return self.database.write("expire memories", memory_removal.expire, expiry)

    def unembedded(
        self,
        namespace: Namespace,
        space: EmbeddingSpace,
        *,
        limit: int,
        after: tuple[datetime, str] | None = None,
    ) -> Effect[tuple[tuple[Memory, ...], int], RepositoryError]:
        return self.database.read(
            "list memories without vector",
            memory_reads.unembedded,
            namespace,
            space,
            limit=limit,
            after=after,
        )

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        return self.database.write("attach vectors", memory_writes.attach, namespace, space, attachments)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        return self.database.erase(
            "forget memories", memory_removal.forget, attrgetter("memories"), forgetting
        )


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(SqliteMemoryRepository), needs=[DatabaseTag]
)
