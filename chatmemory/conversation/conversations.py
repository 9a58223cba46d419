"""``Conversations``: every promise of ``MessageRepository`` but durability, in a dictionary of histories.

The executable specification: ``InMemoryMessageRepository`` hands its answers out as effects, and the laws ask it what any
other repository has to answer.  No method waits for anything, so each is a transaction by itself.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final, TypeVar, final

from attrs import define, evolve, field

from chatmemory.access.principal import principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.forks import decide_fork
from chatmemory.conversation.history import History
from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    ConversationListing,
    Fork,
    HistoryWork,
    PageQuery,
    Summary,
    WorkThreshold,
)
from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    Forked,
    MessagePage,
    SummarizationMetadata,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import (
    AccessDeniedError,
    ForkRefusal,
    MessageConflictError,
    RepositoryError,
    VersionConflictError,
)
from chatmemory.events.event import EventAction
from chatmemory.events.kept_log import KeptLog

A = TypeVar("A")

BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)  # of a conversation that nobody has written to
PLACE: Final[Callable[[Conversation], tuple[datetime, str]]] = attrgetter("updated_at", "conversation_id")


@final
@define(eq=False)
class Conversations:
    """Histories by the ids of their conversations; one that was cleared stays, without messages."""

    histories: dict[str, History] = field(factory=dict[str, History])
    log: KeptLog = field(factory=KeptLog)

    def history(self, conversation_id: str, now: datetime = BEFORE_ALL) -> History:
        """Return the history of the conversation, or what a write at *now* would begin with."""
        return self.histories.get(conversation_id) or History.new(conversation_id, now)

    def seen(self, conversation_id: str) -> History:
        """Return the history that whoever acts may see, which is an empty one when they may see none."""
        history = self.history(conversation_id)
        return history if history.state.is_seen_by(principal()) else History.new(conversation_id, BEFORE_ALL)

    def append(
        self, batch: Append
    ) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
        """See ``MessageRepository.append``."""
        match self.history(batch.conversation_id, batch.now).append(batch, principal()):
            case (history, appended):
                if appended.stored:
                    self.histories[batch.conversation_id] = history
                    new = [draft for draft in batch.drafts if draft.id in appended.stored]
                    self.log.note([history.state.made_by_append(new)])
                return Success(appended)
            case refusal:
                return Failure(refusal)

    def fork(self, fork: Fork, /) -> Outcome[Forked, ForkRefusal]:
        """See ``MessageRepository.fork``."""
        parent, existing = self.history(fork.conversation_id), self.history(fork.new_id)
        decision = decide_fork(parent.state, existing.state, parent.point(fork.at), fork, principal())
        if isinstance(decision, Forked):
            return Success(decision)
        if not isinstance(decision, ConversationState):
            return Failure(decision)
        self.histories[fork.new_id] = parent.forked(decision)
        self.log.note([decision.made_by_fork(fork)])
        return Success(Forked(decision.conversation, is_new=True))

    def page(self, query: PageQuery) -> MessagePage | None:
        """See ``MessageRepository.page``."""
        return self.seen(query.conversation_id).page(query)

    def clear(self, conversation_id: str, *, now: datetime) -> Outcome[ClearReport | None, AccessDeniedError]:
        """See ``MessageRepository.clear``."""
        return self._deletion("cleared", self.seen(conversation_id), lambda history: history.clear(now))

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Outcome[ChatMessage | None, AccessDeniedError]:
        """See ``MessageRepository.remove_newest``."""
        return self._deletion(
            "removed",
            self.seen(conversation_id),
            lambda history: history.remove_newest(now=now, threshold=threshold),
        )

    def conversation(self, conversation_id: str) -> Conversation | None:
        """See ``MessageRepository.conversation``."""
        found = self.seen(conversation_id).conversation
        return None if found is None else self._shown(found)

    def _shown(self, conversation: Conversation) -> Conversation:
        """Return the conversation, without its parent when whoever acts may not see that."""
        origin = conversation.forked_from
        if origin is None or self.history(origin.conversation_id).state.is_seen_by(principal()):
            return conversation
        return evolve(conversation, forked_from=None)

    def conversations(self, listing: ConversationListing, /) -> tuple[Conversation, ...]:
        """See ``MessageRepository.conversations``."""
        who = principal()
        known = [
            history.state.conversation
            for history in self.histories.values()
            if history.entries and history.state.is_seen_by(who)
        ]
        alike = [one for one in known if one.conversation_id.startswith(listing.prefix)]
        after = listing.after
        if listing.order == "id":
            behind = [one for one in alike if after is None or one.conversation_id > after[1]]
            behind.sort(key=attrgetter("conversation_id"))
        else:
            behind = [one for one in alike if after is None or PLACE(one) < after]
            behind.sort(key=PLACE, reverse=True)
        return tuple(map(self._shown, behind[: listing.limit]))

    def summarize(self, summary: Summary) -> Outcome[Conversation, VersionConflictError | RepositoryError]:
        """See ``MessageRepository.summarize``."""
        history = self.history(summary.conversation_id).summarize(summary)
        if not isinstance(history, History):
            return Failure(history)
        self.histories[summary.conversation_id] = history
        self.log.note([history.state.made_by_summary(summary)])
        return Success(history.state.conversation)

    def summarization(self, conversation_id: str, summary_message_id: str) -> SummarizationMetadata | None:
        """See ``MessageRepository.summarization``."""
        return self.seen(conversation_id).summarization(summary_message_id)

    def summarizations_of(self, conversation_id: str, message_id: str) -> tuple[SummarizationMetadata, ...]:
        """See ``MessageRepository.summarizations_of``."""
        return self.seen(conversation_id).summarizations_of(message_id)

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> HistoryWork | None:
        """See ``MessageRepository.claim_work``."""
        queued = [
            (history.work.due_at, key)
            for key, history in self.histories.items()
            if history.work and conversation_id in {None, key}
        ]
        for _, key in sorted(queued):
            claim = self.histories[key].claim(now=now, lease_id=lease_id, lease_until=lease_until)
            if claim is not None:
                return self._change(key, claim)
        return None

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> None:
        """See ``MessageRepository.settle_work``."""
        history = self.history(work.conversation_id).settle(work, threshold=threshold, retry_at=retry_at)
        self.histories[work.conversation_id] = history

    def mark_stale(self, conversation_id: str, message_id: str) -> frozenset[str]:
        """Say of every summary over the message that it may still say what was forgotten; name those summaries.

        In a conversation that who acts may not see there are none.
        """
        history = self.history(conversation_id)
        if not history.state.is_seen_by(principal()):
            return frozenset()
        history, stale = history.mark_stale(message_id)
        if stale:
            self.histories[conversation_id] = history
        return stale

    def _deletion(
        self, action: EventAction, history: History, change: Callable[[History], tuple[History, A] | None]
    ) -> Outcome[A | None, AccessDeniedError]:
        if (changed := change(history)) is None:
            return Success(None)
        refusal = history.state.refuses_deletion_by(principal())
        if refusal is not None:
            return Failure(refusal)
        after, _ = changed
        self.log.note([after.state.made_by(action)])
        return Success(self._change(history.state.conversation.conversation_id, changed))

    def _change(self, conversation_id: str, change: tuple[History, A] | None) -> A | None:
        if change is None:
            return None
        self.histories[conversation_id], answer = change
        return answer
