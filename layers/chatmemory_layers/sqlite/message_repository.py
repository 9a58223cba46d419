"""``SqliteMessageRepository``: ``MessageRepository`` in one file.

One line per method: what it does stands in ``message_writes.py``, ``message_removal.py``, ``message_reads.py`` and
``history_work.py``, how it
gets to the disk in ``database.py``.
"""

from datetime import datetime
from functools import partial
from typing import final

from attrs import frozen

from chatmemory.contracts import (
    Append,
    Appended,
    ConversationListing,
    HistoryWork,
    MessageRepositoryTag,
    PageQuery,
    Summary,
    WorkThreshold,
)
from chatmemory.effect import Effect, Layer
from chatmemory.errors import AppendError, RepositoryError, VersionConflictError
from chatmemory.messages import ChatMessage, ClearReport, Conversation, MessagePage, SummarizationMetadata
from chatmemory_layers.sqlite import history_work, message_reads, message_removal, message_writes
from chatmemory_layers.sqlite.database import Database, DatabaseTag


@final
@frozen
class SqliteMessageRepository:
    """Conversations and their queued work in the file of *database*."""

    database: Database

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        """See ``MessageRepository.append``."""
        return Effect.from_outcome(
            partial(self.database.write, "append messages", message_writes.append, batch)
        )

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        """See ``MessageRepository.page``."""
        return Effect.from_outcome(partial(self.database.read, "read messages", message_reads.page, query))

    def clear(self, conversation_id: str, *, now: datetime) -> Effect[ClearReport | None, RepositoryError]:
        """See ``MessageRepository.clear``."""
        return Effect.from_outcome(
            partial(
                self.database.write,
                "clear messages",
                message_writes.clear,
                message_writes.Clear(conversation_id, now),
            )
        )

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RepositoryError]:
        """See ``MessageRepository.remove_newest``."""
        removal = message_removal.Removal(conversation_id, now, threshold)
        return Effect.from_outcome(
            partial(self.database.write, "remove the newest message", message_removal.remove_newest, removal)
        )

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """See ``MessageRepository.conversation``."""
        return Effect.from_outcome(
            partial(self.database.read, "read conversation", message_reads.conversation, conversation_id)
        )

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """See ``MessageRepository.conversations``."""
        return Effect.from_outcome(
            partial(self.database.read, "list conversations", message_reads.conversations, listing)
        )

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        """See ``MessageRepository.summarize``."""
        return Effect.from_outcome(
            partial(self.database.write, "summarize", message_writes.summarize, summary)
        )

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        """See ``MessageRepository.summarization``."""
        asked = message_reads.Provenance(conversation_id, summary_message_id)
        return Effect.from_outcome(
            partial(self.database.read, "read summarization", message_reads.summarization, asked)
        )

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        """See ``MessageRepository.summarizations_of``."""
        asked = message_reads.Provenance(conversation_id, message_id)
        return Effect.from_outcome(
            partial(self.database.read, "read summarizations", message_reads.summarizations_of, asked)
        )

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        """See ``MessageRepository.claim_work``."""
        claim = history_work.Claim(now, lease_id, lease_until, conversation_id)
        return Effect.from_outcome(
            partial(self.database.write, "claim history work", history_work.claim_work, claim)
        )

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        """See ``MessageRepository.settle_work``."""
        settlement = history_work.Settlement(work, threshold, retry_at)
        return Effect.from_outcome(
            partial(self.database.write, "settle history work", history_work.settle_work, settlement)
        )


message_repository = Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(SqliteMessageRepository), needs=[DatabaseTag]
)
