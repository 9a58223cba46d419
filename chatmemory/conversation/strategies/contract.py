"""``HistoryStrategy``: what keeps a history short."""

from typing import Protocol

from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.conversation.messages import HistoryReport
from chatmemory.effect import Effect, Tag
from chatmemory.errors import GenericMemoryError, VersionConflictError


class HistoryStrategy(Protocol):
    """Decides when a history is too long, and shortens it."""

    @property
    def threshold(self) -> WorkThreshold | None:
        """From what size on a conversation has work; None: never.  An attribute will do.

        The repository compares it with the size of the conversation in the transaction of each change.  A strategy that
        goes by something else (the hour, what was said) gives ``WorkThreshold()``, which is always reached, and
        answers ``HistoryReport("idle")`` when it finds nothing to do.
        """
        ...

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Do the work.  May be called again after any failure, and by two processes at once."""
        ...


class HistoryStrategyTag(Tag[HistoryStrategy]):
    """Where layers provide ``HistoryStrategy``."""
