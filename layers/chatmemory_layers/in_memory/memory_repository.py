"""``InMemoryMemoryRepository``: keeps every promise of ``MemoryRepository`` except durability, in dictionaries.

``chatmemory.longterm.kept_memories`` answers each call.  No method waits for anything, so each is a transaction by itself,
on asyncio and on trio.
"""

from collections.abc import Sequence
from typing import final

from chatmemory.effect import Effect, Layer
from chatmemory.errors import MemoryStoreError, RepositoryError
from chatmemory.longterm.kept_memories import KeptMemories
from chatmemory.longterm.kept_memory import KeptMemory
from chatmemory.longterm.memories import ForgetReceipt, SaveOutcome
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.repository_values import Forgetting, MemoryDraft
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database, lifted, lifted_outcome
from chatmemory_layers.in_memory.event_log import InMemoryEventLog
from chatmemory_layers.in_memory.first_answers import InMemoryFirstAnswers


@final
class InMemoryMemoryRepository:
    """Keeps memories beside the conversations of the same database, until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.answers = InMemoryFirstAnswers(database)
        self.kept = database.memories

    get = lifted("read memory", KeptMemories.get)
    value = lifted("read value", KeptMemories.value)
    retire = lifted("retire value", KeptMemories.retire)
    restore = lifted_outcome("restore memory", KeptMemories.restore)
    list = lifted("list memories", KeptMemories.listed)
    count = lifted("count memories", KeptMemories.count)
    whole = lifted("read whole memories", KeptMemories.whole)
    reach = lifted("walk through memories", KeptMemories.reach)
    search = lifted("search memories", KeptMemories.search)
    history = lifted("read the history of a memory", KeptMemories.history)
    rewrite = lifted_outcome("rewrite memory", KeptMemories.rewrite)
    mark = lifted("mark memory", KeptMemories.mark)
    record_use = lifted("record use", KeptMemories.record_use)
    expire = lifted("expire memories", KeptMemories.expire)
    unembedded = lifted("list memories without vector", KeptMemories.unembedded)
    attach = lifted("attach vectors", KeptMemories.attach)

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        """See ``MemoryRepository.store``."""

        def store(_: None) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
            once = self.database.answers.once("store memories", lambda: self.kept.store(drafts))
            return Effect.from_result(once)

        return self.database.admit("store memories").bind(store)

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """See ``MemoryRepository.forget``."""

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
