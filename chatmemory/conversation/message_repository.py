"""``MessageRepository``: stores conversations; and the values that its methods take and return."""

from datetime import datetime, timedelta
from typing import Final, Protocol, final

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationOrder,
    Forked,
    MessagePage,
    SummarizationMetadata,
    Undone,
    View,
)
from chatmemory.effect import Effect, Tag
from chatmemory.errors import (
    AppendError,
    ConversationUndoRefusal,
    ForkRefusal,
    RemovalError,
    RepositoryError,
    VersionConflictError,
)
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject


@final
@frozen(slots=False)  # made for every message, see messages.py
class MessageDraft:
    """A checked message with everything that the store needs.  *tokens* is its size in the model's view."""

    id: str
    role: Role
    content: str
    timestamp: datetime
    metadata: JsonObject | None
    tokens: int


class ViewSize(Protocol):
    """The size of a conversation's model view; a ``Conversation`` has these fields."""

    @property
    def view_count(self) -> int:
        """The number of its messages."""
        ...

    @property
    def view_tokens(self) -> int:
        """The number of tokens of its messages."""
        ...

    @property
    def open_count(self) -> int:
        """The number of its user, assistant and tool messages."""
        ...


@final
@frozen
class WorkThreshold:
    """The size from which on a conversation has work for its history strategy: all three counts must be reached.

    ``Conversation`` defines the counts.  Every conversation reaches 0, so every change reaches ``WorkThreshold()``.  A
    strategy that never has work gives None instead of a threshold.

    Attributes:
        open_count: user, assistant and tool messages that no summary covers.
        view_count: messages of the model's view.
        view_tokens: tokens of the model's view.
    """

    open_count: int = 0
    view_count: int = 0
    view_tokens: int = 0

    def is_reached_by(self, size: ViewSize) -> bool:
        """Return whether a conversation of this *size* has work."""
        return (
            size.open_count >= self.open_count
            and size.view_count >= self.view_count
            and size.view_tokens >= self.view_tokens
        )


@final
@frozen(slots=False)  # made for every message, see messages.py
class Append:
    """A batch of messages for the end of one conversation.

    Attributes:
        drafts: one message or more, in order.
        expected_version: the version before the change; None: any version.  It is not checked when all drafts are
            duplicates, because such a batch changes nothing.
        now: the time of the write, UTC.
        threshold: history work is queued when the conversation reaches it after this change; None: never.
    """

    conversation_id: str
    drafts: tuple[MessageDraft, ...]
    now: datetime
    threshold: WorkThreshold | None = None
    expected_version: int | None = None


@final
@frozen
class Replacement:
    """Messages that take the place of the newest messages of a conversation.

    Attributes:
        batch: the messages to store at the end; it may be empty.  Unless all stored messages are deleted, the conversation
            must not know any of its ids.
        count: how many messages of the model's view are deleted; None: all.  A summary is deleted together with the
            messages that it covers.
    """

    batch: Append
    count: int | None = None

    @property
    def conversation_id(self) -> str:
        """The id of the conversation."""
        return self.batch.conversation_id


@final
@frozen
class Fork:
    """A branch that begins with the messages that another conversation, its parent, had at some point.

    Attributes:
        conversation_id: the id of the parent.
        new_id: the id of the branch; no conversation has it or ever had it.
        at: the point: the id of the last copied message, or a version of the parent, 1 or greater; None: its end.
        now: the time of the write, UTC.
        threshold: history work is queued when the branch reaches it; None: never.
    """

    conversation_id: str
    new_id: str
    at: str | int | None
    now: datetime
    threshold: WorkThreshold | None = None


@final
@frozen
class Undo:
    """A request to undo the newest change of a conversation.

    Attributes:
        expected_version: the version that the change created; None: undo the newest change, whatever it is.
        now: the time of the write, UTC.
        threshold: history work is queued, or stays queued, when the conversation reaches it; None: never.
    """

    conversation_id: str
    now: datetime
    threshold: WorkThreshold | None = None
    expected_version: int | None = None


