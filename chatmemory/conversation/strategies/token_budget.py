"""Strategy ``token_budget``: when the model's view exceeds its budget, its oldest part is summarized."""

from typing import Final, final

from attrs import frozen

from chatmemory.conversation.message_repository import ViewSize, WorkThreshold
from chatmemory.conversation.messages import Conversation, HistoryReport
from chatmemory.conversation.strategies.summary_range import Stretch
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.effect import Effect
from chatmemory.errors import GenericMemoryError, VersionConflictError
from chatmemory.settings.memory_settings import StrategySettings

SUMMARY_SHARE: Final = (
    4  # a summary takes at most a quarter of the budget, even at one token per character (Chinese)
)
TAIL_SHARE: Final = 2  # the view shrinks to half of the budget, so that the next summary is not due at once
ENTRIES_AT_ONCE: Final = 500  # how many entries of the view are read for one summary


@final
@frozen
class TokenBudget:
    """Keeps the model's view within ``tokenBudget`` tokens, including tool calls.

    The messages that it may not summarize can still exceed the budget: system messages, and the last ``keepLast``.
    """

    writer: SummaryWriter

    @property
    def threshold(self) -> WorkThreshold:
        """Work is due when the view exceeds the budget and contains a message that can be summarized."""
        return budget_threshold(self.writer.settings)

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Write one summary, if one is due."""
        return self.writer.shorten(conversation_id, self.threshold, self._stretch)

    def _stretch(self, conversation: Conversation) -> Stretch:
        return budget_stretch(self.writer.settings, conversation, self.writer.tokens)


def budget_threshold(settings: StrategySettings) -> WorkThreshold:
    """Return the size at which strategy ``token_budget`` has work."""
    return WorkThreshold(open_count=settings.keep_last + 1, view_tokens=settings.token_budget + 1)


def budget_stretch(settings: StrategySettings, size: ViewSize, tokens: TokenCounter) -> Stretch:
    """Return how much the next summary of strategy ``token_budget`` covers.

    Args:
        settings: the settings of the strategy.
        size: the size of the model's view.
        tokens: counts the tokens of a message.

    Returns:
        the stretch, with sizes in tokens.
    """
    excess = size.view_tokens - settings.token_budget // TAIL_SHARE
    return Stretch(
        size=tokens.count,
        needed=min(excess, settings.token_budget),  # a longer backlog takes several model calls
        most=size.open_count - settings.keep_last,
        entries=ENTRIES_AT_ONCE,
        max_characters=min(settings.max_summary_characters, settings.token_budget // SUMMARY_SHARE),
    )
