"""``PostgresMemoryRepository``: ``MemoryRepository`` in one PostgreSQL store.

What its methods do stands in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``,
``memory_reads.py`` and ``memory_search.py``, how it gets to the server in ``database.py``.
"""

from datetime import datetime
from functools import partial
from typing import TypeVar, final

from attrs import frozen

from chatmemory.effect import Effect, Layer
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
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag, Read, Work
from chatmemory_layers.postgres.memories import (
    memory_reads,
    memory_removal,
    memory_search,
    memory_store,
    memory_writes,
)
from chatmemory_layers.postgres.memories.memory_requests import (
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

Q = TypeVar("Q")
A = TypeVar("A")
E = TypeVar("E")


@final
@frozen
class PostgresMemoryRepository:
    """Memories in the store of *database*, beside the conversations that they come from."""

    database: Database

    def store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Effect[tuple[Stored | Duplicate, ...], MemoryStoreError]:
        """See ``MemoryRepository.store``."""
        if not drafts:
            return Effect.succeed(())
        # Should there be several users, the lock is the first one's, and a unique index refuses what others do meanwhile.
        return self._write("store memories", drafts[0].namespace, memory_store.store, drafts)

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.get``."""
        return self._read("read memory", memory_reads.get, Named(namespace, memory_id))

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.value``."""
        return self._read("read value", memory_reads.value, Keyed(namespace, key, as_of))

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        """See ``MemoryRepository.retire``."""
        retirement = Retirement(namespace, key, now)
        return self._write("retire value", namespace, memory_writes.retire, retirement)

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        """See ``MemoryRepository.list``."""
        return self._read_snapshot("list memories", memory_reads.listed, listing)

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """See ``MemoryRepository.search``."""
        asked = memory_search.Asked(search, self.database.vector_indexes)
        return self._read_snapshot("search memories", memory_search.search, asked)

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        """See ``MemoryRepository.rewrite``."""
        rewriting = Rewriting(draft, expected_version, keep_vector)
        return self._write("rewrite memory", draft.namespace, memory_writes.rewrite, rewriting)

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
        return self._write("mark memory", namespace, memory_writes.mark, marks)

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
        return self._write("record use", namespace, memory_writes.record_use, use)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """See ``MemoryRepository.forget``; what a server keeps of it is said in ``memory_removal.py``."""
        return self._write("forget memories", forgetting.namespace, memory_removal.forget, forgetting)

    def expire(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        created_before: datetime | None = None,
    ) -> Effect[int, RepositoryError]:
        """See ``MemoryRepository.expire``."""
        expiry = Expiry(namespace, session_id, created_before)
        return self._write("expire memories", namespace, memory_removal.expire, expiry)

    def unembedded(
        self,
        namespace: Namespace,
        space: EmbeddingSpace,
        *,
        limit: int,
        after: Place | None = None,
    ) -> Effect[tuple[tuple[Memory, ...], int], RepositoryError]:
        """See ``MemoryRepository.unembedded``."""
        lacking = Unembedded(namespace, space, limit, after)
        return self._read_snapshot("list memories without vector", memory_reads.unembedded, lacking)

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        """See ``MemoryRepository.attach``."""
        attaching = Attaching(namespace, space, attachments)
        return self._write("attach vectors", namespace, memory_writes.attach, attaching)

    def _write(
        self, operation: str, namespace: Namespace, work: Work[Q, A, E], request: Q
    ) -> Effect[A, E | RepositoryError]:
        owner = f"memories of {namespace.user}"
        return Effect.from_outcome(partial(self.database.write, operation, owner, work, request))

    def _read(self, operation: str, work: Read[Q, A], request: Q) -> Effect[A, RepositoryError]:
        return Effect.from_outcome(partial(self.database.read, operation, work, request))

    def _read_snapshot(self, operation: str, work: Read[Q, A], request: Q) -> Effect[A, RepositoryError]:
        return Effect.from_outcome(partial(self.database.read_snapshot, operation, work, request))


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(PostgresMemoryRepository), needs=[DatabaseTag]
)
