"""``History``: one conversation with all its messages as an immutable value, the simplest possible store.

Each change returns a new history, or the error that refuses it.  The in-memory repository keeps histories in dictionaries,
and the laws compare every other repository with it.  ``changes.py`` decides what a change does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import final

from attrs import evolve, field, frozen

from chatmemory.access.principal import Principal
from chatmemory.conversation.changes import (
    AppendDecision,
    ConversationState,
    InView,
    SummaryDecision,
    Words,
    decide_append,
    decide_clear,
    decide_removal,
    decide_summary,
    is_due,
    new_conversation,
)
from chatmemory.conversation.forks import ForkPoint
from chatmemory.conversation.message_repository import (
    Append,
    Appended,
    HistoryWork,
    MessageDraft,
    PageQuery,
    Summary,
    Undo,
    WorkThreshold,
    latest_end,
)
from chatmemory.conversation.messages import (
    OPEN_ROLES,
    ChatMessage,
    ClearReport,
    Conversation,
    MessagePage,
    SummarizationMetadata,
    TimestampRange,
)
from chatmemory.conversation.undoing import HoldingBranch, restored_from
from chatmemory.errors import AccessDeniedError, MessageConflictError, RepositoryError, VersionConflictError
from chatmemory.input.json_value import from_json, to_json


@final
@frozen
class Entry:
    """A stored message.

    Attributes:
        message: the message without its metadata, so that callers can share it.
        metadata: its metadata as JSON text, which no caller can change, and which keeps ``1``, ``1.0`` and ``true`` apart.
        place: its position in the model's view; a summary has the position of the last message that it covers.
        tokens: its number of tokens.
        version: the version that stored it.
        stored_at: when it was stored.
        covered_at_version: the version that covered it; None: no summary covers it.
    """

    message: ChatMessage
    metadata: str | None
    place: int
    tokens: int
    version: int
    stored_at: datetime
    covered_at_version: int | None = None

    @property
    def words(self) -> Words:
        """The fields in which another message must agree to repeat it."""
        return self.message.role, self.message.content, self.metadata

    @property
    def counted(self) -> InView:
        """Its place, role and tokens, as the model's view counts them."""
        return InView(self.place, self.message.role, self.tokens)

    def covered_by(self, summary_id: str | None, version: int | None = None) -> Entry:
        """Return the entry as covered by the summary that *version* stored; None for both: as back in view."""
        return evolve(self, message=evolve(self.message, covered_by=summary_id), covered_at_version=version)

    def as_of(self, version: int) -> Entry:
        """Return the entry as it was at *version*, which must contain it."""
        return self if (self.covered_at_version or 0) <= version else self.covered_by(None)

    def handed_out(self) -> ChatMessage:
        """Return the message with a copy of its metadata, which the caller may change."""
        return (
            self.message if self.metadata is None else evolve(self.message, metadata=from_json(self.metadata))
        )


@final
@frozen
class QueuedWork:
    """Queued history work, which waits until *due_at* or is leased until *lease_until*."""

    due_at: datetime
    attempts: int = 0
    lease_id: str | None = None
    lease_until: datetime | None = None

    def is_free(self, now: datetime, latest: datetime) -> bool:
        """Return whether the work may be claimed: it is due and not leased, or its times come from a clock that was ahead.

        *latest* is the latest time at which a wait or a lease can end, see ``latest_end``; both times are UTC.
        """
        ends = (self.due_at, self.lease_until or now)
        return all(end <= now or end > latest for end in ends)


