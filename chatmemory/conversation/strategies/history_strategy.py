"""The history strategies by their names, and the layer that chooses one by configuration.

To use your own strategy, replace this layer by one that provides ``HistoryStrategyTag``.
"""

from typing import Final, Never, assert_never, final

from attrs import frozen

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.conversation.messages import HistoryReport
from chatmemory.conversation.skill_runner import SkillRunnerTag
from chatmemory.conversation.strategies.contract import HistoryStrategy, HistoryStrategyTag
from chatmemory.conversation.strategies.summarize_every_n import SummarizeEveryN
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.conversation.strategies.token_budget import TokenBudget
from chatmemory.conversation.token_counter import TokenCounterTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.services.ids import IdsTag
from chatmemory.settings.memory_settings import StrategySettingsTag


@final
@frozen
class KeepEverything:
    """Strategy ``none``: every message stays in view."""

    threshold: Final = None

    def after_add(self, _conversation_id: str) -> Effect[HistoryReport]:
        """Do nothing."""
        return Effect.succeed(HistoryReport("idle"))


Requirements = StrategySettingsTag | MessageRepositoryTag | SkillRunnerTag | TokenCounterTag


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
