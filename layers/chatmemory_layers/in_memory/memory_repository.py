"""``InMemoryMemoryRepository``: keeps every promise of ``MemoryRepository`` except durability, in dictionaries.

``chatmemory.longterm.kept_memories`` answers each call.  No method waits for anything, so each is a transaction by itself,
on asyncio and on trio.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Layer
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryRestoreError, MemoryStoreError, RepositoryError
from chatmemory.input.rules import Place
from chatmemory.longterm.kept_memory import KeptMemory
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
from chatmemory_layers.in_memory.database import (
    Database,
    DatabaseTag,
    InMemoryEventLog,
    InMemoryFirstAnswers,
    database,
)


@final
class InMemoryMemoryRepository(MemoryRepository):
    """Keeps memories together with the conversations of the same database, until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.answers = InMemoryFirstAnswers(database)
        self.kept = database.memories

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        return self.database.run("read memory", lambda: self.kept.get(namespace, memory_id))

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        return self.database.run("read value", lambda: self.kept.value(namespace, key, as_of=as_of))

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        return self.database.run("retire value", lambda: self.kept.retire(namespace, key, now=now))

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Effect[Memory, MemoryRestoreError]:
        return self.database.write(
            "restore memory", lambda: self.kept.restore(namespace, memory_id, instead_of=instead_of, now=now)
        )

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        return self.database.run("list memories", lambda: self.kept.listed(listing))

    def count(self, listing: MemoryListing, /) -> Effect[tuple[MemoryCount, ...], RepositoryError]:
        return self.database.run("count memories", lambda: self.kept.count(listing))

    def whole(
        self, *, limit: int, after: tuple[str, str] | None = None
    ) -> Effect[tuple[WholeMemory, ...], RepositoryError]:
        return self.database.run("read whole memories", lambda: self.kept.whole(limit=limit, after=after))

    def reach(
        self, namespace: Namespace, count: int, *, after: Place | None = None
    ) -> Effect[datetime | None, RepositoryError]:
        return self.database.run(
            "walk through memories", lambda: self.kept.reach(namespace, count, after=after)
        )

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        return self.database.run("search memories", lambda: self.kept.search(search))

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, RepositoryError]:
        return self.database.run(
            "read the history of a memory", lambda: self.kept.history(namespace, memory_id)
        )

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        return self.database.write(
            "rewrite memory",
            lambda: self.kept.rewrite(draft, expected_version=expected_version, keep_vector=keep_vector),
        )

    def mark(self, mark: Mark, /) -> Effect[Memory | None, RepositoryError]:
        return self.database.run("mark memory", lambda: self.kept.mark(mark))

    def record_use(self, use: Use, /) -> Effect[UseReport, RepositoryError]:
        return self.database.run("record use", lambda: self.kept.record_use(use))

    def expire(self, expiry: Expiry, /) -> Effect[int, RepositoryError]:
        return self.database.run("expire memories", lambda: self.kept.expire(expiry))

    def unembedded(
        self,
        namespace: Namespace,
        space: EmbeddingSpace,
        *,
        limit: int,
        after: tuple[datetime, str] | None = None,
    ) -> Effect[tuple[tuple[Memory, ...], int], RepositoryError]:
        return self.database.run(
            "list memories without vector",
            lambda: self.kept.unembedded(namespace, space, limit=limit, after=after),
        )

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        return self.database.run("attach vectors", lambda: self.kept.attach(namespace, space, attachments))

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        return self.database.write("store memories", lambda: self.kept.store(drafts))

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:

        def forget() -> ForgetReceipt:
            gone = self.kept.forget(forgetting)
            for row in gone:
                self.database.answers.forget(forgetting.namespace.user, row.memory.id)
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
