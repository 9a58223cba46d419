"""``history_strategy``: the layer that chooses ``TokenBudget``, ``SummarizeEveryN`` or ``KeepEverything`` by the settings.

To use your own strategy, replace this layer by one that provides ``HistoryStrategyTag``.  ``planned_summary`` finds what
the next summary would cover under given settings; it uses no store and no model.
"""

from collections.abc import Sequence
from typing import Final, Never, assert_never, final

from attrs import frozen

from chatmemory.conversation.message_repository import MessageRepositoryTag, ViewSize, WorkThreshold
from chatmemory.conversation.messages import ChatMessage, Conversation, HistoryReport
from chatmemory.conversation.skill_runner import SkillRunnerTag
from chatmemory.conversation.strategies.contract import HistoryStrategy, HistoryStrategyTag
from chatmemory.conversation.strategies.summary_range import Stretch, is_open, summary_range
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.conversation.token_counter import TokenCounter, TokenCounterTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.services.ids import IdsTag
from chatmemory.errors import GenericMemoryError, VersionConflictError
from chatmemory.settings.memory_settings import StrategySettings, StrategySettingsTag

# A summary takes at most a quarter of the budget, even at one token per character (Chinese).
SUMMARY_SHARE: Final = 4
TAIL_SHARE: Final = 2  # the view shrinks to half of the budget, so that the next summary is not due at once
ENTRIES_AT_ONCE: Final = 500  # how many entries of the view are read for one summary
Requirements = StrategySettingsTag | MessageRepositoryTag | SkillRunnerTag | TokenCounterTag


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


@final
@frozen
class KeepEverything:
    """Strategy ``none``: every message stays in view."""

    threshold: Final = None

    def after_add(self, _conversation_id: str) -> Effect[HistoryReport]:
        """Do nothing."""
        return Effect.succeed(HistoryReport("idle"))


@Effect.gen
async def _strategy_by_settings(do: Do[Never, Requirements]) -> HistoryStrategy:
    return strategy_with(
        SummaryWriter(
            repository=do.service(MessageRepositoryTag),
            skills=do.service(SkillRunnerTag),
            tokens=do.service(TokenCounterTag),
            clock=do.service(ClockTag),
            ids=do.service(IdsTag),
            settings=do.service(StrategySettingsTag),
        )
    )


def strategy_with(writer: SummaryWriter) -> HistoryStrategy:
    """Return the strategy that the settings of *writer* name; it writes its summaries with *writer*."""
    match writer.settings.type:
        case "none":
            return KeepEverything()
        case "summarize":
            return SummarizeEveryN(writer)
        case "token_budget":
            return TokenBudget(writer)
        case _:
            assert_never(writer.settings.type)


history_strategy = Layer.effect(
    HistoryStrategyTag,
    _strategy_by_settings(),
    needs=[StrategySettingsTag, MessageRepositoryTag, SkillRunnerTag, TokenCounterTag],
)
"""The strategy that ``memory.chat.strategy.type`` names."""


def planned_summary(
    view: Sequence[ChatMessage], settings: StrategySettings, tokens: TokenCounter
) -> tuple[ChatMessage, ...]:
    """Return the messages that the next summary would cover under *settings*.

    Args:
        view: the model's view, oldest first.
        settings: the settings of the strategy.
        tokens: counts the tokens of a message.

    Returns:
        the covered messages, in the order of the view; empty when no summary is due.
    """
    size = _Size(len(view), sum(map(tokens.count, view)), sum(map(is_open, view)))
    match settings.type:
        case "none":
            return ()
        case "summarize":
            threshold, stretch = every_n_threshold(settings), every_n_stretch(settings, size)
        case "token_budget":
            threshold, stretch = budget_threshold(settings), budget_stretch(settings, size, tokens)
        case _:
            assert_never(settings.type)
    if not threshold.is_reached_by(size):
        return ()
    return summary_range(view[: stretch.entries], stretch, rolling=settings.rolling)


@final
@frozen
class _Size:
    """The size of a view after a summary that is planned."""

    view_count: int
    view_tokens: int
    open_count: int
