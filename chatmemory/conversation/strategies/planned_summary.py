"""``planned_summary``: finds what the next summary would cover under given settings; it uses no store and no model."""

from collections.abc import Sequence
from typing import assert_never, final

from attrs import frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.strategies.summarize_every_n import every_n_stretch, every_n_threshold
from chatmemory.conversation.strategies.summary_range import is_open, summary_range
from chatmemory.conversation.strategies.token_budget import budget_stretch, budget_threshold
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.settings.memory_settings import StrategySettings


@final
@frozen
class _Size:
    """The size of a view after a summary that is planned."""

    view_count: int
    view_tokens: int
    open_count: int


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
