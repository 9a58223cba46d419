"""``ModelRepository``: what a repository has to answer, in the plainest words.

The yardstick of the laws, so it is written to be checked by reading: one list of entries per conversation, and every
answer computed from it anew.  No counters, no indexes, no effects.
"""

import json
from datetime import UTC, datetime
from typing import final

from attrs import define, evolve, field, frozen

from chatmemory.contracts import (
    Append,
    Appended,
    ConversationListing,
    MessageDraft,
    PageQuery,
    Summary,
    WorkIsDue,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AppendError, MessageConflictError, VersionConflictError
from chatmemory.laws.witness import Observation
from chatmemory.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    MessagePage,
    SummarizationMetadata,
    TimestampRange,
)

BEFORE_ALL = datetime.min.replace(tzinfo=UTC)  # of a conversation that does not exist yet


@final
@frozen
class Entry:
    """A message, where it stands in the model's view, and its size."""

    message: ChatMessage
    place: int
    tokens: int


@final
@define
class ModelConversation:
    """All that ever happened to a conversation since it was cleared last; deleted messages are gone from *entries*."""

    version: int = 0
    next_seq: int = 1
    rewritten_at_version: int = 0
    has_work: bool = False
    created_at: datetime = BEFORE_ALL
    updated_at: datetime = BEFORE_ALL
    entries: list[Entry] = field(factory=list[Entry])
    summarizations: list[SummarizationMetadata] = field(factory=list[SummarizationMetadata])

    def add(self, draft: MessageDraft, *, place: int | None = None) -> None:
        """Put *draft* at the end."""
        message = ChatMessage(
            draft.id, self.next_seq, draft.role, draft.content, draft.timestamp, draft.metadata
        )
        self.entries.append(Entry(message, place or self.next_seq, draft.tokens))
        self.next_seq += 1

    def in_view(self, view: str) -> list[tuple[int, ChatMessage]]:
        """Return the messages of a view, each behind its cursor."""
        if view == "full":
            return [(entry.message.seq, entry.message) for entry in self.entries]
        open_entries = [entry for entry in self.entries if entry.message.covered_by is None]
        return [(entry.place, entry.message) for entry in sorted(open_entries, key=lambda entry: entry.place)]

    def is_covered(self, message_id: str) -> bool:
        """Tell whether a summary stands for the message."""
        return any(message_id in made.summarized_message_ids for made in self.summarizations)


