"""What is said and how it is kept: messages, pages of them, conversations, summaries, and the reports of a write.

Values only.  The rules for input stand in ``message_rules.py``; what can be done with values, in ``contract.py``.
Those made for every message do without slots, which attrs fills at two thirds of the speed.
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
        timestamp: when it was said, in UTC, to the microsecond.  A summary bears the time of the last message it covers.
        metadata: as it was given.  A summary's holds ``summaryMetadataId``.
        covered_by: the id of the summary that stands in its place, None while it stands for itself.
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
    """A stretch of one conversation, oldest first.

    Attributes:
        version: the conversation's version when the page was read, for ``expected_version``.
        older: cursor of the page before this one, None at the beginning.
        newer: cursor of the page after this one; also at the end, where it waits for what comes next.
    """

    messages: tuple[ChatMessage, ...]
    version: int
    older: int | None
    newer: int


@final
@frozen(slots=False)
class Conversation:
    """What is known of a conversation without reading it.

    Attributes:
        version: grows with every change, also over a clear, so that no stale writer mistakes one history for another.
        message_count: stored messages, summaries included.
        view_count: messages of the model's view.
        view_tokens: their size, as the token counter saw it.
        open_count: user, assistant and tool messages that no summary covers.
    """

    conversation_id: str
    version: int
    message_count: int
    view_count: int
    view_tokens: int
    open_count: int
    created_at: datetime
    updated_at: datetime


@final
@frozen
class ConversationPage:
    """Conversations in their order; *next* is the cursor of the page after this one, None at the end."""

    conversations: tuple[Conversation, ...]
    next: str | None


@final
@frozen
class TimestampRange:
    """From the first to the last instant, both included."""

    start: datetime
    end: datetime


@final
@frozen
class SummarizationMetadata:
    """Where a summary comes from.

    Attributes:
        id: what the summary's ``metadata["summaryMetadataId"]`` names.
        summarized_message_ids: what the summary stands for, in order; earlier summaries among them.
        messages_deleted: whether those messages were deleted with it.
        is_stale: whether a memory that came from those messages was forgotten since: the summary may still say it.
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
            ``failed``: it could not run now and is queued again; the messages are stored all the same.
        summary_ids: the summary messages that it wrote.
        failure: why it failed.
    """

    status: Literal["idle", "done", "queued", "failed"]
    summary_ids: tuple[str, ...] = ()
    failure: GenericMemoryError | None = None


@final
@frozen(slots=False)
class AddReport:
    """What became of a batch.

    Attributes:
        stored: ids of the messages that are new, in order.
        duplicates: ids that were stored before, with the same content; nothing was written for them.
        version: the conversation's version after the add.
    """

    stored: tuple[str, ...]
    duplicates: tuple[str, ...]
    version: int
    history: HistoryReport


@final
@frozen
class ClearReport:
    """What was removed."""

    messages: int
    summaries: int
    version: int
