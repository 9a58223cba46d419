"""The effects of an append, a summary, a removal and a clear on a conversation: decisions that every store executes.

A store passes the facts that it has read under the lock of the conversation, and receives a decision.  The decision is what
to write, the new counts and the answer, or the error that refuses the change.  The functions are pure and do not wait.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias, final

from attrs import evolve, frozen

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import NO_PRINCIPAL, Principal
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
    """The state of a conversation without its messages, which a store keeps between changes.

    Attributes:
        conversation: the part that readers see; they see nothing while it is empty.
        next_seq: the number of the next message; no number is used twice, not even after a clear.
        rewritten_at_version: the version that the latest summary, removal or clear created.
        deleted_count: the number of messages that a summary has deleted; their ids stay known.
        has_work: whether history work is queued.
        owner: the owner of the conversation: the namespace of the principal that wrote to it first.
        kept_since_version: the earliest version whose view is complete: the version that the latest change which deleted
            content created.
        kept_since: when that change happened, UTC; None: no content was ever deleted.
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
        """Return whether *principal* may read the conversation."""
        return principal.may("read", self.owner, self.conversation.conversation_id)

    def refuses_deletion_by(self, principal: Principal) -> AccessDeniedError | None:
        """Return the error when *principal*, who may read the conversation, may not delete its messages; else None."""
        return principal.refusal("delete", self.owner, self.conversation.conversation_id)

    def made_by(self, action: EventAction) -> Change:
        """Return the change that has led to this state, for the log."""
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
        """Return the change that has led to this state by adding *new* messages, one or more."""
        return self.made_by("added")._replace(said_at=new[-1].timestamp)

    def made_by_fork(self, fork: Fork) -> Change:
        """Return the change that has created this state as the state of a new branch."""
        return self.made_by("forked")._replace(by=fork.conversation_id)

    def made_by_summary(self, summary: Summary) -> Change:
        """Return the change that has led to this state by storing *summary*; the service makes it by itself."""
        change = self.made_by("summarized")
        return change._replace(said_at=summary.ends_at, by=summary.draft.id, is_by_itself=True)


def new_conversation(conversation_id: str, now: datetime) -> ConversationState:
    """Return the state, at version 0, of a conversation that is first written to at *now*, UTC."""
    return ConversationState(Conversation(conversation_id, 0, 0, 0, 0, 0, now, now))


Words: TypeAlias = tuple[str, str, str | None]
"""The fields in which two messages with the same id must agree: role, content and metadata (as JSON), not the time."""


@final
@frozen(slots=False)  # made for every append, see messages.py
class AppendDecision:
    """The changes of an append.

    Attributes:
        new: the messages to insert, numbered from the ``next_seq`` of the old state on.
        state: the conversation after the append.
        answer: the answer of the repository.
    """

    new: Sequence[MessageDraft]
    state: ConversationState
    answer: Appended


def decide_append(
    state: ConversationState, known: Mapping[str, Words | None], batch: Append, principal: Principal
) -> AppendDecision | AccessDeniedError | MessageConflictError | VersionConflictError:
    """Sort the messages of *batch* into new ones, duplicates and conflicts, and refuse all of them if there is a conflict.

    A message that *principal* may not write is refused first, so that the error reveals nothing about stored messages.

    A batch that expects another version is refused, unless all its messages are duplicates: a caller that repeats an
    append whose answer was lost learns that it has succeeded.

    *known* has the stored fields of each id of *batch* that is known; None: a summary has deleted the message, and any
    message with its id is a duplicate.
    """
    if state.conversation.version == 0 and state.owner != principal.namespace:
        state = evolve(state, owner=principal.namespace)
    if principal is not NO_PRINCIPAL or state.owner.user:
        roles: list[Role] = [draft.role for draft in batch.drafts]
        refusal = principal.refusal_to_add(roles, state.owner, state.conversation.conversation_id)
        if refusal is not None:
            return refusal
    before, expected, drafts = state.conversation, batch.expected_version, batch.drafts
    new = {draft.id: draft for draft in drafts}
    duplicates: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    if known or len(new) < len(drafts):
        new, duplicates, conflicts = _classified(drafts, known)
    if expected is not None and expected != before.version and (new or conflicts):
        return VersionConflictError(before.conversation_id, expected=expected, actual=before.version)
    if conflicts:
        return MessageConflictError(before.conversation_id, conflicts)
    stored = drafts
    if len(new) < len(drafts):
        stored = tuple(new.values())
    if new:
        state = _extended(state, stored, batch.now, batch.threshold)
    return AppendDecision(stored, state, Appended(tuple(new), duplicates, state.conversation, state.has_work))


