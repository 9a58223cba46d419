"""``MessageRepository``: stores conversations; with the values that its methods take and return."""

from datetime import datetime, timedelta
from typing import Final, Protocol, final

from attrs import frozen

from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationOrder,
    Forked,
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.effect import Effect, Tag
from chatmemory.errors import AppendError, ForkRefusal, RemovalError, RepositoryError, VersionConflictError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject


@final
@frozen(slots=False)  # made for every message, see messages.py
class MessageDraft:
    """A checked message with all that the store needs.  *tokens* is its size in the model's view."""

    id: str
    role: Role
    content: str
    timestamp: datetime
    metadata: JsonObject | None
    tokens: int


@final
@frozen
class WorkThreshold:
    """The size at which a conversation has work for its history strategy: all three counts have to be reached.

    They count as those of ``Conversation`` do.  Every conversation reaches 0, so every change reaches
    ``WorkThreshold()``.  A strategy that never has work gives None instead of a threshold.

    Attributes:
        open_count: user, assistant and tool messages that no summary covers.
        view_count: messages of the model's view.
        view_tokens: tokens of the model's view.
    """

    open_count: int = 0
    view_count: int = 0
    view_tokens: int = 0

    def is_reached_by(self, conversation: Conversation) -> bool:
        """Return whether *conversation* has work."""
        return (
            conversation.open_count >= self.open_count
            and conversation.view_count >= self.view_count
            and conversation.view_tokens >= self.view_tokens
        )


@final
@frozen(slots=False)  # made for every message, see messages.py
class Append:
    """A batch of messages for the end of one conversation.

    Attributes:
        drafts: at least one, in order.
        expected_version: the version before the change; None: any version.  It is not checked when all drafts are
            duplicates, because such a batch changes nothing.
        now: the time of the write, UTC.
        threshold: history work is queued when this change makes the conversation reach it; None: never.
    """

    conversation_id: str
    drafts: tuple[MessageDraft, ...]
    now: datetime
    threshold: WorkThreshold | None = None
    expected_version: int | None = None


@final
@frozen
class Fork:
    """A branch that begins as another conversation was at some point.

    Attributes:
        conversation_id: the other conversation, its parent.
        new_id: the id of the branch, which no conversation has or ever had.
        at: the point: the id of the last message that both have, or a version of the parent from 1 on; None: its end.
        now: the time of the write, UTC.
        threshold: history work is queued when the branch reaches it; None: never.
    """

    conversation_id: str
    new_id: str
    at: str | int | None
    now: datetime
    threshold: WorkThreshold | None = None


@final
@frozen(slots=False)  # made for every message, see messages.py
class Appended:
    """The result of an append.

    Attributes:
        stored: the ids that are new, in order.
        duplicates: the ids that were already stored.
        conversation: the conversation after the append.
        work_is_due: whether history work is queued for the conversation.
    """

    stored: tuple[str, ...]
    duplicates: tuple[str, ...]
    conversation: Conversation
    work_is_due: bool


@final
@frozen
class PageQuery:
    """Which part of a conversation to read.

    Cursors are sequence numbers in the ``full`` view, and places in the ``model`` view, where a summary has the place of
    the last message that it covers.

    Attributes:
        limit: the largest number of messages; None: all.
        before: only messages with an earlier timestamp; None: any.
        older_than: the newest messages before this cursor.
        newer_than: the oldest messages after this cursor.  At most one of *older_than* and *newer_than* is given; with
            neither, the newest messages are read.
        as_of: the version, or the instant, whose view is read; None: the present one.  An instant names the last version
            that was stored at or before it; a version that is yet to come is the present one.
    """

    conversation_id: str
    view: View
    limit: int | None = None
    before: datetime | None = None
    older_than: int | None = None
    newer_than: int | None = None
    as_of: int | datetime | None = None


@final
@frozen
class ConversationListing:
    """Which conversations to list; only those that hold a message are listed.

    Attributes:
        limit: the largest number of conversations.
        after: ``(updated_at, conversation_id)`` of the last conversation of the page before, as it was on that page.
        order: ``id``: by ``conversation_id``.  ``recent``: by ``updated_at`` and then by ``conversation_id``, both
            descending.
        prefix: only ids that begin with exactly this text.
    """

    limit: int
    after: tuple[datetime, str] | None = None
    order: ConversationOrder = "id"
    prefix: str = ""


@final
@frozen
class Summary:
    """A summary to be stored in the place of the messages that it covers.

    Attributes:
        draft: the summary message; its metadata holds ``summaryMetadataId``, its timestamp is *ends_at*.
        covers: the ids of the covered messages, in the order of the view.
        planned_at_version: the version at which *covers* was read.
        starts_at: the earliest timestamp of the covered messages.
        ends_at: the latest one.
        delete_covered: delete the covered messages in the same transaction; their ids stay known.
        threshold: queued history work is removed unless the conversation still reaches this; None: it is removed.
    """

    conversation_id: str
    metadata_id: str
    draft: MessageDraft
    covers: tuple[str, ...]
    planned_at_version: int
    starts_at: datetime
    ends_at: datetime
    skill_id: str
    delete_covered: bool
    now: datetime
    threshold: WorkThreshold | None


@final
@frozen
class HistoryWork:
    """A durable job: the history strategy has to look at this conversation.

    Attributes:
        attempts: how often it was claimed, this time included.
        lease_id: the process that holds this lease may settle the work; after the lease expires, another process may
            claim the work.
    """

    conversation_id: str
    attempts: int
    lease_id: str