@final
@frozen(slots=False)  # made for every message, see messages.py
class Appended:
    """The result of an append.

    Attributes:
        stored: the ids of the new messages, in order.
        duplicates: the ids of the messages that were already stored.
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

    A cursor is a sequence number in the ``full`` view, and a place in the ``model`` view.  The place of a message is its
    sequence number; the place of a summary is the place of the last message that it covers.

    Attributes:
        limit: the largest number of messages; None: all.
        before: read only messages with an earlier timestamp; None: any timestamp.
        older_than: read the newest messages before this cursor.
        newer_than: read the oldest messages after this cursor.  At most one of *older_than* and *newer_than* is given;
            with neither, the newest messages are read.
        as_of: the version, or the instant, whose view is read; None: the present one.  An instant means the last version
            that was stored at or before it; a version that does not exist yet means the present one.
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
        after: ``(updated_at, conversation_id)`` of the last conversation of the page before, as that page returned it;
            None: the first page.
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
    """A summary to be stored instead of the messages that it covers.

    Attributes:
        draft: the summary message; its metadata contains ``summaryMetadataId``, its timestamp is *ends_at*.
        covers: the ids of the covered messages, in the order of the view.
        planned_at_version: the version at which *covers* was read.
        starts_at: the earliest timestamp of the covered messages.
        ends_at: the latest timestamp of the covered messages.
        delete_covered: whether to delete the covered messages in the same transaction; their ids stay known.
        threshold: queued history work is removed unless the conversation still reaches this; None: it is removed.
        is_stale: whether the summary may repeat a forgotten memory; a summary from another store may already be stale.
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
    is_stale: bool = False


@final
@frozen
class HistoryWork:
    """A durable job: the history strategy must run on this conversation.

    Attributes:
        attempts: how often the work was claimed, this time included.
        lease_id: the process that holds this lease may settle the work; after the lease expires, another process may
            claim the work.
    """

    conversation_id: str
    attempts: int
    lease_id: str


LONGEST_WAIT: Final = timedelta(hours=1)
"""The longest time that work waits, or is leased when its lease is not longer.  A later time in the store comes from a
clock that was ahead."""

_CLOCKS_DIFFER_BY: Final = timedelta(minutes=1)  # the clocks of the machines that share a store


def latest_end(now: datetime, lease_until: datetime) -> datetime:
    """Return the latest instant, UTC, at which a wait or a lease can end.

    Work whose wait or lease ends later can be claimed: that instant comes from a clock that was ahead.

    Args:
        now: the present time, UTC.
        lease_until: when the requested lease expires, UTC; other leases are assumed not to be longer.
    """
    return max(now + LONGEST_WAIT + _CLOCKS_DIFFER_BY, lease_until)


