"""Strategy ``summarize``: when N messages have gathered without a summary, all but the newest are summarized."""

from typing import final

from attrs import frozen

from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.conversation.messages import Conversation, HistoryReport
from chatmemory.conversation.strategies.summary_range import Stretch
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.effect import Effect
from chatmemory.errors import GenericMemoryError, VersionConflictError


@final
@frozen
class SummarizeEveryN:
    """Summarizes the oldest open messages, at most ``summarizeEveryN`` at once, and keeps the last ``keepLast``.

    The model's view therefore never holds more than N - 1 open messages once the work is done, and the first summary
    is made by the Nth message (003, 5.3).
    """

    writer: SummaryWriter

    @property
    def threshold(self) -> WorkThreshold:
        """N messages without a summary."""
        return WorkThreshold(open_count=self.writer.settings.summarize_every_n)

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Write one summary, if one is due."""
        return self.writer.shorten(conversation_id, self.threshold, self._stretch)

    def _stretch(self, conversation: Conversation) -> Stretch:
        settings = self.writer.settings
        others = conversation.view_count - conversation.open_count
        return Stretch(
            size=lambda _: 1,
            needed=settings.summarize_every_n,
            most=conversation.open_count - settings.keep_last,
            # Twice N leaves room to keep a long run of tool results together with its call.
            entries=others + 2 * settings.summarize_every_n,
            max_characters=settings.max_summary_characters,
        )
