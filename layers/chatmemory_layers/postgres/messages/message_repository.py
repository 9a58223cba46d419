"""``PostgresMessageRepository``: ``MessageRepository`` in one PostgreSQL store.

What its methods do stands in ``message_writes.py``, ``message_removal.py``, ``message_reads.py`` and
``history_work.py``, how it gets to the server in ``database.py``.
"""

from datetime import datetime
from functools import partial
from typing import TypeVar, final

from attrs import frozen

from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    ConversationListing,
    HistoryWork,
    MessageRepositoryTag,
    PageQuery,
    Summary,
    WorkThreshold,
)
from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    MessagePage,
    SummarizationMetadata,
)
from chatmemory.effect import Do, Effect, Layer
from chatmemory.errors import AppendError, RepositoryError, VersionConflictError
from chatmemory_layers.postgres.engine.database import Database, DatabaseTag, Read, Work
from chatmemory_layers.postgres.messages import history_work, message_reads, message_removal, message_writes

Q = TypeVar("Q")
A = TypeVar("A")
E = TypeVar("E")


@final
@frozen
class PostgresMessageRepository:
    """Conversations and their queued work in the store of *database*."""

    database: Database

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        """See ``MessageRepository.append``."""
        return self._write("append messages", batch.conversation_id, message_writes.append, batch)

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        """See ``MessageRepository.page``."""
        return self._read("read messages", message_reads.page, query)

    def clear(self, conversation_id: str, *, now: datetime) -> Effect[ClearReport | None, RepositoryError]:
        """See ``MessageRepository.clear``."""
        request = message_writes.Clear(conversation_id, now)
        return self._write("clear messages", conversation_id, message_writes.clear, request)

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RepositoryError]:
        """See ``MessageRepository.remove_newest``."""
        removal = message_removal.Removal(conversation_id, now, threshold)
        return self._write(
            "remove the newest message", conversation_id, message_removal.remove_newest, removal
        )

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """See ``MessageRepository.conversation``."""
        return self._read("read conversation", message_reads.conversation, conversation_id)

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """See ``MessageRepository.conversations``."""
        return self._read("list conversations", message_reads.conversations, listing)

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        """See ``MessageRepository.summarize``."""
        return self._write("summarize", summary.conversation_id, message_writes.summarize, summary)

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        """See ``MessageRepository.summarization``."""
        asked = message_reads.Provenance(conversation_id, summary_message_id)
        return self._read("read summarization", message_reads.summarization, asked)

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        """See ``MessageRepository.summarizations_of``."""
        asked = message_reads.Provenance(conversation_id, message_id)
        return self._read("read summarizations", message_reads.summarizations_of, asked)

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
        operation = "claim history work"

        def claim(candidate: str) -> Effect[HistoryWork | None, RepositoryError]:
            request = history_work.Claim(candidate, now, lease_id, lease_until)
            return self._write(operation, candidate, history_work.claim_work, request)

        if conversation_id is not None:
            return await do(claim(conversation_id))
        look = Effect.from_outcome(
            partial(self.database.read_primary, operation, history_work.candidates, now)
        )
        while candidates := await do(look):
            for candidate in candidates:
                if (work := await do(claim(candidate))) is not None:
                    return work
        return None

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        """See ``MessageRepository.settle_work``."""
        settlement = history_work.Settlement(work, threshold, retry_at)
        return self._write("settle history work", work.conversation_id, history_work.settle_work, settlement)

    def _write(
        self, operation: str, conversation_id: str, work: Work[Q, A, E], request: Q
    ) -> Effect[A, E | RepositoryError]:
        return Effect.from_outcome(partial(self.database.write, operation, conversation_id, work, request))

    def _read(self, operation: str, work: Read[Q, A], request: Q) -> Effect[A, RepositoryError]:
        return Effect.from_outcome(partial(self.database.read, operation, work, request))


message_repository = Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(PostgresMessageRepository), needs=[DatabaseTag]
)
