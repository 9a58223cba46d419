"""What an append, a summary, a removal and a clear make of a conversation: decisions that every store executes.

A store gives the facts that it has read under the conversation's lock, and gets a decision back: what to write, the counts
that follow from it, and the answer; or the error that refuses the change.  Nothing here reads, writes or waits.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias, final

from attrs import evolve, frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import ANYBODY, Principal
from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    Fork,
    MessageDraft,
    Summary,
    WorkThreshold,
)
from chatmemory.conversation.messages import OPEN_ROLES, ClearReport, Conversation
from chatmemory.errors import AccessDeniedError, MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.events.event import Change, EventAction
from chatmemory.input.choices import Role
from chatmemory.input.json_value import same_json, to_json


@final
@frozen(slots=False)  # made for every append, see messages.py
class ConversationState:
    """A conversation without its messages, as a store keeps it from one change to the next.

    Attributes:
        conversation: what readers see of it; while it holds no message they see nothing.
        next_seq: the number of the next message; no number is given twice, not even after a clear.
        rewritten_at_version: the version that the latest summary, removal or clear made.
        deleted_count: messages that a summary has deleted, whose ids stay known.
        has_work: whether history work is queued.
        owner: whose it is; who writes to a new conversation, owns it.
        kept_since_version: the earliest version whose view is whole: the latest change that destroyed content made it.
        kept_since: when that change happened; None: nothing was ever destroyed.
    """

    conversation: Conversation
    next_seq: int = 1
    rewritten_at_version: int = 0
    deleted_count: int = 0
    has_work: bool = False
    owner: Namespace = UNOWNED
    kept_since_version: int = 0
    kept_since: datetime | None = None

    def is_seen_by(self, principal: Principal) -> bool:
        """Return whether *principal* may see what there is."""
        return principal.may("read", self.owner, self.conversation.conversation_id)

    def refuses_deletion_by(self, principal: Principal) -> AccessDeniedError | None:
        """Return the error that keeps *principal*, who sees the conversation, from deleting in it."""
        return principal.refusal("delete", self.owner, self.conversation.conversation_id)

    def made_by(self, action: EventAction) -> Change:
        """Return the change that has made this state of another, for the log."""
        conversation = self.conversation
        return Change(
            action,
            "conversation",
            conversation.conversation_id,
            self.owner,
            conversation.version,
            self.next_seq - 1,
        )

    def made_by_append(self, new: Sequence[MessageDraft]) -> Change:
        """Return the change that has made this state by adding *new* messages, one or more."""
        return self.made_by("added")._replace(said_at=new[-1].timestamp)

    def made_by_fork(self, fork: Fork) -> Change:
        """Return the change that has made this state, which is that of a new branch."""
        return self.made_by("forked")._replace(by=fork.conversation_id)

    def made_by_summary(self, summary: Summary) -> Change:
        """Return the change that has made this state by storing *summary*, which the service does by itself."""
        change = self.made_by("summarized")
        return change._replace(said_at=summary.ends_at, by=summary.draft.id, is_by_itself=True)


def new_conversation(conversation_id: str, now: datetime) -> ConversationState:
    """Return the state of a conversation that was never written to."""
    return ConversationState(Conversation(conversation_id, 0, 0, 0, 0, 0, now, now))


Words: TypeAlias = tuple[str, str, str | None]
"""What two messages of one id must have in common: role, content and metadata (as JSON), but not when it was said."""


@final
@frozen(slots=False)  # made for every append, see messages.py
class AppendDecision:
    """What an append stores.

    Attributes:
        new: the messages to insert, numbered from the ``next_seq`` of the state before.
        state: the conversation afterwards.
        answer: what the repository answers.
    """

    new: Sequence[MessageDraft]
    state: ConversationState
    answer: Appended


def decide_append(
    state: ConversationState, known: Mapping[str, Words | None], batch: Append, principal: Principal
) -> AppendDecision | AccessDeniedError | MessageConflictError | VersionConflictError:
    """Tell apart what *batch* adds, repeats and contradicts, and refuse it whole if it contradicts anything.

    What *principal* may not write is refused before anything is said about what is stored.

    A batch that expects another version is refused, unless all of it is known and says the same: who repeats an append
    whose answer was lost finds that it has succeeded.

    Args:
        state: the conversation before.
        known: what is stored under those ids of *batch* that are known; None: a summary has deleted the message, and
            whatever is said under its id repeats it.
        batch: at least one message, in order.
        principal: who writes.
    """
    if state.conversation.version == 0 and state.owner != principal.namespace:
        state = evolve(state, owner=principal.namespace)
    if principal is not ANYBODY:
        roles: list[Role] = [draft.role for draft in batch.drafts]
        refusal = principal.refusal_to_add(roles, state.owner, state.conversation.conversation_id)
        if refusal is not None:
            return refusal
    new: dict[str, MessageDraft] = {}
    duplicates: list[str] = []
    conflicts: list[str] = []
    for draft in batch.drafts:
        id_ = draft.id
        if id_ not in known and id_ not in new:
            new[id_] = draft
        elif _repeats(draft, known[id_] if id_ in known else _words(new[id_])):
            duplicates.append(id_)
        else:
            conflicts.append(id_)
    before, expected = state.conversation, batch.expected_version
    if expected is not None and expected != before.version and (new or conflicts):
        return VersionConflictError(before.conversation_id, expected=expected, actual=before.version)
    if conflicts:
        return MessageConflictError(before.conversation_id, tuple(conflicts))
    if new:
        state = _extended(state, new.values(), batch.now, batch.threshold)
    answer = Appended(tuple(new), tuple(duplicates), state.conversation, state.has_work)
    return AppendDecision(tuple(new.values()), state, answer)


def _words(draft: MessageDraft) -> Words:
    return draft.role, draft.content, to_json(draft.metadata)


def _repeats(draft: MessageDraft, stored: Words | None) -> bool:
    if stored is None:
        return True
    role, content, metadata = stored
    return draft.role == role and draft.content == content and same_json(to_json(draft.metadata), metadata)


def _extended(
    state: ConversationState, new: Iterable[MessageDraft], now: datetime, threshold: WorkThreshold | None
) -> ConversationState:
    """Count *new* messages at the end."""
    before, count, tokens, open_count = state.conversation, 0, 0, 0
    for draft in new:
        count += 1
        tokens += draft.tokens
        open_count += draft.role in OPEN_ROLES
    conversation = Conversation(
        before.conversation_id,
        before.version + 1,
        before.message_count + count,
        before.view_count + count,
        before.view_tokens + tokens,
        before.open_count + open_count,
        before.created_at if before.message_count else now,
        now,
        before.forked_from,
    )
    return ConversationState(
        conversation,
        state.next_seq + count,
        state.rewritten_at_version,
        state.deleted_count,
        state.has_work or is_due(conversation, threshold),
        state.owner,
        state.kept_since_version,
        state.kept_since,
    )


class InView(NamedTuple):
    """A message of the model's view: where it stands there, and what it counts for."""

    place: int
    role: Role
    tokens: int


