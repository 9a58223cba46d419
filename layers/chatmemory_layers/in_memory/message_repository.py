"""``InMemoryMessageRepository``: every promise of ``MessageRepository`` but durability, in dictionaries.

What one conversation holds and how it changes is said in ``history.py``; here are the guards, the work queue and the
layer.  No method waits for anything, so each is a transaction by itself, on asyncio and on trio.
"""

from datetime import datetime
from operator import itemgetter
from typing import final

from attrs import define

from chatmemory.contracts import (
    Append,
    Appended,
    ConversationListing,
    HistoryWork,
    MessageRepositoryTag,
    PageQuery,
    Summary,
    WorkIsDue,
)
from chatmemory.effect import Do, Effect, Layer
from chatmemory.errors import AppendError, MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.messages import ChatMessage, ClearReport, Conversation, MessagePage, SummarizationMetadata
from chatmemory_layers.in_memory.database import Database, DatabaseTag, database
from chatmemory_layers.in_memory.history import History


@define(eq=False)
class QueuedWork:
    """History work that waits until *due_at*, or that somebody holds until *lease_until*."""

    due_at: datetime
    attempts: int = 0
    lease_id: str | None = None
    lease_until: datetime | None = None

    def is_free(self, now: datetime) -> bool:
        """Tell whether it may be claimed."""
        return self.due_at <= now and (self.lease_until is None or self.lease_until <= now)


@final
class InMemoryMessageRepository:
    """Conversations and their queued work, gone with the process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._histories = database.histories
        self._work: dict[str, QueuedWork] = {}

    @Effect.gen
    async def append(self, do: Do[AppendError], batch: Append) -> Appended:
        """See ``MessageRepository.append``."""
        await do(self._database.admit("append messages"))
        key = batch.conversation_id
        history = self._histories.get(key) or History(key, created_at=batch.now, updated_at=batch.now)
        expected = batch.expected_version
        if expected is not None and expected != history.version and not history.has_all_of(batch):
            do.fail(VersionConflictError(key, expected=expected, actual=history.version))
        sorted_batch = history.append(batch)
        if sorted_batch.conflicts:
            do.fail(MessageConflictError(key, tuple(sorted_batch.conflicts)))
        conversation = history.conversation()
        if sorted_batch.new:
            self._histories[key] = history
            if batch.is_due(conversation):
                self._work.setdefault(key, QueuedWork(due_at=batch.now))
        return Appended(
            stored=tuple(sorted_batch.new),
            duplicates=tuple(sorted_batch.duplicates),
            conversation=conversation,
            work_is_due=key in self._work,
        )

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        """See ``MessageRepository.page``."""
        return self._database.run(
            "read messages",
            lambda: history.page(query) if (history := self._known(query.conversation_id)) else None,
        )

    def clear(self, conversation_id: str, *, now: datetime) -> Effect[ClearReport | None, RepositoryError]:
        """See ``MessageRepository.clear``."""

        def clear() -> ClearReport | None:
            self._work.pop(conversation_id, None)
            return history.clear(now) if (history := self._known(conversation_id)) else None

        return self._database.run("clear messages", clear)

    def remove_newest(
        self, conversation_id: str, *, now: datetime, is_due: WorkIsDue
    ) -> Effect[ChatMessage | None, RepositoryError]:
        """See ``MessageRepository.remove_newest``."""

        def remove() -> ChatMessage | None:
            history = self._known(conversation_id)
            if history is None or not history.view:
                return None
            removed = history.remove_newest(now)
            if not is_due(history.conversation()):
                self._work.pop(conversation_id, None)
            return removed

        return self._database.run("remove the newest message", remove)

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """See ``MessageRepository.conversation``."""
        return self._database.run(
            "read conversation",
            lambda: history.conversation() if (history := self._known(conversation_id)) else None,
        )

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """See ``MessageRepository.conversations``."""

        def listed() -> tuple[Conversation, ...]:
            known = (history.place for history in self._histories.values() if history.full)
            places = [place for place in known if place[1].startswith(listing.prefix)]
            after = listing.after
            if listing.order == "id":
                behind = [place for place in places if after is None or place[1] > after[1]]
                behind.sort(key=itemgetter(1))
            else:
                behind = [place for place in places if after is None or place < after]
                behind.sort(reverse=True)
            return tuple(self._histories[key].conversation() for _, key in behind[: listing.limit])

        return self._database.run("list conversations", listed)

    @Effect.gen
    async def summarize(
        self, do: Do[VersionConflictError | RepositoryError], summary: Summary
    ) -> Conversation:
        """See ``MessageRepository.summarize``."""
        await do(self._database.admit("summarize"))
        key = summary.conversation_id
        history = self._known(key)
        if history is None or not history.can_take(summary):
            version = self._histories[key].version if key in self._histories else 0
            do.fail(VersionConflictError(key, expected=summary.planned_at_version, actual=version))
        if summary.draft.id in history.by_id:
            do.fail(RepositoryError("summarize", "unexpected", f"{summary.draft.id!r} is stored already"))
        history.summarize(summary)
        conversation = history.conversation()
        if not summary.is_due(conversation):
            self._work.pop(key, None)
        return conversation

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        """See ``MessageRepository.summarization``."""
        return self._database.run(
            "read summarization",
            lambda: (
                history.summarizations.get(summary_message_id)
                if (history := self._known(conversation_id))
                else None
            ),
        )

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        """See ``MessageRepository.summarizations_of``."""
        return self._database.run(
            "read summarizations",
            lambda: (
                tuple(history.summarizations_of(message_id))
                if (history := self._known(conversation_id))
                else ()
            ),
        )

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        """See ``MessageRepository.claim_work``."""

        def claim() -> HistoryWork | None:
            free = [
                key
                for key, work in self._work.items()
                if work.is_free(now) and conversation_id in {None, key}
            ]
            if not free:
                return None
            key = min(free, key=lambda key: self._work[key].due_at)
            work = self._work[key]
            work.attempts += 1
            work.lease_id, work.lease_until = lease_id, lease_until
            return HistoryWork(key, attempts=work.attempts, lease_id=lease_id)

        return self._database.run("claim history work", claim)

    def settle_work(
        self, work: HistoryWork, *, is_due: WorkIsDue, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        """See ``MessageRepository.settle_work``."""

        def settle() -> None:
            key = work.conversation_id
            held = self._work.get(key)
            if held is None or held.lease_id != work.lease_id:
                return
            if retry_at is not None:
                self._work[key] = QueuedWork(due_at=retry_at, attempts=held.attempts)
            elif is_due(self._histories[key].conversation()):
                self._work[key] = QueuedWork(due_at=held.due_at)
            else:
                del self._work[key]

        return self._database.run("settle history work", settle)

    def _known(self, conversation_id: str) -> History | None:
        history = self._histories.get(conversation_id)
        return history if history is not None and history.full else None


message_repository = database >> Layer.effect(
    MessageRepositoryTag, Effect.service(DatabaseTag).map(InMemoryMessageRepository), needs=[DatabaseTag]
)