LONGEST_WAIT: Final = timedelta(hours=1)
"""No work waits longer, nor is it held longer unless its lease is; a clock that says so was ahead when it was read."""


def latest_end(now: datetime, lease_until: datetime) -> datetime:
    """Return the latest instant that a wait or a lease can end at.

    Work that waits or is held for longer is free: its instant comes from a clock that was ahead.

    Args:
        now: the present time, UTC.
        lease_until: when the lease that is asked for expires; leases of others are taken to be no longer.
    """
    return max(now + LONGEST_WAIT, lease_until)


class MessageRepository(Protocol):
    """Stores messages.  Every method is one transaction, so no reader ever sees half of a change.

    What a method shows or changes for a caller is what ``principal()`` (``chatmemory.access.principal``) may see or
    change: what they may not see is answered as what is not there.  Summaries and queued work are the service's own,
    whoever acts.

    The order of a conversation is a sequence that is assigned under its lock, never a timestamp.  Exceptions of a driver
    are returned as ``RepositoryError``.
    """

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        """Store the new drafts of *batch*, and queue history work in the same transaction when its threshold is reached.

        A draft is a duplicate when its id is already stored, or was covered by a summary that deleted it.

        The first append makes its principal the owner of the conversation.

        Fails with:
            AccessDeniedError: the principal may not write to the conversation, or not in one of the roles.
            MessageConflictError: an id is stored with another role, content or metadata; nothing is stored.
            VersionConflictError: the conversation is at another version than ``batch.expected_version``.
        """
        ...

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        """Return the messages that *query* asks for, oldest first; None when the conversation holds no message.

        A page ``as_of`` a version has that version, and is what this method answered at that version, as far as its content
        is kept; the page says whether it is whole.
        """
        ...

    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        """Store a branch, which shares the messages up to its point and is a conversation like any other.

        What either of the two does from then on - append, summarize, remove, clear - the other one never sees.  The
        branch belongs to who makes it.  It is as the parent was at the version of the point, as far as that is kept, with
        the summaries of that time; its numbers and its versions go on from there.

        Fails with:
            ConversationNotFoundError: the principal sees no such parent.
            AccessDeniedError: the principal may not write to the branch.
            VersionConflictError: a conversation has or had the id of the branch, and is not this fork made before.
            DataValidationError: the parent has no such message or version, or nothing that it held then is kept.
        """
        ...

    def clear(self, conversation_id: str, *, now: datetime) -> Effect[ClearReport | None, RemovalError]:
        """Delete the messages, summaries, coverage and queued work of a conversation.

        Args:
            conversation_id: the conversation.
            now: the time of the write, UTC.

        Returns:
            how much was deleted; None when the conversation holds no message.

        Fails with:
            AccessDeniedError: the principal sees the conversation and may not delete in it.
        """
        ...

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RemovalError]:
        """Delete the newest message of the model's view.

        When it is a summary, the messages that it covers come back into view, and the newest of those is deleted.  A
        summary that has deleted its messages is deleted itself; then the ids of those messages are free again.  The
        removal counts as rewriting the history.

        Args:
            conversation_id: the conversation.
            now: the time of the write, UTC.
            threshold: queued history work is removed unless the conversation still reaches this; None: it is removed.

        Returns:
            the deleted message; None when the conversation holds none.

        Fails with:
            AccessDeniedError: the principal sees the conversation and may not delete in it.
        """
        ...

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """Return the counts, version and times of a conversation; None when it holds no message."""
        ...

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """Return at most ``listing.limit`` conversations; ids are compared by code points."""
        ...

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        """Store *summary* in the place of the messages that it covers, in one transaction.

        The transaction writes the message, its metadata and its coverage, deletes the covered messages if the summary says
        so, and removes queued work unless the threshold of the summary is still reached.

        Fails with:
            VersionConflictError: the history was rewritten (summarized, shortened or cleared) after
                ``summary.planned_at_version``.  Messages that were only added since are no conflict.
        """
        ...

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        """Return the metadata of a summary message; None when no summary has this id.

        Args:
            conversation_id: the conversation of the summary.
            summary_message_id: the id of the summary message.
        """
        ...

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        """Return the summaries that cover a message, directly or through another summary, the innermost first.

        Args:
            conversation_id: the conversation of the message.
            message_id: the id of the message.
        """
        ...

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        """Lease queued history work that is due and not leased.

        Work whose time, or whose lease, ends after ``latest_end(now, lease_until)`` is due and not leased either.

        Args:
            now: the present time, UTC.
            lease_id: the id of the new lease.
            lease_until: when the lease expires, UTC.
            conversation_id: claim work of this conversation; None: the work that has waited longest.

        Returns:
            the leased work; None when there is none.
        """
        ...

    def settle_work(
        self,
        work: HistoryWork,
        *,
        threshold: WorkThreshold | None,
        retry_at: datetime | None = None,
    ) -> Effect[None, RepositoryError]:
        """Return leased work; does nothing when another process holds the lease by now.

        Args:
            work: the leased work.
            threshold: without *retry_at*, the work is removed, or queued again when the conversation reaches this;
                None: it is removed.
            retry_at: the work failed and waits until this time, UTC; None: the work is done.
        """
        ...


class MessageRepositoryTag(Tag[MessageRepository]):
    """The tag under which layers provide ``MessageRepository``."""
