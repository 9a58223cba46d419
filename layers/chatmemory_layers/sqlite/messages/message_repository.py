"""``SqliteMessageRepository``: ``MessageRepository`` in one file.

Its methods are implemented in ``message_writes.py``, ``message_forks.py``, ``message_removal.py``, ``message_reads.py`` and
``history_work.py``; ``Database`` runs them.
"""

from datetime import datetime
from operator import attrgetter
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
from chatmemory.effect import Effect, Layer
from chatmemory.errors import (
    AppendError,
    ConversationUndoRefusal,
    ForkRefusal,
    RemovalError,
    RepositoryError,
    VersionConflictError,
)
from chatmemory_layers.sqlite.engine.database import DatabaseTag
from chatmemory_layers.sqlite.engine.jobs import Database
from chatmemory_layers.sqlite.events.event_log import SqliteEventLog
from chatmemory_layers.sqlite.first_answers import SqliteFirstAnswers
from chatmemory_layers.sqlite.messages import (
    history_work,
    message_forks,
    message_reads,
    message_removal,
    message_writes,
)


@final
@frozen
class SqliteMessageRepository(MessageRepository):
    """Keeps conversations and their queued work in the file of *database*."""

    database: Database

    @property
    def log(self) -> SqliteEventLog:
        """The log of the store."""
        return SqliteEventLog(self.database)

    @property
    def answers(self) -> SqliteFirstAnswers:
        """The first answers to repeated requests."""
        return SqliteFirstAnswers(self.database)

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        return self.database.write("append messages", message_writes.append, batch)

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        return self.database.read("read messages", message_reads.page, query)

    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        return self.database.write("fork a conversation", message_forks.fork, fork)

    def clear(
        self, conversation_id: str, *, now: datetime, with_branches: bool = False
    ) -> Effect[ClearReport | None, RemovalError]:
        return self.database.erase(
            "clear messages",
            message_writes.clear,
            bool,
            conversation_id,
            now=now,
            with_branches=with_branches,
        )

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RemovalError]:
        return self.database.erase(
            "remove the newest message",
            message_removal.remove_newest,
            bool,
            conversation_id,
            now=now,
            threshold=threshold,
        )

    def replace(self, replacement: Replacement, /) -> Effect[Appended, AppendError]:
        return self.database.write("replace the newest messages", message_removal.replace, replacement)

    def undo(self, undo: Undo, /) -> Effect[Undone, ConversationUndoRefusal | RepositoryError]:
        return self.database.erase(
            "undo a change of a conversation", message_removal.undo, attrgetter("removed"), undo
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
        return self.database.write("summarize", message_writes.summarize, summary)

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

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        return self.database.write(
            "claim history work",
            history_work.claim_work,
            now=now,
            lease_id=lease_id,
            lease_until=lease_until,
            conversation_id=conversation_id,
        )

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        return self.database.write(
            "settle history work", history_work.settle_work, work, threshold=threshold, retry_at=retry_at
        )


message_repository = Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(SqliteMessageRepository), needs=[DatabaseTag]
)