@final
@frozen
class SummaryDecision:
    """What a summary changes: it becomes message *seq*, at *place* in the model's view, and leaves *state* behind."""

    seq: int
    place: int
    state: ConversationState


def decide_summary(
    state: ConversationState, covered: Sequence[InView], summary: Summary, *, is_id_taken: bool
) -> SummaryDecision | VersionConflictError | RepositoryError:
    """Put *summary* in the place of the last message that it covers, unless the history was rewritten since it was planned.

    Args:
        state: the conversation before.
        covered: the messages in the model's view that *summary* names; any that is missing refuses it.
        summary: the summary.
        is_id_taken: whether a stored message has the id of the summary.
    """
    before, planned = state.conversation, summary.planned_at_version
    if state.rewritten_at_version > planned or len(covered) < len(summary.covers):
        return VersionConflictError(before.conversation_id, expected=planned, actual=before.version)
    if is_id_taken:
        return RepositoryError("summarize", "unexpected", f"{summary.draft.id!r} is stored already")
    place = max(message.place for message in covered)
    deleted = len(covered) if summary.delete_covered else 0
    after = _rewritten(
        state,
        gone=covered,
        come=[InView(place, summary.draft.role, summary.draft.tokens)],
        stored=1 - deleted,
        deleted=deleted,
        is_kept=not summary.delete_covered,
        now=summary.now,
        threshold=summary.threshold,
    )
    return SummaryDecision(state.next_seq, place, evolve(after, next_seq=state.next_seq + 1))


