"""``InMemoryMemoryRepository``: every promise of ``MemoryRepository`` but durability, in dictionaries.

What is kept and how it changes is said in ``memory_table.py`` and ``memory_row.py``, how it is found in
``memory_search.py``.  No method waits for anything, so each is a transaction by itself, on asyncio and on trio.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from chatmemory.effect import Do, Effect, Layer
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryStoreError, RepositoryError
from chatmemory.input.page_cursor import Place
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
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database
from chatmemory_layers.in_memory.memory_row import Row
from chatmemory_layers.in_memory.memory_search import candidates


@final
class InMemoryMemoryRepository:
    """Memories beside the conversations of the same database, gone with the process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._memories = database.memories
        self._conversations = database.conversations

    @Effect.gen
    async def store(
        self, do: Do[MemoryStoreError], drafts: tuple[MemoryDraft, ...]
    ) -> tuple[Stored | Duplicate, ...]:
        """See ``MemoryRepository.store``."""
        await do(self._database.admit("store memories"))
        outcomes = self._memories.store(drafts)
        return outcomes if isinstance(outcomes, tuple) else do.fail(outcomes)

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.get``."""
        return self._database.run(
            "read memory",
            lambda: row.handed_out() if (row := self._memories.seen(namespace, memory_id)) else None,
        )

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.value``."""
        return self._database.run(
            "read value",
            lambda: (
                rows[0].handed_out() if (rows := self._memories.of_key(namespace, key, as_of=as_of)) else None
            ),
        )

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        """See ``MemoryRepository.retire``."""
        return self._database.run("retire value", lambda: self._memories.retire(namespace, key, now=now))

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        """See ``MemoryRepository.list``."""
        return self._database.run("list memories", lambda: _handed_out(self._memories.listed(listing)))

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """See ``MemoryRepository.search``."""
        return self._database.run("search memories", lambda: candidates(self._memories.rows.values(), search))

    @Effect.gen
    async def rewrite(
        self,
        do: Do[MemoryChangedError | RepositoryError],
        draft: MemoryDraft,
        *,
        expected_version: int,
        keep_vector: bool = False,
    ) -> Memory | None:
        """See ``MemoryRepository.rewrite``."""
        await do(self._database.admit("rewrite memory"))
        row = self._memories.seen(draft.namespace, draft.id)
        if row is None:
            return None
        if row.memory.version != expected_version:
            do.fail(MemoryChangedError(row.id, expected=expected_version, actual=row.memory.version))
        return self._memories.rewrite(row, draft, keep_vector=keep_vector).handed_out()

    def mark(
        self,
        namespace: Namespace,
        memory_id: str,
        *,
        memory_type: MemoryType | None = None,
        pinned: bool | None = None,
    ) -> Effect[Memory | None, RepositoryError]:
        """See ``MemoryRepository.mark``."""

        def mark() -> Memory | None:
            row = self._memories.seen(namespace, memory_id)
            return row and self._memories.mark(row, memory_type=memory_type, pinned=pinned).handed_out()

        return self._database.run("mark memory", mark)

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
        return self._database.run(
            "record use",
            lambda: self._memories.record_use(
                namespace,
                memory_ids,
                use_id=use_id,
                session_id=session_id,
                now=now,
                promote_after=promote_after,
            ),
        )

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """See ``MemoryRepository.forget``."""

        def forget() -> ForgetReceipt:
            gone = self._memories.forget(forgetting)
            return ForgetReceipt(
                memories=len(gone),
                embeddings=sum(row.vector is not None for row in gone),
                stale_summaries=self._mark_stale(gone),
            )

        return self._database.run("forget memories", forget)

    def expire(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        created_before: datetime | None = None,
    ) -> Effect[int, RepositoryError]:
        """See ``MemoryRepository.expire``."""
        return self._database.run(
            "expire memories",
            lambda: self._memories.expire(namespace, session_id=session_id, created_before=created_before),
        )

    def unembedded(
        self, namespace: Namespace, space: EmbeddingSpace, *, limit: int, after: Place | None = None
    ) -> Effect[tuple[tuple[Memory, ...], int], RepositoryError]:
        """See ``MemoryRepository.unembedded``."""

        def unembedded() -> tuple[tuple[Memory, ...], int]:
            rows, count = self._memories.unembedded(namespace, space, limit=limit, after=after)
            return _handed_out(rows), count

        return self._database.run("list memories without vector", unembedded)

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        """See ``MemoryRepository.attach``."""
        return self._database.run(
            "attach vectors", lambda: self._memories.attach(namespace, space, attachments)
        )

    def _mark_stale(self, gone: Sequence[Row]) -> tuple[str, ...]:
        stale = set[str]()
        for memory in (row.memory for row in gone):
            if memory.session_id is not None:
                for message_id in memory.provenance.message_ids:
                    stale |= self._conversations.mark_stale(memory.session_id, message_id)
        return tuple(sorted(stale))


def _handed_out(rows: Sequence[Row]) -> tuple[Memory, ...]:
    return tuple([row.handed_out() for row in rows])


memory_repository = database >> Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(InMemoryMemoryRepository), needs=[DatabaseTag]
)
