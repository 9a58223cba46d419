"""``PostgresMessageRepository``: ``MessageRepository`` in one PostgreSQL store.

``message_writes.py``, ``message_removal.py``, ``message_replacing.py``, ``message_reads.py`` and ``history_work.py`` define what
its methods do, and ``engine/methods.py`` how they run.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    Fork,
    HistoryWork,
    MessageRepositoryTag,
    Replacement,
    Summary,
    Undo,
    latest_end,
)
from chatmemory.conversation.messages import ClearReport
from chatmemory.effect import Do, Effect, Layer, Outcome
from chatmemory.errors import AccessDeniedError, AppendError, RepositoryError
from chatmemory_layers.postgres.answers.first_answers import PostgresFirstAnswers
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.methods import reads, writes, writes_together
from chatmemory_layers.postgres.engine.row_locks import Place, conversation_row, trees_row
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.messages import (
    history_work,
    message_forks,
    message_reads,
    message_removal,
    message_replacing,
    message_undoing,
    message_writes,
)
from chatmemory_layers.postgres.messages.append_groups import APPENDS


def _named(conversation_id: str, **_: object) -> str:
    return conversation_id


def _of_batch(batch: Append) -> Place:
    return Place(batch.conversation_id, row=conversation_row)


def _of_fork(fork: Fork) -> str:
    return fork.new_id


def _of_replacement(replacement: Replacement) -> str:
    return replacement.conversation_id


def _of_summary(summary: Summary) -> str:
    return summary.conversation_id


def _of_undo(undo: Undo) -> str:
    return undo.conversation_id


def _of_trees(*_: object, **__: object) -> str:
    return "trees of conversations"


def _of_work(work: HistoryWork, **_: object) -> str:
    return work.conversation_id


@final
@frozen
class PostgresMessageRepository:
    """Stores conversations and their queued history work in *database*."""

    database: Database

    @property
    def log(self) -> PostgresEventLog:
        """See ``KeepsLog``."""
        return PostgresEventLog(self.database)

    @property
    def answers(self) -> PostgresFirstAnswers:
        """See ``KeepsAnswers``."""
        return PostgresFirstAnswers(self.database)

    _append = writes_together(APPENDS, owner=_of_batch)
    page = reads("read messages", message_reads.page)
    fork = writes("fork a conversation", message_forks.fork, owner=_of_fork, row=conversation_row)
    _clear = writes("clear messages", message_writes.clear, owner=_named, row=conversation_row)
    _clear_tree = writes("clear messages", message_writes.clear_tree, owner=_of_trees, row=trees_row)
    remove_newest = writes(
        "remove the newest message", message_removal.remove_newest, owner=_named, row=conversation_row
    )
    replace = writes(
        "replace the newest messages", message_replacing.replace, owner=_of_replacement, row=conversation_row
    )
    undo = writes(
        "undo a change of a conversation", message_undoing.undo, owner=_of_undo, row=conversation_row
    )
    conversation = reads("read conversation", message_reads.conversation)
    owner = reads("read the owner of a conversation", message_reads.owner)
    conversations = reads("list conversations", message_reads.conversations)
    summarize = writes("summarize", message_writes.summarize, owner=_of_summary, row=conversation_row)
    summarization = reads("read summarization", message_reads.summarization)
    summarizations_of = reads("read summarizations", message_reads.summarizations_of)
    settle_work = writes(
        "settle history work", history_work.settle_work, owner=_of_work, row=conversation_row
    )
    _claim = writes("claim history work", history_work.claim_work, owner=_named, row=conversation_row)

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        """See ``MessageRepository.append``; appends that wait together are committed together."""
        return self._append(batch)

    def clear(
        self, conversation_id: str, *, now: datetime, with_branches: bool = False
    ) -> Effect[ClearReport | None, AccessDeniedError | RepositoryError]:
        """See ``MessageRepository.clear``."""
        clear = self._clear_tree if with_branches else self._clear
        return clear(conversation_id, now=now)

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

        The queue is read without locks, and another worker may claim the same work first.  Then the queue is read again,
        until a claim succeeds or no work is left.
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
