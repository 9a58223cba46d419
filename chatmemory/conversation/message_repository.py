"""``MessageRepository``: what keeps conversations, and the values that go in and out of it."""

from datetime import datetime
from typing import Protocol, final

from attrs import frozen

from chatmemory.conversation.messages import (
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationOrder,
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.effect import Effect, Tag
from chatmemory.errors import AppendError, RepositoryError, VersionConflictError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject


@final
@frozen(slots=False)  # made for every message, see messages.py
class MessageDraft:
    """A message that obeys the rules, with all that the store needs.  *tokens* is its size for the model's view."""

    id: str
    role: Role
    content: str
    timestamp: datetime
    metadata: JsonObject | None
    tokens: int


@final
@frozen
class WorkThreshold:
    """The size from which on a conversation has work for its history strategy: it reaches all three numbers.

    They are counted as those of ``Conversation``; every conversation reaches 0, so that ``WorkThreshold()`` is reached
    by each change.  A strategy that never has work gives None in the place of a threshold.

    Attributes:
        open_count: user, assistant and tool messages that no summary covers.
        view_count: messages of the model's view.
        view_tokens: tokens of the model's view.
    """

    open_count: int = 0
    view_count: int = 0
    view_tokens: int = 0

    def is_reached_by(self, conversation: Conversation) -> bool:
        """Tell whether *conversation* has work."""
        return (
            conversation.open_count >= self.open_count
            and conversation.view_count >= self.view_count
            and conversation.view_tokens >= self.view_tokens
        )


@final
@frozen(slots=False)  # made for every message, see messages.py
class Append:
    """A batch for the end of one conversation.

    Attributes:
        drafts: at least one, in order.
        expected_version: the version before the change; None: whatever it is.  A batch of nothing but duplicates
            changes nothing, and passes at any version.
        now: the instant of the write, UTC.
        threshold: history work is queued when the conversation reaches it by this change; None: never.
    """

    conversation_id: str
    drafts: tuple[MessageDraft, ...]
    now: datetime
    threshold: WorkThreshold | None = None
    expected_version: int | None = None


@final
@frozen(slots=False)  # made for every message, see messages.py
class Appended:
    """What an append did: *conversation* as it is afterwards; *work_is_due* when history work is queued for it."""

    stored: tuple[str, ...]
    duplicates: tuple[str, ...]
    conversation: Conversation
    work_is_due: bool


@final
@frozen
class PageQuery:
    """Which stretch of a conversation; *limit* None is all.

    Cursors are sequence numbers in the ``full`` view, and places in the ``model`` view, where a summary takes the
    place of the last message that it covers.  At most one of *older_than* and *newer_than* is given; without either
    the newest messages are meant.
    """

    conversation_id: str
    view: View
    limit: int | None = None
    before: datetime | None = None
    older_than: int | None = None
    newer_than: int | None = None


@final
@frozen
class ConversationListing:
    """Which conversations, of those that hold a message.

    Attributes:
        order: by ``conversation_id``, or by ``updated_at`` and then by ``conversation_id``, both descending.
        after: ``(updated_at, conversation_id)`` of the last one that was seen, as it was then.
        prefix: only those with an id that begins so, to the letter.
    """

    limit: int
    after: tuple[datetime, str] | None = None
    order: ConversationOrder = "id"
    prefix: str = ""


@final
@frozen
class Summary:
    """A summary on its way in, to take the place of the messages *covers* (ids, in the order of the view).

    Attributes:
        draft: the summary message; its metadata holds ``summaryMetadataId``, its timestamp ends the covered range.
        planned_at_version: the version at which *covers* was read.
        starts_at: the earliest timestamp that it covers.
        delete_covered: delete the covered messages in the same transaction; their ids stay known.
        threshold: queued history work goes unless the conversation still reaches it; None: it goes.
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
        lease_id: whoever holds it may settle the work; a lease that expired may have passed to another.
    """

    conversation_id: str
    attempts: int
    lease_id: str


class MessageRepository(Protocol):
    """Keeps messages.  Every method is one transaction, so that no reader ever sees half of it.

    The order of a conversation is a sequence given under its lock, never a timestamp.  No driver exception escapes.
    """

    def append(self, batch: Append) -> Effect[Appended, AppendError]:
        """Store the new drafts of *batch*, and queue history work in the same transaction when its threshold is reached.

        An id that is stored, or was covered by a summary that deleted it, is a duplicate.  One that is stored with
        another role, content or metadata refuses the batch.
        """
        ...

    def page(self, query: PageQuery) -> Effect[MessagePage | None, RepositoryError]:
        """Return the stretch, oldest first; None when the conversation holds no message."""
        ...

    def clear(self, conversation_id: str, *, now: datetime) -> Effect[ClearReport | None, RepositoryError]:
        """Delete messages, summaries, coverage and queued work; None when there was no message."""
        ...

    def remove_newest(
        self, conversation_id: str, *, now: datetime, threshold: WorkThreshold | None
    ) -> Effect[ChatMessage | None, RepositoryError]:
        """Delete the newest message of the model's view and return it; None when there is none.

        A summary that stands there is undone first: what it stands for comes back into view, and the newest of that
        is deleted.  One that has deleted all that it stood for is itself the newest message; the ids of the deleted
        are free again.  Counts as rewriting the history.  Queued work goes unless *threshold* is still reached.
        """
        ...

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """Return the conversation; None when it holds no message."""
        ...

    def conversations(
        self, listing: ConversationListing, /
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """Return at most ``listing.limit`` conversations; ids are compared and ordered by code points."""
        ...

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        """Put *summary* in the place of what it covers: message, metadata, coverage and deletion in one transaction.

        Guarded by version: fails when the history was rewritten (summarized, shortened or cleared) after ``planned_at_version``;
        appends since then do no harm.  Queued work goes unless its threshold is still reached.
        """
        ...

    def summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, RepositoryError]:
        """Return the metadata of a summary message."""
        ...

    def summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[tuple[SummarizationMetadata, ...], RepositoryError]:
        """Return the chain of summaries over a message, the innermost first."""
        ...

    def claim_work(
        self, *, now: datetime, lease_id: str, lease_until: datetime, conversation_id: str | None = None
    ) -> Effect[HistoryWork | None, RepositoryError]:
        """Lease queued work that is due and not leased (of one conversation, or the longest waiting of any)."""
        ...

    def settle_work(
        self,
        work: HistoryWork,
        *,
        threshold: WorkThreshold | None,
        retry_at: datetime | None = None,
    ) -> Effect[None, RepositoryError]:
        """Give a lease back.

        With *retry_at* the work waits until then; without, it is done and goes, unless *threshold* is reached (again).
        Does nothing when the lease has passed to another.
        """
        ...


class MessageRepositoryTag(Tag[MessageRepository]):
    """Where layers provide ``MessageRepository``."""
