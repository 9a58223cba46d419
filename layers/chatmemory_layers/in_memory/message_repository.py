"""``InMemoryMessageRepository``: keeps every promise of ``MessageRepository`` except durability, in dictionaries.

``chatmemory.conversation.conversations`` answers each call.  No method waits for anything, so each is a transaction by
itself, on asyncio and on trio.
"""

from datetime import datetime
from typing import final

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
from chatmemory_layers.in_memory.database import (
    Database,
    DatabaseTag,
    InMemoryEventLog,
    InMemoryFirstAnswers,
    database,
)


@final
class InMemoryMessageRepository(MessageRepository):
    """Keeps conversations and their queued work until the process ends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.log = InMemoryEventLog(database)
        self.answers = InMemoryFirstAnswers(database)
        self.kept = database.conversations

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        return self.database.write("append messages", lambda: self.kept.append(batch))

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        return self.database.run("read messages", lambda: self.kept.page(query))

    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        return self.database.write("fork a conversation", lambda: self.kept.fork(fork))

    def clear(
        self, conversation_id: str, *, now: datetime, with_branches: bool = False
    ) -> Effect[ClearReport | None, RemovalError]:
        return self.database.write(
            "clear messages", lambda: self.kept.clear(conversation_id, now=now, with_branches=with_branches)
        )

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RemovalError]:
        return self.database.write(
            "remove the newest message",
            lambda: self.kept.remove_newest(conversation_id, now=now, threshold=threshold),
        )

    def replace(self, replacement: Replacement, /) -> Effect[Appended, AppendError]:
        return self.database.write("replace the newest messages", lambda: self.kept.replace(replacement))

    def undo(self, undo: Undo, /) -> Effect[Undone, ConversationUndoRefusal | RepositoryError]:
        return self.database.write("undo a change of a conversation", lambda: self.kept.undo(undo))

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        return self.database.run("read conversation", lambda: self.kept.conversation(conversation_id))

    def owner(self, conversation_id: str) -> Effect[Namespace | None, RepositoryError]:
        return self.database.run("read the owner of a conversation", lambda: self.kept.owner(conversation_id))

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        return self.database.run("list conversations", lambda: self.kept.conversations(listing))

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        return self.database.write("summarize", lambda: self.kept.summarize(summary))

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        return self.database.run(
            "read summarization", lambda: self.kept.summarization(conversation_id, summary_message_id)
        )

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        return self.database.run(
            "read summarizations", lambda: self.kept.summarizations_of(conversation_id, message_id)
        )

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        return self.database.run(
            "claim history work",
            lambda: self.kept.claim_work(
                now=now, lease_id=lease_id, lease_until=lease_until, conversation_id=conversation_id
            ),
        )

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        return self.database.run(
            "settle history work", lambda: self.kept.settle_work(work, threshold=threshold, retry_at=retry_at)
        )


message_repository = database >> Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(InMemoryMessageRepository), needs=[DatabaseTag]
)
