"""``history_strategy``: the layer that chooses by the settings whether, and by which rule, conversations are summarized.

To use your own strategy, replace this layer by one that provides ``HistoryStrategyTag``.  ``planned_summary`` finds what
the next summary would cover under given settings; it uses no store and no model.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, Never, assert_never, final

from attrs import frozen

from chatmemory.conversation.message_repository import MessageRepositoryTag, ViewSize, WorkThreshold
from chatmemory.conversation.messages import ChatMessage, HistoryReport
from chatmemory.conversation.skill_runner import SkillRunnerTag
from chatmemory.conversation.strategies.contract import HistoryStrategy, HistoryStrategyTag
from chatmemory.conversation.strategies.summary_range import SummaryExtent, is_open, summary_range
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


class Rule(NamedTuple):
    """When a strategy has work, and how much the next summary covers.

    Attributes:
        threshold: the size of the model's view from which on a summary is due.
        extent: returns what the summary covers of a view of a size.
    """

    threshold: WorkThreshold
    extent: Callable[[ViewSize], SummaryExtent]


def rule_of(settings: StrategySettings, tokens: TokenCounter) -> Rule | None:
    """Return the rule of the strategy that *settings* name; None: every message stays in view."""
    match settings.type:
        case "none":
            return None
        case "summarize":
            return Rule(
                WorkThreshold(open_count=settings.summarize_every_n), partial(_every_n_extent, settings)
            )
        case "token_budget":
            return Rule(
                WorkThreshold(open_count=settings.keep_last + 1, view_tokens=settings.token_budget + 1),
                partial(_budget_extent, settings, tokens),
            )
        case _:
            assert_never(settings.type)


def _every_n_extent(settings: StrategySettings, size: ViewSize) -> SummaryExtent:
    """Cover the oldest open messages, at most ``summarizeEveryN`` at once, and keep the last ``keepLast``.

    So the model's view has at most N - 1 open messages when the work is done, and the Nth message causes the first
    summary (003, 5.3).  Sizes are in messages.
    """
    others = size.view_count - size.open_count
    return SummaryExtent(
        size=lambda _: 1,
        needed=settings.summarize_every_n,
        most=size.open_count - settings.keep_last,
        # Twice N is enough to keep a long sequence of tool results together with its call.
        entries=others + 2 * settings.summarize_every_n,
        max_characters=settings.max_summary_characters,
    )


def _budget_extent(settings: StrategySettings, tokens: TokenCounter, size: ViewSize) -> SummaryExtent:
    """Keep the view within ``tokenBudget`` tokens, including tool calls.  Sizes are in tokens.

    The messages that it may not summarize can still exceed the budget: system messages, and the last ``keepLast``.
    """
    excess = size.view_tokens - settings.token_budget // TAIL_SHARE
    return SummaryExtent(
        size=tokens.count,
        needed=min(excess, settings.token_budget),  # a longer backlog takes several model calls
        most=size.open_count - settings.keep_last,
        entries=ENTRIES_AT_ONCE,
        max_characters=min(settings.max_summary_characters, settings.token_budget // SUMMARY_SHARE),
    )


@final
@frozen
class Summarizing:
    """Writes a summary whenever *rule* says that one is due."""

    writer: SummaryWriter
    rule: Rule

    @property
    def threshold(self) -> WorkThreshold:
        """The size from which on a summary is due."""
        return self.rule.threshold

    def after_add(
        self, conversation_id: str, /
    ) -> Effect[HistoryReport, VersionConflictError | GenericMemoryError]:
        """Write one summary, if one is due."""
        return self.writer.shorten(conversation_id, self.rule.threshold, self.rule.extent)


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
    rule = rule_of(writer.settings, writer.tokens)
    return KeepEverything() if rule is None else Summarizing(writer, rule)


history_strategy = Layer.effect(
    HistoryStrategyTag,
    _strategy_by_settings(),
    needs=[StrategySettingsTag, MessageRepositoryTag, SkillRunnerTag, TokenCounterTag],
)
"""The strategy that ``memory.chat.strategy.type`` names."""


def planned_summary(
    view: Sequence[ChatMessage], settings: StrategySettings, tokens: TokenCounter
) -> tuple[ChatMessage, ...]:
    """Return the messages of *view*, oldest first, that the next summary would cover under *settings*; none when none is due."""
    size = _Size(len(view), sum(map(tokens.count, view)), sum(map(is_open, view)))
    rule = rule_of(settings, tokens)
    if rule is None or not rule.threshold.is_reached_by(size):
        return ()
    extent = rule.extent(size)
    return summary_range(view[: extent.entries], extent, rolling=settings.rolling)


@final
@frozen
class _Size:
    """The size of a view after a summary that is planned."""

    view_count: int
    view_tokens: int
    open_count: int