@final
@frozen
class History:
    """One conversation.

    Attributes:
        state: its counts, which agree with the entries.
        entries: every stored message by its id, in the order of their numbers.
        summaries: the origin of each summary, oldest first; a later summary may cover an earlier one.
        made_at: the version that stored each summary, by the id in *summaries*.
        work: the queued history work.
    """

    state: ConversationState
    entries: Mapping[str, Entry] = field(factory=dict[str, Entry])
    summaries: tuple[SummarizationMetadata, ...] = ()
    made_at: Mapping[str, int] = field(factory=dict[str, int])
    work: QueuedWork | None = None

    @staticmethod
    def new(conversation_id: str, now: datetime) -> History:
        """Return the history, without messages, of a conversation that is first written to at *now*, UTC."""
        return History(new_conversation(conversation_id, now))

    @property
    def conversation(self) -> Conversation | None:
        """The conversation as callers see it; None when it is empty."""
        return self.state.conversation if self.entries else None

    def append(
        self, batch: Append, principal: Principal
    ) -> tuple[History, Appended] | AccessDeniedError | MessageConflictError | VersionConflictError:
        """Store the messages of *batch* that are new; refuse the batch with an error as ``MessageRepository.append`` does."""
        known = self.known(draft.id for draft in batch.drafts)
        decision = decide_append(self.state, known, batch, principal)
        if not isinstance(decision, AppendDecision):
            return decision
        version = decision.state.conversation.version
        new = [
            _entry(draft, seq, version, batch.now)
            for seq, draft in enumerate(decision.new, self.state.next_seq)
        ]
        return self._changed(
            decision.state, batch.now, entries=_by_id([*self.entries.values(), *new])
        ), decision.answer

    def summarize(self, summary: Summary) -> History | VersionConflictError | RepositoryError:
        """Store *summary*, which replaces the messages that it covers in the model's view."""
        covered = [entry for entry in _view(self.entries) if entry.message.id in summary.covers]
        is_id_taken = summary.draft.id in self.entries
        decision = decide_summary(
            self.state, [entry.counted for entry in covered], summary, is_id_taken=is_id_taken
        )
        if not isinstance(decision, SummaryDecision):
            return decision
        entries, version = dict(self.entries), decision.state.conversation.version
        for entry in covered:
            entries[entry.message.id] = entry.covered_by(summary.draft.id, version)
            if summary.delete_covered:
                del entries[entry.message.id]
        entries[summary.draft.id] = _entry(summary.draft, decision.seq, version, summary.now, decision.place)
        summaries = (*self.summaries, _metadata(summary))
        changed = self._changed(decision.state, summary.now, entries=entries, summaries=summaries)
        return evolve(changed, made_at={**self.made_at, summary.draft.id: version})

    def remove_newest(
        self, *, now: datetime, threshold: WorkThreshold | None
    ) -> tuple[History, ChatMessage] | None:
        """Remove the newest message of the model's view.

        A summary that is newest is removed too, and the messages that it covers return to the view.  When a removed
        summary has deleted another summary, the messages that the deleted one covers return as well.  None: the view is empty.
        """
        if not _view(self.entries):
            return None
        entries = dict(self.entries)
        removed: list[Entry] = []
        restored: list[Entry] = []
        back: list[Entry] = []
        gone: set[str] = set()
        while not removed or back:
            newest = _view(entries)[-1]
            removed.append(entries.pop(newest.message.id))
            ended = self._ended_with(newest.message.id)
            gone |= ended
            back = [entry.covered_by(None) for entry in entries.values() if entry.message.covered_by in ended]
            entries |= _by_id(back)
            restored += back
        undone = [made for made in self.summaries if made.summary_message_id in gone]
        state = decide_removal(
            self.state,
            [entry.counted for entry in removed],
            [entry.counted for entry in restored],
            freed=sum(len(made.summarized_message_ids) for made in undone if made.messages_deleted),
            now=now,
            threshold=threshold,
        )
        summaries = tuple(made for made in self.summaries if made not in undone)
        return self._changed(state, now, entries=entries, summaries=summaries), removed[-1].handed_out()

    def clear(self, now: datetime) -> tuple[History, ClearReport] | None:
        """Delete everything except the version and the numbering; None when the history is empty."""
        if not self.entries:
            return None
        summaries = sum(entry.message.role == "summary" for entry in self.entries.values())
        decision = decide_clear(self.state, summaries=summaries, now=now)
        return History(decision.state), decision.answer

    def point(self, at: str | int | None) -> ForkPoint | None:
        """Return the point that *at* names; None when there is none."""
        version, seq = self.state.conversation.version, self.state.next_seq - 1
        if isinstance(at, str):
            if (last := self.entries.get(at)) is None:
                return None
            version, seq = last.version, last.message.seq
        elif at is not None:
            if not 1 <= at <= version:
                return None
            if at < version:
                seq = max([entry.message.seq for entry in self._at(at).values()], default=0)
            version = at
        return self.held(version, seq)

    def held(self, version: int, seq: int) -> ForkPoint:
        """Return the counts of the messages up to the number *seq* that existed at a version."""
        held = self._at(version, seq)
        view = _view(held)
        return ForkPoint(
            seq,
            version,
            len(held),
            len(view),
            sum(entry.tokens for entry in view),
            sum(entry.message.role in OPEN_ROLES for entry in view),
        )

    def without_newest(self, undo: Undo) -> History | None:
        """Return the history without the messages of its newest version; None when a summary of that version deleted messages."""
        version = self.state.conversation.version
        added = [entry for entry in self.entries.values() if entry.version == version]
        summary = added[0].message.id if added[0].message.role == "summary" else None
        if any(made.summary_message_id == summary and made.messages_deleted for made in self.summaries):
            return None
        back = [
            entry.covered_by(None)
            for entry in self.entries.values()
            if summary is not None and entry.message.covered_by == summary
        ]
        entries = _by_id(
            entry for entry in {**self.entries, **_by_id(back)}.values() if entry.version != version
        )
        state = decide_removal(
            self.state,
            [entry.counted for entry in added],
            [entry.counted for entry in back],
            freed=0,
            now=undo.now,
            threshold=undo.threshold,
        )
        summaries = tuple(made for made in self.summaries if made.summary_message_id != summary)
        return self._changed(state, undo.now, entries=entries, summaries=summaries)

    def restored(self, branch: History, held: HoldingBranch, undo: Undo) -> History:
        """Return this cleared history with *held*, its messages that *branch* still has."""
        point = branch.held(held.version, held.seq)
        return branch.forked(restored_from(self.state, point, undo, branch.state.deleted_count), held)

    def forked(self, state: ConversationState, held: HoldingBranch | None = None) -> History:
        """Return the history of a branch that begins with *held*; None: with the messages up to the point of its fork."""
        branch = state.conversation
        _, seq, version = held or ("", state.next_seq - 1, branch.version)
        made = tuple(
            evolve(one, conversation_id=branch.conversation_id)
            for one in self.summaries
            if self.made_at[one.summary_message_id] <= version
        )
        work = QueuedWork(branch.updated_at) if state.has_work else None
        return History(state, self._at(version, seq), made, self.made_at, work)

    def _at(self, version: int, seq: int | None = None) -> dict[str, Entry]:
        """Return the messages that existed at *version*, up to the message number *seq*."""
        return {
            id_: entry.as_of(version)
            for id_, entry in self.entries.items()
            if entry.version <= version and (seq is None or entry.message.seq <= seq)
        }

    def _ended_with(self, message_id: str) -> set[str]:
        """Return the message and the summaries that it has deleted, directly or through another."""
        made = self.summarization(message_id)
        deleted = made.summarized_message_ids if made is not None and made.messages_deleted else ()
        return {message_id}.union(*map(self._ended_with, deleted))

    def mark_stale(self, message_id: str) -> tuple[History, frozenset[str]]:
        """Mark each summary that covers the message as stale, because it may contain forgotten text; also return their ids."""
        stale = frozenset(made.summary_message_id for made in self.summarizations_of(message_id))
        marked = tuple(
            evolve(made, is_stale=made.is_stale or made.summary_message_id in stale)
            for made in self.summaries
        )
        return evolve(self, summaries=marked), stale

    def claim(
        self, *, now: datetime, lease_id: str, lease_until: datetime
    ) -> tuple[History, HistoryWork] | None:
        """Lease the work of the conversation; None when there is none, it is not due yet, or another lease holds it.

        The times are UTC.
        """
        if self.work is None or not self.work.is_free(now, latest_end(now, lease_until)):
            return None
        held = QueuedWork(self.work.due_at, self.work.attempts + 1, lease_id, lease_until)
        return evolve(self, work=held), HistoryWork(
            self.state.conversation.conversation_id, held.attempts, lease_id
        )

    def settle(
        self, work: HistoryWork, *, threshold: WorkThreshold | None, retry_at: datetime | None
    ) -> History:
        """End the lease of *work*, and remove or queue the work; change nothing when another lease has replaced it.

        The conversation has more work when it has reached *threshold*; None: it never has more.  Work that failed is tried
        again at *retry_at*, UTC; None: the work is done.
        """
        held = self.work
        if held is None or held.lease_id != work.lease_id:
            return self
        if retry_at is not None:
            return evolve(self, work=QueuedWork(retry_at, held.attempts))
        if is_due(self.state.conversation, threshold):
            return evolve(self, work=QueuedWork(held.due_at))
        return evolve(self, state=evolve(self.state, has_work=False), work=None)

    def page(self, query: PageQuery) -> MessagePage | None:
        """Return the page that *query* asks for; None when the conversation is empty."""
        if not self.entries:
            return None
        in_view, version = query.view == "model", self._version(query.as_of)
        entries = self.entries if query.as_of is None else self._at(version)
        stretch = [
            (entry.place if in_view else entry.message.seq, entry)
            for entry in (_view(entries) if in_view else entries.values())
            if query.before is None or entry.message.timestamp < query.before
        ]
        limit = len(stretch) if query.limit is None else query.limit
        older = [pair for pair in stretch if query.older_than is None or pair[0] < query.older_than]
        if query.newer_than is not None:
            older = [pair for pair in stretch if pair[0] <= query.newer_than]
            chosen = stretch[len(older) : len(older) + limit]
        else:
            chosen = older[max(0, len(older) - limit) :]
            older = older[: len(older) - len(chosen)]
        newest = chosen or older
        return MessagePage(
            messages=tuple([entry.handed_out() for _, entry in chosen]),
            version=version,
            older=older[-1][0] + 1 if older else None,
            newer=newest[-1][0] if newest else 0,
            is_whole=version >= self.state.kept_since_version,
        )

    def _version(self, as_of: int | datetime | None) -> int:
        """Return the number of the version that the query asks for."""
        state = self.state
        if as_of is None:
            return state.conversation.version
        if isinstance(as_of, int):
            return min(as_of, state.conversation.version)
        kept = state.kept_since_version if state.kept_since and state.kept_since <= as_of else 0
        stored = [entry.version for entry in self.entries.values() if entry.stored_at <= as_of]
        return max(kept, *stored, 0)

    def summarization(self, summary_message_id: str) -> SummarizationMetadata | None:
        """Return the metadata of a summary; None when no summary has this id."""
        made = [made for made in self.summaries if made.summary_message_id == summary_message_id]
        return made[0] if made else None

    def summarizations_of(self, message_id: str) -> tuple[SummarizationMetadata, ...]:
        """Return the summaries that cover a message, directly or through another summary, innermost first."""
        chain: list[SummarizationMetadata] = []
        for made in self.summaries:  # only a later summary can cover an earlier one
            if message_id in made.summarized_message_ids:
                chain.append(made)
                message_id = made.summary_message_id
        return tuple(chain)

    def known(self, message_ids: Iterable[str]) -> Mapping[str, Words | None]:
        """Return the stored fields of each known id in *message_ids*; None: a summary has deleted the message."""
        return {
            id_: entry.words if (entry := self.entries.get(id_)) else None
            for id_ in message_ids
            if id_ in self.entries or any(id_ in made.summarized_message_ids for made in self.summaries)
        }

    def _changed(
        self,
        state: ConversationState,
        now: datetime,
        *,
        entries: Mapping[str, Entry],
        summaries: tuple[SummarizationMetadata, ...] | None = None,
    ) -> History:
        work = (self.work or QueuedWork(now)) if state.has_work else None
        return History(state, entries, self.summaries if summaries is None else summaries, self.made_at, work)


def _view(entries: Mapping[str, Entry]) -> list[Entry]:
    in_view = [entry for entry in entries.values() if entry.message.covered_by is None]
    return sorted(in_view, key=lambda entry: entry.place)


def _by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.message.id: entry for entry in entries}


def _entry(
    draft: MessageDraft, seq: int, version: int, stored_at: datetime, place: int | None = None
) -> Entry:
    message = ChatMessage(draft.id, seq, draft.role, draft.content, draft.timestamp)
    return Entry(message, to_json(draft.metadata), place or seq, draft.tokens, version, stored_at)


def _metadata(summary: Summary) -> SummarizationMetadata:
    return SummarizationMetadata(
        id=summary.metadata_id,
        conversation_id=summary.conversation_id,
        summary_message_id=summary.draft.id,
        summarized_message_ids=summary.covers,
        timestamp_range=TimestampRange(summary.starts_at, summary.ends_at),
        skill_id=summary.skill_id,
        messages_deleted=summary.delete_covered,
        created_at=summary.now,
        is_stale=summary.is_stale,
    )
