"""``History``: the messages of one conversation, their summaries and its counts, in dictionaries and lists.

It changes itself or refuses whole, and knows neither effects nor other conversations: ``message_repository.py`` does.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from datetime import datetime
from operator import attrgetter

from attrs import define, evolve, field

from chatmemory.contracts import Append, MessageDraft, PageQuery, Summary
from chatmemory.messages import (
    OPEN_ROLES,
    ChatMessage,
    ClearReport,
    Conversation,
    MessagePage,
    SummarizationMetadata,
    TimestampRange,
)
from chatmemory_layers.columns import from_json, same_json, to_json


@define(eq=False)
class Row:
    """A stored message.

    Attributes:
        message: without its metadata, so that it can be handed out as it is.
        metadata: as JSON text: what callers give and get is never shared, and ``1``, ``1.0`` and ``true`` stay apart.
        place: where it stands in the model's view; a summary stands where the last message that it covers stood.
    """

    message: ChatMessage
    metadata: str | None
    place: int
    tokens: int

    @property
    def seq(self) -> int:
        """Where it stands in the full view."""
        return self.message.seq

    @property
    def is_open(self) -> bool:
        """Whether a history strategy still has to deal with it."""
        return self.message.role in OPEN_ROLES and self.message.covered_by is None

    def says(self, draft: MessageDraft) -> bool:
        """Tell whether *draft* is this message once more; when it was said does not matter."""
        return (
            self.message.role == draft.role
            and self.message.content == draft.content
            and same_json(self.metadata, to_json(draft.metadata))
        )

    def handed_out(self) -> ChatMessage:
        """Return the message with a metadata object of the caller's own."""
        return (
            self.message if self.metadata is None else evolve(self.message, metadata=from_json(self.metadata))
        )


BY_SEQ: Callable[[Row], int] = attrgetter("seq")
BY_PLACE: Callable[[Row], int] = attrgetter("place")