class MessageRepository(Protocol):
    """Stores messages.  Every method is one transaction, so no reader ever sees half of a change.

    A method reads or changes only what ``principal()`` (``chatmemory.access.principal``) may read or change.  A
    conversation that the principal may not read is treated as one that does not exist.  Summaries and queued work belong
    to the service, so their methods work for every principal.

    The order of a conversation is a sequence that is assigned under its lock, never a timestamp.

    Every method fails with ``RepositoryError`` when the store fails; an exception of a driver is its ``cause``.  ``Fails
    with:`` names the other errors of a method.
    """

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        """Store the new drafts of *batch*, and queue history work in the same transaction when its threshold is reached.

        A draft is a duplicate when its id is already stored with the same role, content and metadata, or when it is the
        id of a message that a summary has deleted.

        The principal of the first append becomes the owner of the conversation.

        Fails with:
            AccessDeniedError: the principal may not write to the conversation, or may not write messages of one of the
                roles.
            MessageConflictError: an id is stored with another role, content or metadata; nothing is stored.
            VersionConflictError: the conversation is at another version than ``batch.expected_version``.
        """
        ...

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        """Return the messages that *query* asks for, oldest first; None when the conversation is empty.

        A page ``as_of`` a version has that version, and contains what this method returned at that version.  Content that
        was deleted since is missing; ``is_whole`` says whether all of it is still stored.
        """
        ...

    def fork(self, fork: Fork, /) -> Effect[Forked, ForkRefusal | RepositoryError]:
        """Store a branch: an ordinary conversation that begins with a copy of the messages of its parent up to a point.

        Later changes of one of the two (append, summarize, remove, clear) do not show in the other.  The branch belongs
        to the principal.  It has the messages and summaries that the parent had at the version of the point, except
        deleted ones; its message numbers and versions continue from there.  The same fork again returns the branch, also
        after the parent has changed.

        Fails with:
            ConversationNotFoundError: the principal sees no such parent.
            AccessDeniedError: the principal may not write to the branch.
            VersionConflictError: a conversation has or had the id of the branch, and was not created by the same fork.
            DataValidationError: the message or version of the point does not exist in the parent, or all messages that
                the parent held then were deleted.
        """
        ...

    def clear(
        self, conversation_id: str, *, now: datetime, with_branches: bool = False
    ) -> Effect[ClearReport | None, RemovalError]:
        """Delete the messages, summaries, coverage and queued work of a conversation.

        Args:
            conversation_id: the id of the conversation.
            now: the time of the write, UTC.
            with_branches: also clear, completely and in the same transaction, the branches, and the branches of these,
                that hold a message of the conversation and in which the principal may delete.

        Returns:
            how many messages were deleted, and which branches still hold some of them; None when the conversation holds no
            message.

        Fails with:
            AccessDeniedError: the principal may read the conversation, but may not delete its messages.
        """
        ...

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RemovalError]:
        """Delete the newest message of the model's view.

        When it is a summary, the messages that it covers return to the view, and the newest of them is deleted.  A summary
        that has deleted the messages that it covers is deleted itself.  Then the ids of those messages can be used again,
        and the messages that a summary among them covers return to the view.  The removal rewrites the history, see
        ``summarize``.

        Args:
            conversation_id: the id of the conversation.
            now: the time of the write, UTC.
            threshold: queued history work is removed unless the conversation still reaches this; None: it is removed.

        Returns:
            the deleted message; None when the conversation is empty.

        Fails with:
            AccessDeniedError: the principal may read the conversation, but may not delete its messages.
        """
        ...

    def replace(self, replacement: Replacement, /) -> Effect[Appended, AppendError]:
        """Delete the newest messages of the model's view and store others in their place, in one transaction.

        The transaction consists of one removal per deleted message, or of one clear when all are deleted, and then of an
        append.  Each of these creates a version and is recorded in the log, as when it is called alone.

        Fails with:
            AccessDeniedError: the principal may not delete messages of the conversation, or may not write to it; nothing
                is changed.
            MessageConflictError: a new message has an id that the conversation still knows, or two new messages have the
                same id; nothing is changed.
            VersionConflictError: the conversation is at another version than the batch expects; nothing is changed.
        """
        ...

    def undo(self, undo: Undo, /) -> Effect[Undone, ConversationUndoRefusal | RepositoryError]:
        """Undo the newest change.  The undo is a change itself, but cannot be undone.

        Undoing an append deletes its messages.  Undoing a summary deletes it, and the messages that it covers return to
        the view.  Undoing a fork clears the branch.  Undoing a clear copies the messages back from the branch that holds
        most of them, among the branches that the principal sees; the message numbers of the conversation continue.

        Fails with:
            ConversationNotFoundError: the principal sees no such conversation, or nothing was ever written to it.
            AccessDeniedError: the principal may read the conversation, but may not delete its messages.
            VersionConflictError: another change is the newest.
            NotUndoableError: the content that the change removed is no longer stored, the log no longer has the change,
                or the change is an undo itself.
        """
        ...

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """Return the counts, version and times of a conversation; None when it is empty."""
        ...

    def owner(self, conversation_id: str) -> Effect[Namespace | None, RepositoryError]:
        """Return the owner of a conversation; None when it is empty."""
        ...

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """Return at most ``listing.limit`` conversations in the order of *listing*; ids are compared by code points."""
        ...

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        """Replace the messages that *summary* covers with *summary*, in one transaction.

        The transaction writes the message, its metadata and its coverage.  It deletes the covered messages if
        ``summary.delete_covered`` is True.  It removes queued work unless the threshold of the summary is still reached.

        Fails with:
            VersionConflictError: the history was rewritten (summarized, shortened or cleared) after
                ``summary.planned_at_version``.  Messages that were only added since then do not conflict.
        """
        ...

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        """Return the metadata of a summary message.

        Args:
            conversation_id: the conversation of the summary.
            summary_message_id: the id of the summary message.

        Returns:
            the metadata; None when no summary has this id.
        """
        ...

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        """Return the summaries that cover a message, directly or through another summary.

        Args:
            conversation_id: the conversation of the message.
            message_id: the id of the message.

        Returns:
            their metadata, the summary that covers the message itself first.
        """
        ...

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        """Lease queued history work that is due and not leased.

        Work that waits, or is leased, until later than ``latest_end(now, lease_until)`` can be claimed as well.

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
        """End the lease of *work* and remove or queue the work; do nothing when another process holds the lease by now.

        Args:
            work: the leased work.
            threshold: without *retry_at*, the work is queued again when the conversation reaches this, and removed
                otherwise; None: it is removed.
            retry_at: the work failed and waits until this time, UTC; None: the work is done.
        """
        ...


class MessageRepositoryTag(Tag[MessageRepository]):
    """The tag under which layers provide ``MessageRepository``."""
