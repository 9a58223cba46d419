"""``Conversations``: a dictionary of histories that keeps every promise of ``MessageRepository`` except durability.

It is the executable specification: ``InMemoryMessageRepository`` returns its answers as effects, and the laws compare the
answers of other repositories with it.  No method waits for anything, so each of them is a transaction.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
from operator import attrgetter
from typing import Final, TypeVar, final

from attrs import define, evolve, field

from chatmemory.access.namespace import Namespace
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
from chatmemory.conversation.replacing import answer_without_messages, refusal_of_replacement, remaining
from chatmemory.conversation.undoing import (
    GONE,
    NOT_HELD,
    HoldingBranch,
    Newest,
    branches_of,
    change_of_undo,
    gone,
    latest_of,
    refusal_of_undo,
    undone_of,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import (
    AccessDeniedError,
    ConversationUndoRefusal,
    ForkRefusal,
    MessageConflictError,
    RepositoryError,
    VersionConflictError,
)
from chatmemory.events.event import EventAction
from chatmemory.events.kept_log import KeptLog

A = TypeVar("A")

BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)  # the time of a conversation without writes
PLACE: Final[Callable[[Conversation], tuple[datetime, str]]] = attrgetter("updated_at", "conversation_id")


@final
@define(eq=False)
class Conversations:
    """Histories by the ids of their conversations; the history of a cleared conversation stays, without messages."""

    histories: dict[str, History] = field(factory=dict[str, History])
    log: KeptLog = field(factory=KeptLog)
    branches: dict[str, dict[str, HoldingBranch]] = field(factory=dict[str, dict[str, HoldingBranch]])

    def history(self, conversation_id: str, now: datetime = BEFORE_ALL) -> History:
        """Return the history of a conversation; a new one, written to at *now*, UTC, when nothing was ever written to it."""
        return self.histories.get(conversation_id) or History.new(conversation_id, now)

    def seen(self, conversation_id: str) -> History:
        """Return the history of the conversation; an empty one when the principal may not read it."""
        history = self.history(conversation_id)
        return history if history.state.is_seen_by(principal()) else History.new(conversation_id, BEFORE_ALL)

    def append(
        self, batch: Append
    ) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
        """Store the new drafts of *batch*, and queue history work in the same transaction when its threshold is reached."""
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
        """Store a branch: an ordinary conversation that begins with a copy of the messages of its parent up to a point."""
        parent, existing = self.history(fork.conversation_id), self.history(fork.new_id)
        point = parent.point(fork.at) or existing.point(fork.at)
        decision = decide_fork(parent.state, existing.state, point, fork, principal())
        if isinstance(decision, Forked):
            return Success(decision)
        if not isinstance(decision, ConversationState):
            return Failure(decision)
        self.histories[fork.new_id] = parent.forked(decision)
        branch = HoldingBranch(fork.new_id, decision.next_seq - 1, decision.conversation.version)
        self.branches.setdefault(fork.conversation_id, {})[fork.new_id] = branch
        self.log.note([decision.made_by_fork(fork)])
        return Success(Forked(decision.conversation, is_new=True))

    def page(self, query: PageQuery) -> MessagePage | None:
        """Return the messages that *query* asks for, oldest first; None when the conversation is empty."""
        return self.seen(query.conversation_id).page(query)

    def clear(
        self, conversation_id: str, *, now: datetime, with_branches: bool = False
    ) -> Outcome[ClearReport | None, AccessDeniedError]:
        """Delete the messages, summaries, coverage and queued work of a conversation."""
        history, cleared_too, shared = self.seen(conversation_id), list[str](), list[str]()
        refusal = history.state.refuses_deletion_by(principal())
        if history.entries and refusal is None:
            for branch_id in branches_of(self._holding(conversation_id)):
                may = self.history(branch_id).state.refuses_deletion_by(principal()) is None
                if with_branches and may:
                    self._deletion("cleared", self.history(branch_id), lambda history: history.clear(now))
                    cleared_too.append(branch_id)
                else:
                    shared.append(branch_id)
        outcome = self._deletion("cleared", history, lambda history: history.clear(now))
        if not isinstance(outcome, Success) or (report := outcome.unwrap()) is None:
            return outcome
        return Success(evolve(report, cleared_too=tuple(cleared_too), still_shared_by=tuple(shared)))

    def undo(self, undo: Undo, /) -> Outcome[Undone, ConversationUndoRefusal]:
        """Undo the newest change.  The undo is a change itself, but cannot be undone."""
        id_ = undo.conversation_id
        before = self.history(id_)
        newest = self._newest(id_, before.state.conversation.version)
        refusal = refusal_of_undo(before.state, newest, undo, principal())
        if refusal is not None or newest is None:
            return Failure(refusal or gone(before.state))
        held: HoldingBranch | None = None
        if newest.action == "forked":
            after = before.clear(undo.now)
            changed = None if after is None else after[0]
        elif newest.action == "cleared":
            held = next(iter(latest_of(self._holding(id_))), None)
            changed = None if held is None else before.restored(self.history(held.branch_id), held, undo)
        else:
            changed = before.without_newest(undo)
        if changed is None:
            return Failure(gone(before.state, NOT_HELD if newest.action == "cleared" else GONE))
        by = None if held is None else held.branch_id
        if held is not None:
            self.branches.setdefault(held.branch_id, {})[id_] = held._replace(branch_id=id_)
        self.histories[id_] = changed
        self.log.note([change_of_undo(changed.state, newest.action, by=by)])
        return Success(undone_of(before.state, changed.state, newest.action, by))

    def _newest(self, conversation_id: str, version: int) -> Newest | None:
        for event in reversed(self.log.kept):
            if event.kind == "conversation" and event.target == conversation_id:
                is_newest = event.version == version
                return Newest(event.action, event.reason) if is_newest else None
        return None

    def _holding(self, conversation_id: str) -> list[HoldingBranch]:
        """Return the branches, and their branches, that hold messages of the conversation and that the principal sees."""
        found, waiting = set[HoldingBranch](), [*self.branches.get(conversation_id, {}).values()]
        while waiting:
            held = waiting.pop()
            if held in found:
                continue
            found.add(held)
            for id_, seq, version in self.branches.get(held.branch_id, {}).values():
                waiting.append(HoldingBranch(id_, min(seq, held.seq), min(version, held.version)))
        return [
            held
            for held in found
            if held.branch_id != conversation_id
            and self.history(held.branch_id).held(held.version, held.seq).message_count
            and self.history(held.branch_id).state.is_seen_by(principal())
        ]

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Outcome[ChatMessage | None, AccessDeniedError]:
        """Delete the newest message of the model's view."""
        return self._deletion(
            "removed",
            self.seen(conversation_id),
            lambda history: history.remove_newest(now=now, threshold=threshold),
        )

    def replace(
        self, replacement: Replacement, /
    ) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
        """Delete the newest messages of the model's view and store others in their place, in one transaction."""
        batch, id_ = replacement.batch, replacement.conversation_id
        history = self.history(id_, batch.now)
        rest = remaining(history.state, replacement)
        known = history.known(draft.id for draft in batch.drafts) if rest else ()
        refusal = refusal_of_replacement(history.state, known, replacement, principal())
        if refusal is not None:
            return Failure(refusal)
        if rest == 0:
            self.clear(id_, now=batch.now)
        while self.history(id_).state.conversation.view_count > rest:
            self.remove_newest(id_, now=batch.now, threshold=batch.threshold)
        if not batch.drafts:
            return Success(answer_without_messages(self.history(id_, batch.now).state))
        return self.append(evolve(batch, expected_version=None))

    def conversation(self, conversation_id: str) -> Conversation | None:
        """Return the counts, version and times of a conversation; None when it is empty."""
        found = self.seen(conversation_id).conversation
        return None if found is None else self._shown(found)

    def owner(self, conversation_id: str) -> Namespace | None:
        """Return the owner of a conversation; None when it is empty."""
        history = self.seen(conversation_id)
        return history.state.owner if history.entries else None

    def _shown(self, conversation: Conversation) -> Conversation:
        """Return the conversation, without ``forked_from`` when the principal may not read the parent."""
        origin = conversation.forked_from
        if origin is None or self.history(origin.conversation_id).state.is_seen_by(principal()):
            return conversation
        return evolve(conversation, forked_from=None)

    def conversations(self, listing: ConversationListing, /) -> tuple[Conversation, ...]:
        """Return at most ``listing.limit`` conversations in the order of *listing*; ids are compared by code points."""
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
        """Replace the messages that *summary* covers with *summary*, in one transaction."""
        history = self.history(summary.conversation_id).summarize(summary)
        if not isinstance(history, History):
            return Failure(history)
        self.histories[summary.conversation_id] = history
        self.log.note([history.state.made_by_summary(summary)])
        return Success(history.state.conversation)

    def summarization(self, conversation_id: str, summary_message_id: str) -> SummarizationMetadata | None:
        """Return the metadata of a summary message."""
        return self.seen(conversation_id).summarization(summary_message_id)

    def summarizations_of(self, conversation_id: str, message_id: str) -> tuple[SummarizationMetadata, ...]:
        """Return the summaries that cover a message, directly or through another summary."""
        return self.seen(conversation_id).summarizations_of(message_id)

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> HistoryWork | None:
        """Lease queued history work that is due and not leased."""
        queued = [
            (history.work.due_at, key)
            for key, history in self.histories.items()
            if history.work and conversation_id in {None, key}
        ]
        for _, key in sorted(queued):
            claim = self.histories[key].claim(now=now, lease_id=lease_id, lease_until=lease_until)
            if claim is not None:
                self.histories[key], work = claim
                return work
        return None

    def settle_work(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None = None
    ) -> None:
        """End the lease of *work* and remove or queue the work; do nothing when another process holds the lease by now."""
        history = self.history(work.conversation_id).settle(work, threshold=threshold, retry_at=retry_at)
        self.histories[work.conversation_id] = history

    def mark_stale(self, conversation_id: str, message_id: str) -> frozenset[str]:
        """Mark the summaries that cover a message as stale, because they may still repeat a forgotten memory; return their ids.

        Summaries in the parent and in the branches that hold the message are marked too; only ids in conversations that
        the principal may read are returned.  When it may not read this one, nothing is marked.
        """
        who, named = principal(), frozenset[str]()
        if not self.history(conversation_id).state.is_seen_by(who):
            return named
        entry = self.history(conversation_id).entries.get(message_id)
        seq = 0 if entry is None else entry.message.seq
        for id_, reach in self._family(conversation_id).items():
            if seq <= reach:
                history, stale = self.history(id_).mark_stale(message_id)
                if stale:
                    self.histories[id_] = history
                named |= stale if history.state.is_seen_by(who) else frozenset()
        return named

    def _family(self, conversation_id: str) -> dict[str, float]:
        """Return the conversation, its parents and its branches: each id with the number up to which they have the same messages."""
        family, waiting = dict[str, float](), [(conversation_id, inf)]
        while waiting:
            id_, reach = waiting.pop()
            if family.get(id_, -1) >= reach:
                continue
            family[id_] = reach
            origin = self.history(id_).state.conversation.forked_from
            if origin is not None:
                waiting.append((origin.conversation_id, min(reach, origin.seq)))
            waiting += [
                (branch.branch_id, min(reach, branch.seq)) for branch in self.branches.get(id_, {}).values()
            ]
        return family

    def _deletion(
        self, action: EventAction, history: History, change: Callable[[History], tuple[History, A] | None]
    ) -> Outcome[A | None, AccessDeniedError]:
        if (changed := change(history)) is None:
            return Success(None)
        refusal = history.state.refuses_deletion_by(principal())
        if refusal is not None:
            return Failure(refusal)
        after, answer = changed
        self.log.note([after.state.made_by(action)])
        self.histories[history.state.conversation.conversation_id] = after
        return Success(answer)