@define(eq=False)
class History:
    """One conversation.  Version and sequence outlive a clear, so that no stale writer mistakes what comes after it.

    Attributes:
        rewritten_at_version: the version that the latest summary, removal or clear made.
        full: every stored message by sequence.
        view: the messages that no summary covers, by place.
        covered: from the id of a covered message, deleted or not, to the id of its summary.
        summarizations: by the id of the summary message.
    """

    conversation_id: str
    created_at: datetime
    updated_at: datetime
    version: int = 0
    next_seq: int = 1
    rewritten_at_version: int = 0
    view_tokens: int = 0
    open_count: int = 0
    by_id: dict[str, Row] = field(factory=dict[str, Row])
    full: list[Row] = field(factory=list[Row])
    view: list[Row] = field(factory=list[Row])
    covered: dict[str, str] = field(factory=dict[str, str])
    summarizations: dict[str, SummarizationMetadata] = field(factory=dict[str, SummarizationMetadata])

    @property
    def place(self) -> tuple[datetime, str]:
        """Where it stands in a list of conversations."""
        return self.updated_at, self.conversation_id

    def conversation(self) -> Conversation:
        """Describe it as it is now."""
        return Conversation(
            self.conversation_id,
            version=self.version,
            message_count=len(self.full),
            view_count=len(self.view),
            view_tokens=self.view_tokens,
            open_count=self.open_count,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def has_all_of(self, batch: Append) -> bool:
        """Tell whether all of *batch* is stored already."""
        outcome = self._sort(batch.drafts)
        return not outcome.new and not outcome.conflicts

    def append(self, batch: Append) -> "Sorted":
        """Store what is new in *batch*, unless some of it conflicts."""
        outcome = self._sort(batch.drafts)
        if outcome.conflicts or not outcome.new:
            return outcome
        if not self.full:
            self.created_at = batch.now
        for row in outcome.new.values():
            self._store(row)
        self._changed(batch.now)
        return outcome

    def page(self, query: PageQuery) -> MessagePage:
        """Return the stretch that *query* asks for."""
        rows, position = (self.view, BY_PLACE) if query.view == "model" else (self.full, BY_SEQ)
        if query.before is not None:
            rows = [row for row in rows if row.message.timestamp < query.before]
        start, stop = 0, len(rows)
        if query.newer_than is not None:
            start = bisect_right(rows, query.newer_than, key=position)
            stop = stop if query.limit is None else min(stop, start + query.limit)
        else:
            if query.older_than is not None:
                stop = bisect_left(rows, query.older_than, key=position)
            start = start if query.limit is None else max(start, stop - query.limit)
        return MessagePage(
            messages=tuple(row.handed_out() for row in rows[start:stop]),
            version=self.version,
            older=position(rows[start - 1]) + 1 if start else None,
            newer=position(rows[stop - 1]) if stop else 0,
        )

    def can_take(self, summary: Summary) -> bool:
        """Tell whether what *summary* was made from still stands: appended to perhaps, but not rewritten."""
        return self.rewritten_at_version <= summary.planned_at_version and all(
            message_id in self.by_id and message_id not in self.covered for message_id in summary.covers
        )

    def summarize(self, summary: Summary) -> None:
        """Put *summary*, which ``can_take`` and an id of its own allow, in the place of what it covers."""
        covered = [self.by_id[message_id] for message_id in summary.covers]
        for row in covered:
            self.view_tokens -= row.tokens
            self.open_count -= row.is_open
            self.covered[row.message.id] = summary.draft.id
            row.message = evolve(row.message, covered_by=summary.draft.id)
        if summary.delete_covered:
            for row in covered:
                del self.by_id[row.message.id]
            self.full = [row for row in self.full if row.message.id in self.by_id]
        self.view = [row for row in self.view if row.message.covered_by is None]
        self._store(self._row(summary.draft, seq=self.next_seq, place=max(map(BY_PLACE, covered))))
        self.view.sort(key=BY_PLACE)
        self.summarizations[summary.draft.id] = SummarizationMetadata(
            id=summary.metadata_id,
            conversation_id=self.conversation_id,
            summary_message_id=summary.draft.id,
            summarized_message_ids=summary.covers,
            timestamp_range=TimestampRange(summary.starts_at, summary.ends_at),
            skill_id=summary.skill_id,
            messages_deleted=summary.delete_covered,
            created_at=summary.now,
        )
        self._changed(summary.now)
        self.rewritten_at_version = self.version

    def summarizations_of(self, message_id: str) -> Iterator[SummarizationMetadata]:
        """Go from the summary of a message to the summary of that summary, and so on."""
        while (summary_id := self.covered.get(message_id)) is not None:
            yield self.summarizations[summary_id]
            message_id = summary_id

    def mark_stale(self, message_id: str) -> list[str]:
        """Say of every summary over the message that it may still say what was forgotten; return their ids."""
        stale = [made.summary_message_id for made in self.summarizations_of(message_id)]
        for summary_id in stale:
            self.summarizations[summary_id] = evolve(self.summarizations[summary_id], is_stale=True)
        return stale

    def remove_newest(self, now: datetime) -> ChatMessage:
        """Take the newest message out of the view, and undo the summaries that stand there; there must be one."""
        removed = self._remove(self.view[-1])
        while self._uncover(removed.message.id):
            removed = self._remove(self.view[-1])
        self._changed(now)
        self.rewritten_at_version = self.version
        return removed.handed_out()

    def _remove(self, row: Row) -> Row:
        del self.by_id[row.message.id]
        self.full.remove(row)
        self.view.remove(row)
        self.view_tokens -= row.tokens
        self.open_count -= row.is_open
        return row

    def _uncover(self, summary_id: str) -> bool:
        """Undo a summary that is gone; tell whether anything came back into view."""
        self.summarizations.pop(summary_id, None)
        freed = [message_id for message_id, by in self.covered.items() if by == summary_id]
        for message_id in freed:
            del self.covered[message_id]
        back = [self.by_id[message_id] for message_id in freed if message_id in self.by_id]
        for row in back:
            row.message = evolve(row.message, covered_by=None)
            self.view_tokens += row.tokens
            self.open_count += row.is_open
        self.view = sorted((*self.view, *back), key=BY_PLACE)
        return bool(back)

    def clear(self, now: datetime) -> ClearReport:
        """Forget everything but the version and the sequence."""
        messages, summaries = len(self.full), sum(row.message.role == "summary" for row in self.full)
        for kept in (self.by_id, self.full, self.view, self.covered, self.summarizations):
            kept.clear()
        self.view_tokens = self.open_count = 0
        self._changed(now)
        self.rewritten_at_version = self.version
        return ClearReport(messages=messages, summaries=summaries, version=self.version)

    def _sort(self, drafts: tuple[MessageDraft, ...]) -> "Sorted":
        outcome = Sorted()
        for draft in drafts:
            known = self.by_id.get(draft.id) or outcome.new.get(draft.id)
            if known is None and draft.id not in self.covered:
                outcome.new[draft.id] = self._row(draft, seq=self.next_seq + len(outcome.new))
            elif known is None or known.says(draft):
                outcome.duplicates.append(draft.id)
            else:
                outcome.conflicts.append(draft.id)
        return outcome

    def _row(self, draft: MessageDraft, *, seq: int, place: int | None = None) -> Row:
        message = ChatMessage(draft.id, seq, draft.role, draft.content, draft.timestamp)
        return Row(message, to_json(draft.metadata), place or seq, draft.tokens)

    def _store(self, row: Row) -> None:
        self.by_id[row.message.id] = row
        self.full.append(row)
        self.view.append(row)
        self.next_seq = row.seq + 1
        self.view_tokens += row.tokens
        self.open_count += row.is_open

    def _changed(self, now: datetime) -> None:
        self.version += 1
        self.updated_at = now


@define
class Sorted:
    """A batch, told apart: the rows to be stored, and the ids of what is stored already or contradicts it."""

    new: dict[str, Row] = field(factory=dict[str, Row])
    duplicates: list[str] = field(factory=list[str])
    conflicts: list[str] = field(factory=list[str])
