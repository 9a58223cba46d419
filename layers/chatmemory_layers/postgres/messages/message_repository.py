"""``PostgresMessageRepository``: ``MessageRepository`` in one PostgreSQL store.

What its methods do is said in ``message_writes.py``, ``message_removal.py``, ``message_reads.py`` and
``history_work.py``, how they get to the server in ``engine/methods.py``.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.conversation.message_repository import (
    Append,
    Fork,
    HistoryWork,
    MessageRepositoryTag,
    Summary,
    latest_end,
)
from chatmemory.effect import Do, Effect, Layer, Outcome
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.methods import reads, writes
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.messages import (
    history_work,
    message_forks,
    message_reads,
    message_removal,
    message_writes,
)


def _named(conversation_id: str, **_: object) -> str:
    return conversation_id


def _of_batch(batch: Append) -> str:
    return batch.conversation_id


def _of_fork(fork: Fork) -> str:
    return fork.new_id


def _of_summary(summary: Summary) -> str:
    return summary.conversation_id


def _of_work(work: HistoryWork, **_: object) -> str:
    return work.conversation_id


@final
@frozen
class PostgresMessageRepository:
    """Conversations and their queued work in the store of *database*."""

    database: Database

    @property
    def log(self) -> PostgresEventLog:
        """See ``KeepsLog``."""
        return PostgresEventLog(self.database)

    append = writes("append messages", message_writes.append, owner=_of_batch)
    page = reads("read messages", message_reads.page)
    fork = writes("fork a conversation", message_forks.fork, owner=_of_fork)
    clear = writes("clear messages", message_writes.clear, owner=_named)
    remove_newest = writes("remove the newest message", message_removal.remove_newest, owner=_named)
    conversation = reads("read conversation", message_reads.conversation)
    conversations = reads("list conversations", message_reads.conversations)
    summarize = writes("summarize", message_writes.summarize, owner=_of_summary)
    summarization = reads("read summarization", message_reads.summarization)
    summarizations_of = reads("read summarizations", message_reads.summarizations_of)
    settle_work = writes("settle history work", history_work.settle_work, owner=_of_work)
    _claim = writes("claim history work", history_work.claim_work, owner=_named)

    @Effect.gen
    async def claim_work(
        self,
        do: Do[RepositoryError],
        *,
        now: datetime,
        lease_id: str,
        lease_until: datetime,
        conversation_id: str | None = None,
    ) -> HistoryWork | None:
        """See ``MessageRepository.claim_work``.

        The queue is looked through without locks, and others may be quicker: it is looked through again, until either
        a claim succeeds or nothing is left to claim.
        """
        if conversation_id is not None:
            claim = self._claim(conversation_id, now=now, lease_id=lease_id, lease_until=lease_until)
            return await do(claim)
        latest = latest_end(now, lease_until)
        while candidates := await do(self._candidates(now, latest)):
            for candidate in candidates:
                claim = self._claim(candidate, now=now, lease_id=lease_id, lease_until=lease_until)
                if (work := await do(claim)) is not None:
                    return work
        return None

    @Effect.coroutine
    async def _candidates(self, now: datetime, latest: datetime) -> Outcome[tuple[str, ...], RepositoryError]:
        return await self.database.read_primary("claim history work", history_work.candidates, now, latest)


message_repository = Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(PostgresMessageRepository), needs=[DatabaseTag]
)
