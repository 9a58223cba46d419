"""Strategy ``summarize``: when N messages lack a summary, all of them except the newest are summarized."""

from typing import final

from attrs import frozen

from chatmemory.conversation.message_repository import ViewSize, WorkThreshold
from chatmemory.conversation.messages import Conversation, HistoryReport
from chatmemory.conversation.strategies.summary_range import Stretch
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.effect import Effect
from chatmemory.errors import GenericMemoryError, VersionConflictError
from chatmemory.settings.memory_settings import StrategySettings


@final
@frozen
class SummarizeEveryN:
    """Summarizes the oldest open messages, at most ``summarizeEveryN`` at once, and keeps the last ``keepLast``.

    So the model's view has at most N - 1 open messages when the work is done, and the Nth message causes the first
    summary (003, 5.3).
    """

    writer: SummaryWriter

    @property
    def threshold(self) -> WorkThreshold:
        """Work is due when N messages lack a summary."""
        return every_n_threshold(self.writer.settings)

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Write one summary, if one is due."""
        return self.writer.shorten(conversation_id, self.threshold, self._stretch)

    def _stretch(self, conversation: Conversation) -> Stretch:
        return every_n_stretch(self.writer.settings, conversation)


def every_n_threshold(settings: StrategySettings) -> WorkThreshold:
    """Return the size at which strategy ``summarize`` has work."""
    return WorkThreshold(open_count=settings.summarize_every_n)


def every_n_stretch(settings: StrategySettings, size: ViewSize) -> Stretch:
    """Return how much the next summary of strategy ``summarize`` covers.

    Args:
        settings: the settings of the strategy.
        size: the size of the model's view.

    Returns:
        the stretch, with sizes in messages.
    """
    others = size.view_count - size.open_count
    return Stretch(
        size=lambda _: 1,
        needed=settings.summarize_every_n,
        most=size.open_count - settings.keep_last,
        # Twice N is enough to keep a long sequence of tool results together with its call.
        entries=others + 2 * settings.summarize_every_n,
        max_characters=settings.max_summary_characters,
    )
