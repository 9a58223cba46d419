"""``HistoryStrategy``: keeps a conversation short enough for a model."""

from typing import Protocol

from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.conversation.messages import HistoryReport
from chatmemory.effect import Effect, Tag
from chatmemory.errors import GenericMemoryError, VersionConflictError


class HistoryStrategy(Protocol):
    """Decides when a conversation is too long, and shortens it."""

    @property
    def threshold(self) -> WorkThreshold | None:
        """The size from which on a conversation has work for the strategy; None: it never has work.

        A plain attribute is enough.  The repository compares it with the size of the conversation in the transaction of
        each change.  A strategy may decide by something else, such as the time of day or the content of messages.  It
        then returns ``WorkThreshold()``, which every conversation reaches.  Its ``after_add`` returns
        ``HistoryReport("idle")`` when there is nothing to do.
        """
        ...

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Shorten the conversation if it is too long.

        It may be called again after any failure, and by two processes at the same time.

        Fails with:
            VersionConflictError: the history was rewritten in the meantime.
            GenericMemoryError: the store or the skill failed.
        """
        ...


class HistoryStrategyTag(Tag[HistoryStrategy]):
    """The tag under which layers provide ``HistoryStrategy``."""