def decide_removal(
    state: ConversationState,
    removed: Sequence[InView],
    restored: Sequence[InView],
    *,
    freed: int,
    now: datetime,
    threshold: WorkThreshold | None,
) -> ConversationState:
    """Return the conversation after its newest message went, with the summaries that stood in the way.

    Args:
        state: the conversation before.
        removed: what was deleted: summaries, and last the newest message that none of them stood for.
        restored: what came back into the model's view when those summaries went, what is removed by now included.
        freed: ids that were known only because one of those summaries had deleted their messages.
        now: the instant of the change.
        threshold: queued work goes unless it is still reached.
    """
    return _rewritten(
        state,
        gone=removed,
        come=restored,
        stored=-len(removed),
        deleted=-freed,
        is_kept=False,
        now=now,
        threshold=threshold,
    )


@final
@frozen
class ClearDecision:
    """What remains after a clear (*state*), and its answer."""

    state: ConversationState
    answer: ClearReport


def decide_clear(state: ConversationState, *, summaries: int, now: datetime) -> ClearDecision:
    """Leave nothing of a conversation but its version and its numbering, so that no stale writer mistakes what follows.

    Args:
        state: the conversation before, which holds messages.
        summaries: how many of its messages are summaries.
        now: the instant of the change.
    """
    before = state.conversation
    after = Conversation(before.conversation_id, before.version + 1, 0, 0, 0, 0, before.created_at, now)
    cleared = ConversationState(
        after,
        state.next_seq,
        rewritten_at_version=after.version,
        owner=state.owner,
        kept_since_version=after.version,
        kept_since=now,
    )
    return ClearDecision(cleared, ClearReport(before.message_count, summaries, after.version))


def is_due(conversation: Conversation, threshold: WorkThreshold | None) -> bool:
    """Tell whether a conversation of this size has history work."""
    return threshold is not None and threshold.is_reached_by(conversation)


def _rewritten(
    state: ConversationState,
    *,
    gone: Sequence[InView],
    come: Sequence[InView],
    stored: int,
    deleted: int,
    is_kept: bool,
    now: datetime,
    threshold: WorkThreshold | None,
) -> ConversationState:
    """Count what left the model's view and what came into it, in a version that no summary planned before may pass.

    Unless everything *is_kept*, no earlier version is whole any more.
    """
    before = state.conversation
    after = evolve(
        before,
        version=before.version + 1,
        message_count=before.message_count + stored,
        view_count=before.view_count + len(come) - len(gone),
        view_tokens=before.view_tokens + _tokens(come) - _tokens(gone),
        open_count=before.open_count + _open(come) - _open(gone),
        updated_at=now,
    )
    return ConversationState(
        after,
        state.next_seq,
        rewritten_at_version=after.version,
        deleted_count=state.deleted_count + deleted,
        has_work=state.has_work and is_due(after, threshold),
        owner=state.owner,
        kept_since_version=state.kept_since_version if is_kept else after.version,
        kept_since=state.kept_since if is_kept else now,
    )


def _tokens(messages: Sequence[InView]) -> int:
    return sum(message.tokens for message in messages)


def _open(messages: Sequence[InView]) -> int:
    return sum(message.role in OPEN_ROLES for message in messages)
