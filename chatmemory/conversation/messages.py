"""Values of conversations: messages, pages, conversations, summaries, and the reports of writes.

The rules for input are in ``message_rules.py``; what can be done with the values is in ``contract.py``.  Values that are
made for every message have no slots: attrs fills slots a third more slowly.
"""

# ruff: noqa: PLC0414  what is passed on has a small module of its own, for those who need no more

from datetime import datetime
from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from chatmemory.conversation.new_message import NewMessage as NewMessage
from chatmemory.errors import GenericMemoryError
from chatmemory.input.choices import Role as Role
from chatmemory.input.json_value import Json as Json, JsonObject as JsonObject

OPEN_ROLES: Final[frozenset[Role]] = frozenset({"user", "assistant", "tool"})
"""What a summary may stand for.  System messages are policy, and summaries stand for themselves."""

View: TypeAlias = Literal["model", "full"]
"""``model``: what a model should see, summaries in the place of what they cover.  ``full``: every stored message."""

ConversationOrder: TypeAlias = Literal["id", "recent"]
"""``id``: by code points.  ``recent``: what changed last comes first; of what changed at once, the last id."""


@final
@frozen(slots=False)
class ChatMessage:
    """A stored message.

    Attributes:
        id: unique in its conversation.
        seq: its number in the conversation; decides the order, never reused.
        timestamp: when it was said, in UTC, to the microsecond.  A summary has the time of the last message it covers.
        metadata: as it was given.  A summary's holds ``summaryMetadataId``.
        covered_by: the id of the summary that covers the message; None: no summary covers it.
    """

    id: str
    seq: int
    role: Role
    content: str
    timestamp: datetime
    metadata: JsonObject | None = None
    covered_by: str | None = None


@final
@frozen
class MessagePage:
    """A part of one conversation, oldest message first.

    Attributes:
        version: the conversation's version when the page was read, for ``expected_version``; of a page of the past, the
            version that it shows.
        older: cursor of the page before this one, None at the beginning.
        newer: cursor of the page after this one.  The newest page has one too: it finds messages that are added later.
        is_whole: false for a page of the past when messages or summaries of that time may have been deleted since.
    """

    messages: tuple[ChatMessage, ...]
    version: int
    older: int | None
    newer: int
    is_whole: bool = True


@final
@frozen
class ForkOrigin:
    """Where a branch parted from another conversation.

    Attributes:
        conversation_id: the other conversation, its parent.
        version: the version of the parent at that point; the branch goes on counting from there.
        seq: the number of the last message that both have; the branch goes on numbering from there.
    """

    conversation_id: str
    version: int
    seq: int


@final
@frozen(slots=False)
class Conversation:
    """The counts, version and times of a conversation.

    Attributes:
        version: grows with every change and is not reset by a clear, so that a stale writer is always noticed.  A branch
            begins with that of the point where it parted.
        message_count: stored messages, summaries included.
        view_count: messages of the model's view.
        view_tokens: the size of the model's view in tokens, as the token counter counts them.
        open_count: user, assistant and tool messages that no summary covers.
        forked_from: where a branch parted from its parent; None: it is no branch, or who reads may not see the parent.
    """

    conversation_id: str
    version: int
    message_count: int
    view_count: int
    view_tokens: int
    open_count: int
    created_at: datetime
    updated_at: datetime
    forked_from: ForkOrigin | None = None


@final
@frozen
class Forked:
    """The result of a fork.

    Attributes:
        conversation: the branch.
        is_new: false when this fork had been made before, and its call is repeated.
    """

    conversation: Conversation
    is_new: bool


@final
@frozen
class ConversationPage:
    """A page of a list of conversations; *next* is the cursor of the page after this one, None at the end."""

    conversations: tuple[Conversation, ...]
    next: str | None


@final
@frozen
class TimestampRange:
    """The time from *start* to *end*, both included."""

    start: datetime
    end: datetime


@final
@frozen
class SummarizationMetadata:
    """Which messages a summary covers, and who wrote it.

    Attributes:
        id: the ``summaryMetadataId`` in the metadata of the summary message.
        summarized_message_ids: the ids of the covered messages, in order; earlier summaries may be among them.
        timestamp_range: the times of the first and the last covered message.
        skill_id: the skill that wrote the summary.
        messages_deleted: whether the covered messages were deleted.
        is_stale: whether a memory that came from the covered messages was forgotten later; the summary may still
            repeat it.
    """

    id: str
    conversation_id: str
    summary_message_id: str
    summarized_message_ids: tuple[str, ...]
    timestamp_range: TimestampRange
    skill_id: str
    messages_deleted: bool
    created_at: datetime
    is_stale: bool = False


@final
@frozen
class HistoryReport:
    """What the history strategy did after an add.

    Attributes:
        status: ``idle``: nothing was due.  ``done``: it ran.  ``queued``: it will run in the background.
            ``failed``: it failed and is queued again; the messages are stored all the same.
        summary_ids: the ids of the summary messages that it wrote.
        failure: why it failed; None unless *status* is ``failed``.
    """

    status: Literal["idle", "done", "queued", "failed"]
    summary_ids: tuple[str, ...] = ()
    failure: GenericMemoryError | None = None


@final
@frozen(slots=False)
class AddReport:
    """The result of an add.

    Attributes:
        stored: ids of the messages that are new, in order.
        duplicates: ids that were already stored with the same content; they were not written again.
        version: the conversation's version after the add.
        history: what the history strategy did.
    """

    stored: tuple[str, ...]
    duplicates: tuple[str, ...]
    version: int
    history: HistoryReport


@final
@frozen
class ClearReport:
    """How many messages and summaries a clear removed, and the conversation's version after it."""

    messages: int
    summaries: int
    version: int
