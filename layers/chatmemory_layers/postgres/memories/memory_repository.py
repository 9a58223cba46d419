"""``PostgresMemoryRepository``: ``MemoryRepository`` in one PostgreSQL store.

Its methods are implemented in ``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and
``memory_search.py``; ``Database`` runs them.
"""

from datetime import datetime
from typing import Final, final

from attrs import field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Layer
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryRestoreError, MemoryStoreError, RepositoryError
from chatmemory.input.first_answers import request_key
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
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.row_locks import MEMORIES_OF, Owner, user_row
from chatmemory_layers.postgres.engine.spread_keys import user_key
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.first_answers import PostgresFirstAnswers
from chatmemory_layers.postgres.memories import (
    memory_history,
    memory_reads,
    memory_removal,
    memory_search,
    memory_writes,
)
from chatmemory_layers.postgres.memories.memory_search import SearchScope, SpaceFacts
from chatmemory_layers.postgres.memories.memory_store import users_of
from chatmemory_layers.postgres.memories.store_groups import STORES

# Runs under the lock of the user; it makes facts that were read before out of date, see store_groups.py.
_CHANGE_USER: Final = """
UPDATE memory_user SET changed_us = greatest(changed_us + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
WHERE user_key = '{user_key}'::uuid;
"""


def _changing(namespace: Namespace) -> Owner:
    """Return the owner of changes of a user's memories; ``_CHANGE_USER`` locks the row that every user with memories has."""
    first = _CHANGE_USER.format(user_key=user_key(namespace.user))
    return Owner(f"{MEMORIES_OF}{namespace.user}", row=lambda _: "", first=first)


@final
@frozen
class PostgresMemoryRepository(MemoryRepository):
    """Stores memories in *database*, together with the conversations from which they come.

    Attributes:
        known: what searches found out about the memories of users.
    """

    database: Database
    known: dict[SearchScope, SpaceFacts] = field(factory=dict)

    @property
    def log(self) -> PostgresEventLog:
        """The log of the store."""
        return PostgresEventLog(self.database)

    @property
    def answers(self) -> PostgresFirstAnswers:
        """The first answers to repeated requests."""
        return PostgresFirstAnswers(self.database)

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        return self.database.read("read memory", memory_reads.get, namespace, memory_id)

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        return self.database.read("read value", memory_reads.value, namespace, key, as_of=as_of)

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        return self.database.write(
            "retire value", _changing(namespace), memory_writes.retire, namespace, key, now=now
        )

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Effect[Memory, MemoryRestoreError]:
        return self.database.write(
            "restore memory",
            _changing(namespace),
            memory_writes.restore,
            namespace,
            memory_id,
            instead_of=instead_of,
            now=now,
        )

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        return self.database.read("list memories", memory_reads.listed, listing)

    def count(self, listing: MemoryListing, /) -> Effect[tuple[MemoryCount, ...], RepositoryError]:
        return self.database.read("count memories", memory_reads.counted, listing)

    def whole(
        self, *, limit: int, after: tuple[str, str] | None = None
    ) -> Effect[tuple[WholeMemory, ...], RepositoryError]:
        return self.database.read_snapshot(
            "read whole memories", memory_history.whole, limit=limit, after=after
        )

    def reach(
        self, namespace: Namespace, count: int, *, after: tuple[datetime, str] | None = None
    ) -> Effect[datetime | None, RepositoryError]:
        return self.database.read("walk through memories", memory_reads.reach, namespace, count, after=after)

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, RepositoryError]:
        return self.database.read_snapshot(
            "read the history of a memory", memory_history.history, namespace, memory_id
        )

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        return self.database.write(
            "rewrite memory",
            _changing(draft.namespace),
            memory_writes.rewrite,
            draft,
            expected_version=expected_version,
            keep_vector=keep_vector,
        )

    def mark(self, mark: Mark, /) -> Effect[Memory | None, RepositoryError]:
        return self.database.write("mark memory", _changing(mark.namespace), memory_writes.mark, mark)

    def record_use(self, use: Use, /) -> Effect[UseReport, RepositoryError]:
        return self.database.write("record use", _changing(use.namespace), memory_writes.record_use, use)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        return self.database.write(
            "forget memories", _changing(forgetting.namespace), memory_removal.forget, forgetting
        )

    def expire(self, expiry: Expiry, /) -> Effect[int, RepositoryError]:
        return self.database.write(
            "expire memories", _changing(expiry.namespace), memory_removal.expire, expiry
        )

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
        return self.database.write(
            "attach vectors", _changing(namespace), memory_writes.attach, namespace, space, attachments
        )

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        users = [*users_of(drafts).values()]
        if not users and (key := request_key()) is not None:
            users = [key.user]  # for whom the empty outcome is stored
        if not users:
            return Effect.succeed(())
        # If there are several users, only the first is locked; a unique index refuses conflicting writes of the others.
        return self.database.write_together(Owner(f"{MEMORIES_OF}{users[0]}", row=user_row), STORES, drafts)

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        return self.database.read(
            "search memories", memory_search.search, search, self.database.vector_indexes, self.known
        )


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(PostgresMemoryRepository), needs=[DatabaseTag]
)
