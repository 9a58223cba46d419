"""Values of conversations: messages, pages, conversations, summaries, and the reports of writes.

The rules for input are in ``message_rules.py``; the operations on these values are in ``contract.py``.  The classes with
one instance for every message are made without slots, because attrs takes a third longer to fill slots.
"""

# ruff: noqa: PLC0414  the names that are exported again are defined in small modules, for code that needs nothing else

from datetime import datetime
from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from chatmemory.conversation.new_message import NewMessage as NewMessage
from chatmemory.errors import GenericMemoryError
from chatmemory.input.choices import Role as Role
from chatmemory.input.json_value import Json as Json, JsonObject as JsonObject

OPEN_ROLES: Final[frozenset[Role]] = frozenset({"user", "assistant", "tool"})
"""The roles of messages that a summary may replace.  System messages are policy, and a summary is not open itself."""

View: TypeAlias = Literal["model", "full"]
"""``model``: what a model should see: summaries take the place of the messages that they cover.  ``full``: every stored
message."""

ConversationOrder: TypeAlias = Literal["id", "recent"]
"""``id``: by id, in the order of code points.  ``recent``: the conversation that changed last comes first; those that
changed at the same time are in descending order of their ids."""


@final
@frozen(slots=False)
class ChatMessage:
    """A stored message.

    Attributes:
        id: unique in its conversation.
        seq: its number in the conversation, which decides the order and is never reused.
        timestamp: when it was said, in UTC, to the microsecond.  A summary has the time of the last message it covers.
        metadata: the JSON object that was given.  The metadata of a summary contains ``summaryMetadataId``.
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
        version: the version of the conversation when the page was read, for ``expected_version``.  A page of the past has
            the version that it shows.
        older: the cursor of the page before this one; None at the beginning.
        newer: the cursor of the page after this one.  The newest page has one too, for messages that are added later.
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
    """The point at which a branch was created from another conversation, its parent.

    Attributes:
        conversation_id: the id of the parent.
        version: the version of the parent at that point; the versions of the branch continue from it.
        seq: the number of the last copied message; the message numbers of the branch continue from it.
    """

    conversation_id: str
    version: int
    seq: int


@final
@frozen(slots=False)
class Conversation:
    """The counts, version and times of a conversation.

    Attributes:
        version: grows with every change and is not reset by a clear, so that an outdated writer is always detected.  A
            branch begins with the version of its parent at the point of the fork.
        message_count: the number of stored messages, summaries included.
        view_count: the number of messages of the model's view.
        view_tokens: the size of the model's view in tokens, as the token counter counts them.
        open_count: the number of user, assistant and tool messages that no summary covers.
        forked_from: the point at which a branch was created from its parent; None: the conversation is not a branch, or
            the reader may not see the parent.
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
        is_new: false when an earlier call with the same arguments created the branch.
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
    """Which messages a summary covers, and which skill wrote it.

    Attributes:
        id: the ``summaryMetadataId`` in the metadata of the summary message.
        summarized_message_ids: the ids of the covered messages, in order; earlier summaries may be among them.
        timestamp_range: the times of the first and the last covered message.
        skill_id: the id of the skill that wrote the summary.
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


HistoryStatus: TypeAlias = Literal["idle", "done", "queued", "failed"]


@final
@frozen
class HistoryReport:
    """What the history strategy did after an add.

    Attributes:
        status: ``idle``: there was no work.  ``done``: the strategy ran.  ``queued``: it will run in the background.
            ``failed``: it failed and will run again; the messages are stored nevertheless.
        summary_ids: the ids of the summary messages that it wrote.
        failure: why it failed; None unless *status* is ``failed``.
    """

    status: HistoryStatus
    summary_ids: tuple[str, ...] = ()
    failure: GenericMemoryError | None = None


@final
@frozen(slots=False)
class AddReport:
    """The result of an add.

    Attributes:
        stored: the ids of the new messages, in order.
        duplicates: the ids of the messages that were already stored with the same content and were not stored again.
        version: the version of the conversation after the add.
        history: what the history strategy did.
    """

    stored: tuple[str, ...]
    duplicates: tuple[str, ...]
    version: int
    history: HistoryReport


@final
@frozen
class ClearReport:
    """The result of a clear: what it removed, and which branches still hold some of it.

    Attributes:
        messages: how many messages were removed from the conversation, summaries included.
        summaries: how many of them were summaries.
        version: the version of the conversation after the clear.
        cleared_too: the ids of the branches that were cleared with the conversation, sorted.
        still_shared_by: the ids of the branches that still hold some of its messages, sorted; only branches that the
            principal may see.
    """

    messages: int
    summaries: int
    version: int
    cleared_too: tuple[str, ...] = ()
    still_shared_by: tuple[str, ...] = ()


UndoneAction: TypeAlias = Literal["added", "summarized", "forked", "cleared"]


@final
@frozen
class Undone:
    """The result of an undo.

    Attributes:
        action: the change that was undone: ``added``, ``summarized``, ``forked`` or ``cleared``.
        version: the version of the conversation after the undo.
        removed: how many messages were removed.
        restored: how many messages were restored.
        held_by: the id of the branch that still held the messages that were restored after a clear; None: no branch was
            needed.
    """

    action: UndoneAction
    version: int
    removed: int
    restored: int
    held_by: str | None = None
