"""``SqliteMemoryRepository``: ``MemoryRepository`` in one file.

One line per method: what it does stands in ``memory_store.py``, ``memory_writes.py``, ``memory_uses.py``,
``memory_removal.py``, ``memory_reads.py`` and ``memory_search.py``, how it gets to the disk in ``engine/jobs.py``.
"""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TypeVar, final

from attrs import field, frozen

from chatmemory.effect import Effect, Layer, Outcome, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryStoreError, RepositoryError
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import (
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryType,
    Namespace,
    Stored,
    UseReport,
)
from chatmemory.longterm.memory_repository import (
    Attachment,
    Candidates,
    Forgetting,
    MemoryDraft,
    MemoryListing,
    MemoryRepositoryTag,
    MemorySearch,
)
from chatmemory_layers.sql.memory_requests import (
    Attaching,
    Expiry,
    Keyed,
    Marks,
    Named,
    Retirement,
    Rewriting,
    Unembedded,
    Use,
)
from chatmemory_layers.sqlite.engine.database import DatabaseTag, empty_log
from chatmemory_layers.sqlite.engine.jobs import Database, Transaction
from chatmemory_layers.sqlite.memories import (
    memory_reads,
    memory_removal,
    memory_store,
    memory_uses,
    memory_writes,
)
from chatmemory_layers.sqlite.memories.memory_search import MemorySearcher

Q = TypeVar("Q")
A = TypeVar("A")
E = TypeVar("E")


@final
@frozen
class SqliteMemoryRepository:
    """Memories in the file of *database*."""

    database: Database
    searcher: MemorySearcher = field(factory=MemorySearcher, init=False, eq=False, repr=False)

    def store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Effect[tuple[Stored | Duplicate, ...], MemoryStoreError]:
        """See ``MemoryRepository.store``."""
        return self._write("store memories", memory_store.store, drafts)

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.get``."""
        asked = Named(namespace, memory_id)
        return self._read("read memory", memory_reads.get, asked)

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.value``."""
        asked = Keyed(namespace, key, as_of)
        return self._read("read value", memory_reads.value, asked)

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        """See ``MemoryRepository.retire``."""
        request = Retirement(namespace, key, now)
        return self._write("retire value", memory_writes.retire, request)

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        """See ``MemoryRepository.list``."""
        return self._read("list memories", memory_reads.listed, listing)

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """See ``MemoryRepository.search``."""
        return self._read("search memories", self.searcher.search, search)

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        """See ``MemoryRepository.rewrite``."""
        request = Rewriting(draft, expected_version, keep_vector)
        return self._write("rewrite memory", memory_writes.rewrite, request)

    def mark(
        self,
        namespace: Namespace,
        memory_id: str,
        *,
        memory_type: MemoryType | None = None,
        pinned: bool | None = None,
    ) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.mark``."""
        marks = Marks(namespace, memory_id, memory_type, pinned)
        return self._write("mark memory", memory_writes.mark, marks)

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: tuple[str, ...],
        *,
        use_id: str,
        session_id: str | None,
        now: datetime,
        promote_after: int | None = None,
    ) -> Effect[UseReport, RepositoryError]:
        """See ``MemoryRepository.record_use``."""
        use = Use(namespace, memory_ids, use_id, session_id, now, promote_after)
        return self._write("record use", memory_uses.record_use, use)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """See ``MemoryRepository.forget``."""
        return Effect.from_outcome(partial(self._forget, forgetting))

    def expire(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        created_before: datetime | None = None,
    ) -> Effect[int, RepositoryError]:
        """See ``MemoryRepository.expire``."""
        expiry = Expiry(namespace, session_id, created_before)
        return self._write("expire memories", memory_removal.expire, expiry)

    def unembedded(
        self,
        namespace: Namespace,
        space: EmbeddingSpace,
        *,
        limit: int,
        after: Place | None = None,
    ) -> Effect[tuple[tuple[Memory, ...], int], RepositoryError]:
        """See ``MemoryRepository.unembedded``."""
        asked = Unembedded(namespace, space, limit, after)
        return self._read("list memories without vector", memory_reads.unembedded, asked)

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        """See ``MemoryRepository.attach``."""
        request = Attaching(namespace, space, attachments)
        return self._write("attach vectors", memory_writes.attach, request)

    def _write(
        self, operation: str, work: Callable[[Transaction, Q], Outcome[A, E]], request: Q
    ) -> Effect[A, E | RepositoryError]:
        return Effect.from_outcome(lambda: self.database.write(operation, work, request))

    def _read(
        self, operation: str, work: Callable[[sqlite3.Connection, Q], A], request: Q
    ) -> Effect[A, RepositoryError]:
        return Effect.from_outcome(lambda: self.database.read(operation, work, request))

    async def _forget(self, forgetting: Forgetting) -> Outcome[ForgetReceipt, RepositoryError]:
        outcome = await self.database.write("forget memories", memory_removal.forget, forgetting)
        if isinstance(outcome, Success) and outcome.unwrap().memories:
            await self.database.run_on_writer(empty_log)
        return outcome


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(SqliteMemoryRepository), needs=[DatabaseTag]
)
