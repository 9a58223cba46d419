"""``PostgresMemoryRepository``: ``MemoryRepository`` in one PostgreSQL store.

``memory_store.py``, ``memory_writes.py``, ``memory_removal.py``, ``memory_reads.py`` and ``memory_search.py`` define what its
methods do, and ``engine/methods.py`` how they run.
"""

from typing import Final, final

from attrs import field, frozen

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
from chatmemory_layers.postgres.answers.first_answers import PostgresFirstAnswers
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.methods import reads, writes, writes_together
from chatmemory_layers.postgres.engine.row_locks import MEMORIES_OF, Place, user_row
from chatmemory_layers.postgres.engine.spread_keys import user_key
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.memories import (
    memory_history,
    memory_reads,
    memory_removal,
    memory_search,
    memory_writes,
    whole_memories,
)
from chatmemory_layers.postgres.memories.store_groups import STORES

# Runs under the lock of the user; it makes facts that were read before out of date, see store_groups.py.
_CHANGE_USER: Final = """
UPDATE memory_user SET changed_us = greatest(changed_us + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
WHERE user_key = '{user_key}'::uuid;
"""

_MOST_KNOWN: Final = 10_000  # users; then they are found out anew


def _user(namespace: Namespace, *_: object, **__: object) -> str:
    return f"{MEMORIES_OF}{namespace.user}"


def _user_of_draft(draft: MemoryDraft, **_: object) -> str:
    return _user(draft.namespace)


def _user_of_drafts(drafts: tuple[MemoryDraft, ...]) -> Place:
    # If there are several users, only the first is locked; a unique index refuses conflicting writes of the others.
    namespace = drafts[0].namespace
    return Place(_user(namespace), row=user_row, first=_changed(namespace))


def _changed(namespace: Namespace, *_: object, **__: object) -> str:
    return _CHANGE_USER.format(user_key=user_key(namespace.user))


def _changed_by_draft(draft: MemoryDraft, **_: object) -> str:
    return _changed(draft.namespace)


def _changed_by_forgetting(forgetting: Forgetting, /) -> str:
    return _changed(forgetting.namespace)


def _user_of_forgetting(forgetting: Forgetting, /) -> str:
    return _user(forgetting.namespace)


def _no_more(_: str) -> str:
    return ""  # _CHANGE_USER locks the row of the user; a user without a row has no memory to change


@final
@frozen
class PostgresMemoryRepository:
    """Stores memories in *database*, beside the conversations from which they come.

    Attributes:
        with_many: users who were found to have many memories, so that the search of few is not tried for them again.
    """

    database: Database
    with_many: set[str] = field(factory=set)

    @property
    def log(self) -> PostgresEventLog:
        """See ``KeepsLog``."""
        return PostgresEventLog(self.database)

    @property
    def answers(self) -> PostgresFirstAnswers:
        """See ``KeepsAnswers``."""
        return PostgresFirstAnswers(self.database)

    get = reads("read memory", memory_reads.get)
    value = reads("read value", memory_reads.value)
    retire = writes("retire value", memory_writes.retire, owner=_user, row=_no_more, first=_changed)
    restore = writes("restore memory", memory_writes.restore, owner=_user, row=_no_more, first=_changed)
    list = reads("list memories", memory_reads.listed, on_snapshot=True)
    count = reads("count memories", memory_reads.counted, on_snapshot=True)
    whole = reads("read whole memories", whole_memories.whole, on_snapshot=True)
    reach = reads("walk through memories", memory_reads.reach, on_snapshot=True)
    history = reads("read the history of a memory", memory_history.history, on_snapshot=True)
    rewrite = writes(
        "rewrite memory", memory_writes.rewrite, owner=_user_of_draft, row=_no_more, first=_changed_by_draft
    )
    mark = writes("mark memory", memory_writes.mark, owner=_user, row=_no_more, first=_changed)
    record_use = writes("record use", memory_writes.record_use, owner=_user, row=_no_more, first=_changed)
    forget = writes(
        "forget memories",
        memory_removal.forget,
        owner=_user_of_forgetting,
        row=_no_more,
        first=_changed_by_forgetting,
    )
    expire = writes("expire memories", memory_removal.expire, owner=_user, row=_no_more, first=_changed)
    unembedded = reads("list memories without vector", memory_reads.unembedded, on_snapshot=True)
    attach = writes("attach vectors", memory_writes.attach, owner=_user, row=_no_more, first=_changed)

    _store = writes_together(STORES, owner=_user_of_drafts)

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        """See ``MemoryRepository.store``."""
        return self._store(drafts) if drafts else Effect.succeed(())

    @Effect.coroutine
    async def search(self, search: MemorySearch, /) -> Outcome[Candidates, RepositoryError]:
        """See ``MemoryRepository.search``."""
        indexes, user = self.database.vector_indexes, search.namespace.user
        if user not in self.with_many:
            found = await self.database.read(
                "search memories", memory_search.search_few, search, has_vectors=indexes is not None
            )
            if not isinstance(found, Success):
                return found
            if (candidates := found.unwrap()) is not None:
                return Success(candidates)
            if len(self.with_many) >= _MOST_KNOWN:
                self.with_many.clear()
            self.with_many.add(user)
        return await self.database.read_snapshot("search memories", memory_search.search, search, indexes)


memory_repository = Layer.effect(
    MemoryRepositoryTag, Effect.service(DatabaseTag).map(PostgresMemoryRepository), needs=[DatabaseTag]
)
