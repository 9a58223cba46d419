"""``ChatMemory``: conversations, as agents call them."""

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
    View,
)
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Outcome, Tag
from chatmemory.errors import AddError, ForkError, ReadError, RemoveError


class ChatMemory(Protocol):
    """Conversations that can be kept, read, summarized and cleared.

    Every method checks its arguments first and fails with ``DataValidationError`` when one is invalid; nothing has
    happened then.  Every method fails with ``GenericMemoryError`` when the store fails.

    A method shows and changes what ``acting_as`` allows, and everything outside of it: what the principal may not see is
    answered as what is not there.
    """

    def add_messages(
        self, conversation_id: str, messages: Sequence[NewMessage], *, expected_version: int | None = None
    ) -> Effect[AddReport, AddError]:
        """Store *messages* at the end of the conversation, all or none, then let the history strategy do its work.

        The first message creates the conversation.  An empty batch changes nothing and creates nothing.  A failure of
        the history strategy never fails the add; ``AddReport.history`` reports it.

        Args:
            conversation_id: 1 to 512 characters.
            messages: oldest first.  A message whose id is already stored with the same role, content and metadata is
                reported as a duplicate and not stored again.
            expected_version: the version that the caller has read; 0: the conversation does not exist yet; None: any
                version.  It is not checked when all *messages* are duplicates, so a call whose answer was lost can
                be repeated.

        Returns:
            the ids that were stored, the ids that are duplicates, the new version, and what the history strategy did.

        Fails with:
            AccessDeniedError: the principal may not write to the conversation, or not in one of the roles.
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
            view: ``model``: summaries in the place of the messages that they cover.  ``full``: every stored message.
            as_of: read what was there then: a version (0 to the present one), or a time with a time zone; None: now.
                A summary that came later does not hide what it covers.  What was deleted since is missing;
                ``get_page`` says whether anything is.

        Returns:
            the messages; empty when the conversation has messages, but none before *before*, or none yet then.

        Fails with:
            DataValidationError: *as_of* is a version that is yet to come; the error says the present one.
            ConversationNotFoundError: the conversation holds no message at all.
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
            view: ``model``: summaries in the place of the messages that they cover.  ``full``: every stored message.
            as_of: see ``get_messages``.  A cursor leads on in a page of the same *as_of*.

        Returns:
            the messages, oldest first, with the cursors of the pages before and after, and whether a page of the past
            is whole.

        Fails with:
            DataValidationError: *as_of* is a version that is yet to come; the error says the present one.
            ConversationNotFoundError: the conversation holds no message at all.
        """
        ...

    def pages(
        self, conversation_id: str, *, size: int = 200, view: View = "full"
    ) -> AsyncIterator[Outcome[MessagePage, ReadError]]:
        """Stream the whole conversation in pages, oldest first.

        Args:
            conversation_id: 1 to 512 characters.
            size: the largest number of messages on one page.
            view: ``full``: every stored message.  ``model``: summaries in the place of the messages that they cover.

        Returns:
            an iterator over outcomes: a ``Success`` for each page.  A ``Failure``, as ``get_page`` has it, is the last
            item.
        """
        ...

    def fork(
        self, conversation_id: str, new_id: str, *, at: str | int | None = None
    ) -> Effect[Forked, ForkError]:
        """Begin a branch: a conversation that shares the messages of another one up to a point, and copies none of them.

        What either of the two does from then on, the other one never sees.  The branch belongs to who makes it, and all
        of it can be read by whoever may read the branch.  Its numbers and versions go on from the point, so *as_of* reads
        across it.

        Args:
            conversation_id: the conversation that the branch parts from; 1 to 512 characters.
            new_id: the id of the branch, which no conversation has or ever had.
            at: the point: the id of the last message that both have, or a version from 1 on; None: the end.

        Returns:
            the branch, and whether this call has made it: a call whose answer was lost can be repeated.

        Fails with:
            ConversationNotFoundError: the conversation holds no message at all.
            AccessDeniedError: the principal may not write to the branch.
            VersionConflictError: another conversation has or had the id *new_id*.
            DataValidationError: there is no such message or version, or nothing of that version is kept.
        """
        ...

    def remove_newest(self, conversation_id: str) -> Effect[ChatMessage, RemoveError]:
        """Delete the newest message of the model's view for good, and return it.

        When the newest message is a summary, the messages that it covers come back into view, and the newest of those
        is deleted.  When the summary has deleted the messages that it covers, the summary itself is deleted.

        Fails with:
            ConversationNotFoundError: the conversation holds no message at all.
            AccessDeniedError: the principal sees the conversation and may not delete in it.
        """
        ...

    def clear_messages(self, conversation_id: str) -> Effect[ClearReport, RemoveError]:
        """Delete every message of the conversation, with its summaries and their metadata.

        Fails with:
            ConversationNotFoundError: the conversation holds no message at all.
            AccessDeniedError: the principal sees the conversation and may not delete in it.
        """
        ...

    def get_conversation(self, conversation_id: str) -> Effect[Conversation, ReadError]:
        """Return the counts, version and times of the conversation, without reading its messages.

        Fails with:
            ConversationNotFoundError: the conversation holds no message at all.
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
            ``recent`` a conversation that changes during the walk moves to the front, where only a new walk surely
            finds it.
        """
        ...

    def exists(self, conversation_id: str) -> Effect[bool, ReadError]:
        """Return whether the conversation holds a message."""
        ...

    def count(self, conversation_id: str, *, view: View = "model") -> Effect[int, ReadError]:
        """Return the number of messages in a view; 0 for an unknown conversation.

        Args:
            conversation_id: 1 to 512 characters.
            view: ``model``: summaries in the place of the messages that they cover.  ``full``: every stored message.
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
            which messages the summary covers and who wrote it; None when no summary has this id.
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
            the summary that covers the message first, then the summary that covers that one, and so on; empty when no
            summary covers the message.
        """
        ...


class ChatMemoryService(Tag[ChatMemory], given_by="stacks.embedded(path)"):
    """The tag under which layers provide ``ChatMemory``."""
