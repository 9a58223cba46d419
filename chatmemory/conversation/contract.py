"""``ChatMemory``: the service that agents call to store, read, summarize and clear conversations."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from chatmemory.conversation.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationOrder,
    ConversationPage,
    Forked,
    MessagePage,
    SummarizationMetadata,
    Undone,
    View,
)
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Outcome, Tag
from chatmemory.errors import AddError, ConversationUndoError, ForkError, ReadError, RemoveError


class ChatMemory(Protocol):
    """Stores, reads, summarizes and clears conversations.

    Every method checks its arguments first and fails with ``DataValidationError`` when one of them is invalid; then
    nothing has been changed.  Every method fails with ``GenericMemoryError`` when the store fails.  ``Fails with:`` names
    the other errors of a method.

    Inside ``acting_as`` a method reads and changes only what the principal may read and change; outside of it, only
    conversations without an owner.  A conversation that the principal may not read is treated as one that does not exist.
    """

    def add_messages(
        self, conversation_id: str, messages: Sequence[NewMessage], *, expected_version: int | None = None
    ) -> Effect[AddReport, AddError]:
        """Store *messages* at the end of the conversation, all or none, and then run the history strategy.

        The first message creates the conversation.  An empty list changes nothing and creates nothing.  When the history
        strategy fails, the add still succeeds, and ``AddReport.history`` reports the failure.

        Args:
            conversation_id: 1 to 512 characters.
            messages: oldest first.  A message whose id is already stored with the same role, content and metadata is
                reported as a duplicate and not stored again.
            expected_version: the version that the caller has read; 0: the conversation does not exist yet; None: any
                version.  It is not checked when all *messages* are duplicates, so it is safe to repeat a call whose
                answer was lost.

        Returns:
            the ids that were stored, the ids that are duplicates, the new version, and what the history strategy did.

        Fails with:
            AccessDeniedError: the principal may not write to the conversation, or may not write messages of one of the
                roles.
            MessageConflictError: an id is already stored with another role, content or metadata.
            VersionConflictError: the conversation is at another version than *expected_version*.
        """
        ...

    def get_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: datetime | None = None,
        view: View = "model",
        as_of: int | datetime | None = None,
    ) -> Effect[Sequence[ChatMessage], ReadError]:
        """Return the newest *limit* messages whose timestamp is before *before*, oldest first.

        Args:
            conversation_id: 1 to 512 characters.
            limit: the largest number of messages; None: all of them; 0: none.
            before: a time with a time zone; None: any time.
            view: ``model``: summaries take the place of the messages that they cover.  ``full``: every stored message.
            as_of: read the conversation as it was at a version (0 to the present one) or at a time with a time zone;
                None: now.  A summary that was written later does not hide the messages that it covers.  Messages that
                were deleted since are missing; ``get_page`` reports whether any are.

        Returns:
            the messages; an empty sequence when the conversation has messages, but none before *before* or none at
            *as_of*.

        Fails with:
            DataValidationError: *as_of* is a version that does not exist yet; the error names the present version.
            ConversationNotFoundError: the conversation is empty or does not exist.
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
        as_of: int | datetime | None = None,
    ) -> Effect[MessagePage, ReadError]:
        """Return one page of the conversation: the newest messages, or those next to a cursor.

        Args:
            conversation_id: 1 to 512 characters.
            limit: the largest number of messages on the page.
            older_than: the ``older`` cursor of another page of the same *view*; the page ends just before it.
            newer_than: the ``newer`` cursor of another page of the same *view*; the page begins just after it.
                0: begin with the oldest message.  Give *older_than* or *newer_than*, not both; with neither, the page
                holds the newest messages.
            view: ``model``: summaries take the place of the messages that they cover.  ``full``: every stored message.
            as_of: see ``get_messages``.  A cursor is valid only with the *as_of* of the page that it comes from.

        Returns:
            the messages, oldest first, with the cursors of the pages before and after this one, and whether a page of
            the past is complete.

        Fails with:
            DataValidationError: *as_of* is a version that does not exist yet; the error names the present version.
            ConversationNotFoundError: the conversation is empty or does not exist.
        """
        ...

    def pages(
        self, conversation_id: str, *, size: int = 200, view: View = "full"
    ) -> AsyncIterator[Outcome[MessagePage, ReadError]]:
        """Stream the whole conversation in pages, oldest first.

        Args:
            conversation_id: 1 to 512 characters.
            size: the largest number of messages on one page; 1 or greater.
            view: ``full``: every stored message.  ``model``: summaries take the place of the messages that they cover.

        Returns:
            an iterator over outcomes: a ``Success`` for each page.  When a page cannot be read, the last item is a
            ``Failure`` with one of the errors of ``get_page``.
        """
        ...

    def fork(
        self, conversation_id: str, new_id: str, *, at: str | int | None = None
    ) -> Effect[Forked, ForkError]:
        """Create a branch: a conversation that begins with a copy of the messages of another one up to a point.

        After that, changes of one conversation do not show in the other.  The branch belongs to the principal who creates
        it.  A principal that may read the branch may read all of it, the copied messages included.  Its message numbers
        and versions continue from the point, so *as_of* can also name a version before it.

        Args:
            conversation_id: the conversation that the branch is created from; 1 to 512 characters.
            new_id: the id of the branch; no conversation has it or ever had it.
            at: the point: the id of the last copied message, or a version, 1 or greater; None: the end.

        Returns:
            the branch, and whether this call created it: it is safe to repeat a call whose answer was lost, also after
            the conversation has changed.

        Fails with:
            ConversationNotFoundError: the conversation is empty or does not exist.
            AccessDeniedError: the principal may not write to the branch.
            VersionConflictError: another conversation has or had the id *new_id*.
            DataValidationError: the message or version *at* does not exist, or none of its messages is still stored.
        """
        ...

    def remove_newest(self, conversation_id: str) -> Effect[ChatMessage, RemoveError]:
        """Delete the newest message of the model's view permanently, and return it.

        When the newest message is a summary, the messages that it covers return to the view, and the newest of them is
        deleted.  When the summary has deleted the messages that it covers, the summary itself is deleted.

        Fails with:
            ConversationNotFoundError: the conversation is empty or does not exist.
            AccessDeniedError: the principal may read the conversation, but may not delete its messages.
        """
        ...

    def replace_newest(
        self,
        conversation_id: str,
        messages: Sequence[NewMessage],
        *,
        count: int | None = None,
        expected_version: int | None = None,
    ) -> Effect[AddReport, AddError]:
        """Permanently delete the newest messages of the model's view and store *messages* in their place.

        Both happen in one transaction: no reader sees the conversation between the two, and after a crash either the old
        or the new messages are stored.  A caller that has made the new messages from the old ones (its own summary, for
        example) gives the version at which it read the old ones.

        Args:
            conversation_id: 1 to 512 characters.
            messages: the messages to store at the end, oldest first; ``[]``: only delete.
            count: how many messages of the model's view to delete; a summary is deleted together with all messages that
                it covers.  None: all of them.
            expected_version: the version at which the messages were read; None: any version.

        Returns:
            which messages were stored, and the version after the change.

        Fails with:
            DataValidationError: arguments are invalid; the error has a path for each problem.
            AccessDeniedError: the principal may not delete messages of the conversation, or may not write to it.
            MessageConflictError: a message of the conversation has an id of *messages*; nothing is changed.  Only when
                all messages are replaced may the new ones have the ids of old ones.
            VersionConflictError: the conversation is at another version; nothing is changed.
        """
        ...

    def clear_messages(
        self, conversation_id: str, *, with_branches: bool = False
    ) -> Effect[ClearReport, RemoveError]:
        """Delete every message of the conversation, with its summaries and their metadata.

        Its branches keep their copies of the messages, unless *with_branches* is True.

        Args:
            conversation_id: 1 to 512 characters.
            with_branches: also clear the branches, and the branches of these, that hold a message of the conversation and
                in which the principal may delete.  A branch is cleared completely, its own messages included.

        Returns:
            how many messages were deleted, and the branches that still hold some of them.

        Fails with:
            ConversationNotFoundError: the conversation is empty or does not exist.
            AccessDeniedError: the principal may read the conversation, but may not delete its messages.
        """
        ...

    def undo(
        self, conversation_id: str, *, expected_version: int | None = None
    ) -> Effect[Undone, ConversationUndoError]:
        """Undo the newest change of the conversation.  The undo is a change itself, and the log records it.

        Undoing an add deletes its messages permanently.  Undoing a summary deletes the summary, and the messages that it
        covers return to the view.  Undoing a fork clears the branch, which has not been changed since.  Undoing a clear
        copies the messages back that a branch still holds.  A removal from the end cannot be undone, and neither can
        another undo.

        Args:
            conversation_id: 1 to 512 characters.
            expected_version: the version that the change created, so that no other change is undone; None: undo the
                newest change.

        Returns:
            which change was undone, and how many messages were removed and restored.

        Fails with:
            ConversationNotFoundError: nothing was ever written to the conversation.
            AccessDeniedError: the principal may read the conversation, but may not delete its messages.
            VersionConflictError: another change has followed.
            NotUndoableError: the content that the change removed is no longer stored, the log no longer has the change,
                or the change is an undo itself.
        """
        ...

    def get_conversation(self, conversation_id: str) -> Effect[Conversation, ReadError]:
        """Return the counts, version and times of the conversation, without reading its messages.

        Fails with:
            ConversationNotFoundError: the conversation is empty or does not exist.
        """
        ...

    def list_conversations(
        self,
        *,
        limit: int = 100,
        after: str | None = None,
        order: ConversationOrder = "id",
        prefix: str = "",
    ) -> Effect[ConversationPage, ReadError]:
        """List the conversations that hold a message.

        Args:
            limit: the largest number of conversations on the page.
            after: the ``next`` of the page before this one; None: the first page.
            order: ``id``: by id, in the order of code points.  ``recent``: the conversation that changed last comes
                first.
            prefix: list only ids that begin with this text; ``""``: all ids.

        Returns:
            one page.  In the order ``id`` all pages together list each conversation exactly once.  In the order
            ``recent`` a conversation that changes while the pages are read moves to the front; only a new listing from
            the first page is sure to contain it.
        """
        ...

    def exists(self, conversation_id: str) -> Effect[bool, ReadError]:
        """Return whether the conversation holds a message."""
        ...

    def count(self, conversation_id: str, *, view: View = "model") -> Effect[int, ReadError]:
        """Return the number of messages in a view; 0 for an unknown conversation.

        Args:
            conversation_id: 1 to 512 characters.
            view: ``model``: summaries take the place of the messages that they cover.  ``full``: every stored message.

        Returns:
            the number of messages, 0 or greater.
        """
        ...

    def get_summarization(
        self, conversation_id: str, summary_message_id: str
    ) -> Effect[SummarizationMetadata | None, ReadError]:
        """Return the metadata of a summary message.

        Args:
            conversation_id: the conversation of the summary.
            summary_message_id: the id of the summary message.

        Returns:
            which messages the summary covers and which skill wrote it; None when no summary has this id.
        """
        ...

    def get_summarizations_of(
        self, conversation_id: str, message_id: str
    ) -> Effect[Sequence[SummarizationMetadata], ReadError]:
        """Return the summaries that cover a message, directly or through another summary.

        Args:
            conversation_id: the conversation of the message.
            message_id: the id of the message.

        Returns:
            first the summary that covers the message, then the summary that covers that one, and so on; empty when no
            summary covers the message.
        """
        ...


class ChatMemoryService(Tag[ChatMemory], given_by="stacks.embedded(path)"):
    """The tag under which layers provide ``ChatMemory``."""