@final
class ModelRepository:
    """The reading of ``MessageRepository`` that the laws go by; claiming work has laws of its own."""

    def __init__(self) -> None:
        self.conversations: dict[str, ModelConversation] = {}

    def append(self, batch: Append) -> Outcome[Appended, AppendError]:
        """Answer ``MessageRepository.append``."""
        kept = self.conversations.get(batch.conversation_id, ModelConversation())
        said = {entry.message.id: _what_is_said(entry.message) for entry in kept.entries}
        new: dict[str, MessageDraft] = {}
        duplicates: list[str] = []
        conflicts: list[str] = []
        for draft in batch.drafts:
            if draft.id not in said and not kept.is_covered(draft.id):
                new[draft.id], said[draft.id] = draft, _what_is_said(draft)
            elif said.get(draft.id) in {None, _what_is_said(draft)}:
                duplicates.append(draft.id)
            else:
                conflicts.append(draft.id)
        if (new or conflicts) and batch.expected_version not in {None, kept.version}:
            expected = batch.expected_version or 0
            return Failure(VersionConflictError(batch.conversation_id, expected, kept.version))
        if conflicts:
            return Failure(MessageConflictError(batch.conversation_id, tuple(conflicts)))
        if new:
            self.conversations[batch.conversation_id] = kept
            kept.created_at = kept.created_at if kept.entries else batch.now
            for draft in new.values():
                kept.add(draft)
            self._changed(kept, batch.now)
        conversation = self._describe(batch.conversation_id, kept)
        kept.has_work |= bool(new) and batch.is_due(conversation)
        return Success(Appended(tuple(new), tuple(duplicates), conversation, kept.has_work))

    def version(self, conversation_id: str) -> int:
        """Return the version, which a clear does not take away; 0 of what was never there."""
        return self.conversations.get(conversation_id, ModelConversation()).version

    def observe(self, conversation_id: str) -> Observation:
        """Return all that can be read of the conversation."""
        kept = self.conversations.get(conversation_id, ModelConversation())
        full, model = ([message for _, message in kept.in_view(view)] for view in ("full", "model"))
        return Observation(self.conversation(conversation_id), tuple(full), tuple(model))

    def conversation(self, conversation_id: str) -> Conversation | None:
        """Answer ``MessageRepository.conversation``."""
        kept = self.conversations.get(conversation_id, ModelConversation())
        return self._describe(conversation_id, kept) if kept.entries else None

    def listed(self, listing: ConversationListing) -> tuple[Conversation, ...]:
        """Answer ``MessageRepository.conversations``."""
        found = [self.conversation(conversation_id) for conversation_id in sorted(self.conversations)]
        known = [one for one in found if one and one.conversation_id.startswith(listing.prefix)]
        after = listing.after
        if listing.order == "id":
            behind = [one for one in known if after is None or one.conversation_id > after[1]]
        else:
            newest = sorted(known, key=_place_of, reverse=True)
            behind = [one for one in newest if after is None or _place_of(one) < after]
        return tuple(behind[: listing.limit])

    def page(self, query: PageQuery) -> MessagePage | None:
        """Answer ``MessageRepository.page``."""
        kept = self.conversations.get(query.conversation_id, ModelConversation())
        if not kept.entries:
            return None
        stretch = [
            (cursor, message)
            for cursor, message in kept.in_view(query.view)
            if query.before is None or message.timestamp < query.before
        ]
        limit = len(stretch) if query.limit is None else query.limit
        if query.newer_than is not None:
            chosen = [pair for pair in stretch if pair[0] > query.newer_than][:limit]
        else:
            older = [pair for pair in stretch if query.older_than is None or pair[0] < query.older_than]
            chosen = older[max(0, len(older) - limit) :]
        return MessagePage(
            messages=tuple(message for _, message in chosen),
            version=kept.version,
            older=chosen[0][0] if chosen and chosen[0] != stretch[0] else None,
            newer=chosen[-1][0] if chosen else query.newer_than or 0,
        )

    def clear(self, conversation_id: str, *, now: datetime) -> ClearReport | None:
        """Answer ``MessageRepository.clear``."""
        kept = self.conversations.get(conversation_id, ModelConversation())
        if not kept.entries:
            return None
        roles = [entry.message.role for entry in kept.entries]
        kept.entries, kept.summarizations, kept.has_work = [], [], False
        self._changed(kept, now)
        kept.rewritten_at_version = kept.version
        return ClearReport(messages=len(roles), summaries=roles.count("summary"), version=kept.version)

    def remove_newest(self, conversation_id: str, *, now: datetime, is_due: WorkIsDue) -> ChatMessage | None:
        """Answer ``MessageRepository.remove_newest``."""
        kept = self.conversations.get(conversation_id, ModelConversation())
        if not kept.in_view("model"):
            return None
        while True:
            removed = kept.in_view("model")[-1][1]
            kept.summarizations = [
                made for made in kept.summarizations if made.summary_message_id != removed.id
            ]
            left = [entry for entry in kept.entries if entry.message.id != removed.id]
            kept.entries = [
                evolve(entry, message=evolve(entry.message, covered_by=None))
                if entry.message.covered_by == removed.id
                else entry
                for entry in left
            ]
            if kept.entries == left:
                break
        self._changed(kept, now)
        kept.rewritten_at_version = kept.version
        kept.has_work &= is_due(self._describe(conversation_id, kept))
        return removed

    def summarize(self, summary: Summary) -> Outcome[Conversation, VersionConflictError]:
        """Answer ``MessageRepository.summarize``."""
        kept = self.conversations.get(summary.conversation_id, ModelConversation())
        places = {message.id: place for place, message in kept.in_view("model")}
        if kept.rewritten_at_version > summary.planned_at_version or not places.keys() >= set(summary.covers):
            conflict = VersionConflictError(summary.conversation_id, summary.planned_at_version, kept.version)
            return Failure(conflict)
        kept.entries = [
            entry
            if entry.message.id not in summary.covers
            else evolve(entry, message=evolve(entry.message, covered_by=summary.draft.id))
            for entry in kept.entries
            if not (summary.delete_covered and entry.message.id in summary.covers)
        ]
        kept.add(summary.draft, place=max(places[message_id] for message_id in summary.covers))
        kept.summarizations.append(_metadata_of(summary))
        self._changed(kept, summary.now)
        kept.rewritten_at_version = kept.version
        conversation = self._describe(summary.conversation_id, kept)
        kept.has_work &= summary.is_due(conversation)
        return Success(conversation)

    def summarizations_of(self, conversation_id: str, message_id: str) -> tuple[SummarizationMetadata, ...]:
        """Answer ``MessageRepository.summarizations_of``: a later summary can only stand around an earlier one."""
        kept = self.conversations.get(conversation_id, ModelConversation())
        chain: list[SummarizationMetadata] = []
        for made in kept.summarizations:
            if message_id in made.summarized_message_ids:
                chain.append(made)
                message_id = made.summary_message_id
        return tuple(chain)

    def _changed(self, kept: ModelConversation, now: datetime) -> None:
        kept.version += 1
        kept.updated_at = now

    def _describe(self, conversation_id: str, kept: ModelConversation) -> Conversation:
        uncovered = [entry for entry in kept.entries if entry.message.covered_by is None]
        return Conversation(
            conversation_id,
            version=kept.version,
            message_count=len(kept.entries),
            view_count=len(uncovered),
            view_tokens=sum(entry.tokens for entry in uncovered),
            open_count=sum(entry.message.role in {"user", "assistant", "tool"} for entry in uncovered),
            created_at=kept.created_at,
            updated_at=kept.updated_at,
        )


def _place_of(conversation: Conversation) -> tuple[datetime, str]:
    return conversation.updated_at, conversation.conversation_id


def _what_is_said(message: ChatMessage | MessageDraft) -> tuple[str, str, str]:
    """Return what makes two messages of one id the same; JSON text, because Python calls 1 and True equal."""
    return message.role, message.content, json.dumps(message.metadata, sort_keys=True)


def _metadata_of(summary: Summary) -> SummarizationMetadata:
    return SummarizationMetadata(
        id=summary.metadata_id,
        conversation_id=summary.conversation_id,
        summary_message_id=summary.draft.id,
        summarized_message_ids=summary.covers,
        timestamp_range=TimestampRange(summary.starts_at, summary.ends_at),
        skill_id=summary.skill_id,
        messages_deleted=summary.delete_covered,
        created_at=summary.now,
    )