def _classified(
    drafts: Iterable[MessageDraft], known: Mapping[str, Words | None]
) -> tuple[dict[str, MessageDraft], tuple[str, ...], tuple[str, ...]]:
    """Return the new ones of *drafts* by id, the ids of duplicates, and the ids of conflicts."""
    new: dict[str, MessageDraft] = {}
    duplicates: list[str] = []
    conflicts: list[str] = []
    for draft in drafts:
        id_ = draft.id
        if id_ not in known and id_ not in new:
            new[id_] = draft
        elif _repeats(draft, known[id_] if id_ in known else words_of(new[id_])):
            duplicates.append(id_)
        else:
            conflicts.append(id_)
    return new, tuple(duplicates), tuple(conflicts)


def words_of(draft: MessageDraft) -> Words:
    """Return the fields in which another message with the same id must agree."""
    return draft.role, draft.content, to_json(draft.metadata)


def _repeats(draft: MessageDraft, stored: Words | None) -> bool:
    if stored is None:
        return True
    role, content, metadata = stored
    return draft.role == role and draft.content == content and same_json(to_json(draft.metadata), metadata)


def _extended(
    state: ConversationState, new: Iterable[MessageDraft], now: datetime, threshold: WorkThreshold | None
) -> ConversationState:
    """Return the state after adding *new* messages at the end."""
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
        state.has_work or (threshold is not None and threshold.is_reached_by(conversation)),
        state.owner,
        state.kept_since_version,
        state.kept_since,
    )


class InView(NamedTuple):
    """A message of the model's view: its place there, its role and its number of tokens."""

    place: int
    role: Role
    tokens: int


@final
@frozen
class SummaryDecision:
    """The changes of a summary: it becomes message *seq*, at *place* in the model's view; *state* is the new state."""

    seq: int
    place: int
    state: ConversationState


def decide_summary(
    state: ConversationState, covered: Sequence[InView], summary: Summary, *, is_id_taken: bool
) -> SummaryDecision | VersionConflictError | RepositoryError:
    """Replace the messages that *summary* covers with it, unless the history was rewritten since it was planned.

    The summary takes the place of the last message that it covers.  *covered* are the messages in the model's view that
    *summary* names; when one is missing, the summary is refused.
    """
    before, planned = state.conversation, summary.planned_at_version
    if state.rewritten_at_version > planned or len(covered) < len(summary.covers):
        return VersionConflictError(before.conversation_id, expected=planned, actual=before.version)
    if is_id_taken:
        return RepositoryError("summarize", "unexpected", f"{summary.draft.id!r} is already stored")
    place = max(message.place for message in covered)
    deleted = len(covered) if summary.delete_covered else 0
    after = rewritten(
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
    """Return the state after a removal: of the newest message with its summaries, or of what an undo takes back.

    Args:
        state: the conversation before the removal.
        removed: the deleted messages.
        restored: the messages that returned to the model's view when summaries were deleted, including those that were
            deleted afterwards.
        freed: how many ids were known only because one of the summaries had deleted their messages.
        now: the time of the change, UTC.
        threshold: queued work is removed unless the conversation still reaches this; None: it is removed.
    """
    return rewritten(
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
    """The state after a clear, and its answer."""

    state: ConversationState
    answer: ClearReport


def decide_clear(state: ConversationState, *, summaries: int, now: datetime) -> ClearDecision:
    """Clear everything of a conversation that holds messages, except its version and its numbering.

    Both continue after the clear, so that an outdated writer is detected.  *summaries* is how many of its messages are
    summaries, *now* is UTC.
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
    """Return whether a conversation has reached *threshold*, so that it has history work; None: there is never work."""
    return threshold is not None and threshold.is_reached_by(conversation)


def rewritten(
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
    """Return the state after *gone* has left the model's view and *come* has entered it.

    A summary that was planned before the new version is refused.  *stored* and *deleted* are the changes of the numbers of
    stored messages and of messages that a summary has deleted.  Unless *is_kept*, content was deleted, and earlier versions
    are no longer complete.
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
