"""Strategy ``token_budget``: when the model's view outgrows its budget, its oldest part is summarized."""

from typing import Final, final

from attrs import frozen

from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.conversation.messages import Conversation, HistoryReport
from chatmemory.conversation.strategies.summary_range import Stretch
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.effect import Effect
from chatmemory.errors import GenericMemoryError, VersionConflictError

SUMMARY_SHARE: Final = (
    4  # a summary takes at most a quarter of the budget, even at one token per character (Chinese)
)
TAIL_SHARE: Final = 2  # messages shrink to half of it, so that the next summary is not due at once
ENTRIES_AT_ONCE: Final = 500  # of the view that one summary looks at


@final
@frozen
class TokenBudget:
    """Keeps the model's view within ``tokenBudget`` tokens, tool calls counted.

    What it may not summarize can still exceed the budget: system messages, and the last ``keepLast``.
    """

    writer: SummaryWriter

    @property
    def threshold(self) -> WorkThreshold:
        """A view that exceeds the budget and holds something to summarize."""
        settings = self.writer.settings
        return WorkThreshold(open_count=settings.keep_last + 1, view_tokens=settings.token_budget + 1)

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Write one summary, if one is due."""
        return self.writer.shorten(conversation_id, self.threshold, self._stretch)

    def _stretch(self, conversation: Conversation) -> Stretch:
        settings = self.writer.settings
        excess = conversation.view_tokens - settings.token_budget // TAIL_SHARE
        return Stretch(
            size=self.writer.tokens.count,
            needed=min(excess, settings.token_budget),  # a longer backlog takes several model calls
            most=conversation.open_count - settings.keep_last,
            entries=ENTRIES_AT_ONCE,
            max_characters=min(settings.max_summary_characters, settings.token_budget // SUMMARY_SHARE),
        )
