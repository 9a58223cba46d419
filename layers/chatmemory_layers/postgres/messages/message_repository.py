"""``PostgresMessageRepository``: ``MessageRepository`` in one PostgreSQL store.

Its methods are implemented in ``message_writes.py``, ``message_removal.py``, ``message_reads.py`` and ``history_work.py``; ``Database`` runs them.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    ConversationListing,
    Fork,
    HistoryWork,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Replacement,
    Summary,
    Undo,
    WorkThreshold,
    latest_end,
)
from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    Forked,
    MessagePage,
    SummarizationMetadata,
    Undone,
)
from chatmemory.effect import Do, Effect, Layer
from chatmemory.errors import (
    AccessDeniedError,
    AppendError,
    ConversationUndoRefusal,
    ForkRefusal,
    RemovalError,
    RepositoryError,
    VersionConflictError,
)
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag
from chatmemory_layers.postgres.engine.row_locks import TREES, conversation_owner
from chatmemory_layers.postgres.events.event_log import PostgresEventLog
from chatmemory_layers.postgres.first_answers import PostgresFirstAnswers
from chatmemory_layers.postgres.messages import (
    history_work,
    message_forks,
    message_reads,
    message_removal,
    message_writes,
)
from chatmemory_layers.postgres.messages.append_groups import APPENDS


@final
@frozen
class PostgresMessageRepository(MessageRepository):
    """Stores conversations and their queued history work in *database*."""

    database: Database

    @property
    def log(self) -> PostgresEventLog:
        """The log of the store."""
        return PostgresEventLog(self.database)

    @property
    def answers(self) -> PostgresFirstAnswers:
        """The first answers to repeated requests."""
        return PostgresFirstAnswers(self.database)

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        return self.database.read("read messages", message_reads.page, query)

    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        return self.database.write(
            "fork a conversation", conversation_owner(fork.new_id), message_forks.fork, fork
        )

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RemovalError]:
        return self.database.write(
            "remove the newest message",
            conversation_owner(conversation_id),
            message_removal.remove_newest,
            conversation_id,
            now=now,
            threshold=threshold,
        )

    def replace(self, replacement: Replacement, /) -> Effect[Appended, AppendError]:
        return self.database.write(
            "replace the newest messages",
            conversation_owner(replacement.conversation_id),
            message_removal.replace,
            replacement,
        )

    def undo(self, undo: Undo, /) -> Effect[Undone, ConversationUndoRefusal | RepositoryError]:
        return self.database.write(
            "undo a change of a conversation",
            conversation_owner(undo.conversation_id),
            message_removal.undo,
            undo,
        )

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        return self.database.read("read conversation", message_reads.conversation, conversation_id)

    def owner(self, conversation_id: str) -> Effect[Namespace | None, RepositoryError]:
        return self.database.read("read the owner of a conversation", message_reads.owner, conversation_id)

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        return self.database.read("list conversations", message_reads.conversations, listing)

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        return self.database.write(
            "summarize", conversation_owner(summary.conversation_id), message_writes.summarize, summary
        )

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        return self.database.read(
            "read summarization", message_reads.summarization, conversation_id, summary_message_id
        )

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        return self.database.read(
            "read summarizations", message_reads.summarizations_of, conversation_id, message_id
        )

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        return self.database.write(
            "settle history work",
            conversation_owner(work.conversation_id),
            history_work.settle_work,
            work,
            threshold=threshold,
            retry_at=retry_at,
        )

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        return self.database.write_together(conversation_owner(batch.conversation_id), APPENDS, batch)

    def clear(
        self, conversation_id: str, *, now: datetime, with_branches: bool = False
    ) -> Effect[ClearReport | None, AccessDeniedError | RepositoryError]:
        return self.database.write(
            "clear messages",
            TREES if with_branches else conversation_owner(conversation_id),
            message_writes.clear,
            conversation_id,
            now=now,
            with_branches=with_branches,
        )

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

        def claim(conversation_id: str) -> Effect[HistoryWork | None, RepositoryError]:
            return self.database.write(
                "claim history work",
                conversation_owner(conversation_id),
                history_work.claim_work,
                conversation_id,
                now=now,
                lease_id=lease_id,
                lease_until=lease_until,
            )

        if conversation_id is not None:
            return await do(claim(conversation_id))
        # The queue is read without locks, and another worker may claim the same work first.  Then the queue is read again,
        # until a claim succeeds or no work is left.
        queue = self.database.read_primary(
            "claim history work", history_work.candidates, now, latest_end(now, lease_until)
        )
        while candidates := await do(queue):
            for candidate in candidates:
                if (work := await do(claim(candidate))) is not None:
                    return work
        return None


message_repository = Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(PostgresMessageRepository), needs=[DatabaseTag]
)
