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
    MessagePage,
    SummarizationMetadata,
    View,
)
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Outcome, Tag
from chatmemory.errors import AddError, ReadError


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
        there) the add fails with ``VersionConflictError`` when the conversation has changed since it was read, unless
        all of *messages* are duplicates: who repeats an add whose answer was lost finds that it has succeeded.
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

    def remove_newest(self, conversation_id: str) -> Effect[ChatMessage, ReadError]:
        """Delete the newest message of the model's view for good, and return it.

        When it is a summary, what it stands for comes back into view, and the newest of that is deleted; a summary that
        has deleted what it stood for goes itself.
        """
        ...

    def clear_messages(self, conversation_id: str) -> Effect[ClearReport, ReadError]:
        """Delete every message of the conversation with its summaries and their metadata."""
        ...

    def get_conversation(self, conversation_id: str) -> Effect[Conversation, ReadError]:
        """Return what is known of the conversation without reading it, its version among it."""
        ...

    def list_conversations(
        self,
        *,
        limit: int = 100,
        after: str | None = None,
        order: ConversationOrder = "id",
        prefix: str = "",
    ) -> Effect[ConversationPage, ReadError]:
        """List the conversations whose ids begin with *prefix*; *after* is the ``next`` of the page before this one.

        A walk through the pages finds each conversation that is there all the while, and found at its place, exactly
        once.  The place in the order ``id`` is for ever; in the order ``recent`` a conversation that changes during the
        walk goes to the front, where only a new walk is sure to find it.
        """
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


class ChatMemoryService(Tag[ChatMemory], given_by="stacks.embedded(path)"):
    """Where layers provide ``ChatMemory``."""
