"""Every service contract on one page: what a user implements to bring a backend, a strategy or a skill of their own.

Each contract is a Protocol and the Tag under which layers provide it.  ``chatmemory.laws`` is how an implementation
knows that it is right.  Time and ids are contracts of the kernel: ``chatmemory.effect.clock``, ``chatmemory.effect.ids``.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias, final

from attrs import frozen

from chatmemory.effect import Effect, Outcome, Tag
from chatmemory.errors import (
    AddError,
    AppendError,
    GenericMemoryError,
    ReadError,
    RepositoryError,
    SkillExecutionError,
    VersionConflictError,
)
from chatmemory.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    HistoryReport,
    JsonObject,
    MessagePage,
    NewMessage,
    Role,
    SummarizationMetadata,
    View,
)

# --- Chat memory: what agents call -------------------------------------------------------------------------------


class ChatMemory(Protocol):
    """Conversations that can be kept, read, summarized and cleared.

    Every method refuses an invalid argument with ``DataValidationError`` before anything happens.
    """

    def add_messages(
        self, conversation_id: str, messages: Sequence[NewMessage], *, expected_version: int | None = None
    ) -> Effect[AddReport, AddError]:
        """Store *messages* at the end of the conversation, all or none, and let the history strategy do its work.

        The conversation comes into being with its first message; an empty batch changes nothing and creates nothing.
        A message whose id is stored already with the same role, content and metadata is reported as a duplicate; with
        another content the whole batch fails with ``MessageConflictError``.  With *expected_version* (0: not yet
        there) the add fails with ``VersionConflictError`` when the conversation has changed since it was read.
        A failing strategy never fails the add: see ``AddReport.history``.
        """
        ...

    def get_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: datetime | None = None,
        view: View = "model",
    ) -> Effect[Sequence[ChatMessage], ReadError]:
        """Return the newest *limit* messages said before *before*, oldest first.

        Fails with ``ConversationNotFoundError`` when the conversation holds no message at all, and succeeds with an
        empty sequence when *limit* is 0 or *before* excludes all of them.
        """
        ...

    def get_page(
        self,
        conversation_id: str,
        *,
        limit: int = 100,
        older_than: int | None = None,
        newer_than: int | None = None,
        view: View = "model",
    ) -> Effect[MessagePage, ReadError]:
        """Return the newest page, or the one beside a cursor of another page of the same view (0: from the start)."""
        ...

    def pages(
        self, conversation_id: str, *, size: int = 200, view: View = "full"
    ) -> AsyncIterator[Outcome[MessagePage, ReadError]]:
        """Stream a long conversation from its beginning in pages of *size*; a failure is the last item."""
        ...

    def clear_messages(self, conversation_id: str) -> Effect[ClearReport, ReadError]:
        """Delete every message of the conversation with its summaries and their metadata."""
        ...

    def get_conversation(self, conversation_id: str) -> Effect[Conversation, ReadError]:
        """Return what is known of the conversation without reading it, its version among it."""
        ...

    def list_conversations(
        self, *, limit: int = 100, after: str | None = None
    ) -> Effect[Sequence[Conversation], ReadError]:
        """List conversations in the order of their ids, from the first one behind *after*."""
        ...

    def exists(self, conversation_id: str) -> Effect[bool, ReadError]:
        """Tell whether the conversation holds a message."""
        ...

    def count(self, conversation_id: str, *, view: View = "model") -> Effect[int, ReadError]:
        """Count the messages of a view; 0 for an unknown conversation."""
        ...

    def get_summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, ReadError]:
        """Return what the summary stands for, None when the id names no summary."""
        ...

    def get_summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[Sequence[SummarizationMetadata], ReadError]:
        """Return the summaries that stand for the message, from the one that covers it to the outermost."""
        ...


class ChatMemoryService(Tag[ChatMemory]):
    """Where layers provide ``ChatMemory``."""


# --- Message repository: what keeps them -------------------------------------------------------------------------


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


WorkIsDue: TypeAlias = Callable[[Conversation], bool]
"""Pure and quick: asked inside a transaction, after the change, whether the history strategy has work now."""


@final
@frozen(slots=False)  # made for every message, see messages.py
class Append:
    """A batch for the end of one conversation.

    Attributes:
        drafts: at least one, in order.
        expected_version: the version before the change; None: whatever it is.
        now: the instant of the write, UTC.
    """

    conversation_id: str
    drafts: tuple[MessageDraft, ...]
    now: datetime
    is_due: WorkIsDue
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
class Summary:
    """A summary on its way in, to take the place of the messages *covers* (ids, in the order of the view).

    Attributes:
        draft: the summary message; its metadata holds ``summaryMetadataId``, its timestamp ends the covered range.
        planned_at_version: the version at which *covers* was read.
        starts_at: the earliest timestamp that it covers.
        delete_covered: delete the covered messages in the same transaction; their ids stay known.
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
    is_due: WorkIsDue


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
        """Store the new drafts of *batch* and, when ``is_due`` says so, queue history work in the same transaction.

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

    def conversation(self, conversation_id: str) -> Effect[Conversation | None, RepositoryError]:
        """Return the conversation; None when it holds no message."""
        ...

    def conversations(
        self, *, limit: int, after: str | None
    ) -> Effect[tuple[Conversation, ...], RepositoryError]:
        """Return conversations that hold a message, ordered by id by code point, from the first behind *after*."""
        ...

    def summarize(self, summary: Summary) -> Effect[Conversation, VersionConflictError | RepositoryError]:
        """Put *summary* in the place of what it covers: message, metadata, coverage and deletion in one transaction.

        Guarded by version: fails when the history was rewritten (summarized or cleared) after ``planned_at_version``;
        appends since then do no harm.  Queued work goes when ``is_due`` no longer holds.
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
        self, work: HistoryWork, *, is_due: WorkIsDue, retry_at: datetime | None = None
    ) -> Effect[None, RepositoryError]:
        """Give a lease back.

        With *retry_at* the work waits until then; without, it is done and goes, unless ``is_due`` holds (again).
        Does nothing when the lease has passed to another.
        """
        ...


class MessageRepositoryTag(Tag[MessageRepository]):
    """Where layers provide ``MessageRepository``."""


# --- History strategy and skills: what keeps a history short -----------------------------------------------------


class HistoryStrategy(Protocol):
    """Decides when a history is too long, and shortens it."""

    def is_due(self, conversation: Conversation, /) -> bool:
        """Tell whether there is work; pure and quick, see ``WorkIsDue``."""
        ...

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Do the work.  May be called again after any failure, and by two processes at once."""
        ...


class HistoryStrategyTag(Tag[HistoryStrategy]):
    """Where layers provide ``HistoryStrategy``."""


@final
@frozen
class SkillRequest:
    """What a skill works on: *messages* oldest first, and the most characters that its text may have."""

    messages: tuple[ChatMessage, ...]
    max_characters: int


class SkillRunner(Protocol):
    """Runs a named skill, ``conversation-summary`` for example, with or without a model."""

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Return the skill's text."""
        ...


class SkillRunnerTag(Tag[SkillRunner]):
    """Where layers provide ``SkillRunner``."""


class TokenCounter(Protocol):
    """Says how large a message is for a model."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the message, its metadata (tool calls) included; at least 1."""
        ...


class TokenCounterTag(Tag[TokenCounter]):
    """Where layers provide ``TokenCounter``."""
