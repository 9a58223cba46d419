"""``HistoryStrategy``: what keeps a history short."""

from typing import Protocol

from chatmemory.effect import Effect, Tag
from chatmemory.errors import GenericMemoryError, VersionConflictError
from chatmemory.messages import Conversation, HistoryReport


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
