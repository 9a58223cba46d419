"""``ContextPreview``: settings and a time for trying out a context; ``previewed_messages``: the messages that it would have.

Nothing here reads or writes; ``chat_context_live.py`` builds the preview.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeVar, final

from attrs import evolve, field, frozen, validators

from chatmemory.context.chat_context import LeftOut
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.strategies.history_strategy import planned_summary
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.errors import Problem
from chatmemory.input.rules import MAX_LIMIT, instant_problems
from chatmemory.settings.memory_settings import MOST_MESSAGES, ContextSettings, StrategySettings

T = TypeVar("T")

PREVIEWED_MESSAGES: Final = 1000
"""The number of newest messages that a preview reads; older ones are not listed."""

_USUAL: Final = StrategySettings()
_AT_LEAST_0: Final = validators.optional([validators.ge(0), validators.le(MAX_LIMIT)])
_AT_LEAST_1: Final = validators.optional([validators.ge(1), validators.le(MAX_LIMIT)])


@final
@frozen(kw_only=True)
class ContextPreview:
    """Settings to try out without saving them; a setting that is not given is as configured.

    A preview counts no use of memories, calls no model for a summary, and reads the newest 1,000 messages.

    Attributes:
        tokens: the budget, in place of ``memory.context.tokens``.
        memory_share: the share of the budget that memories may use, 0 to 1.
        memory_role: the message that holds the memories.
        window_messages: the largest number of messages of the conversation.
        recall: whether memories are recalled.
        as_of: the conversation and the memories as they were at this time, given with a time zone.
        strategy: how the conversation would be kept short.  ``none``: every message as it was said, no summary.
            ``summarize`` and ``token_budget``: the messages that the next summary would cover are left out; its text does
            not exist yet.  Not given: the summaries that exist.
        summarize_every_n: a setting of the strategy ``summarize``; 20 if not given.
        keep_last: the number of newest messages that a summary does not cover; 4 if not given.
        token_budget: a setting of the strategy ``token_budget``; 8000 if not given.
    """

    tokens: int | None = field(default=None, validator=_AT_LEAST_1)
    memory_share: float | None = field(
        default=None, validator=validators.optional([validators.ge(0.0), validators.le(1.0)])
    )
    memory_role: Literal["system", "user"] | None = None
    window_messages: int | None = field(
        default=None, validator=validators.optional([validators.ge(0), validators.le(MOST_MESSAGES)])
    )
    recall: bool | None = None
    as_of: datetime | None = None
    strategy: Literal["none", "summarize", "token_budget"] | None = None
    summarize_every_n: int | None = field(default=None, validator=_AT_LEAST_1)
    keep_last: int | None = field(default=None, validator=_AT_LEAST_0)
    token_budget: int | None = field(default=None, validator=_AT_LEAST_1)

    def over(self, configured: ContextSettings) -> ContextSettings:
        """Return the settings of the preview: its own, and *configured* ones for those that it does not give."""
        return evolve(
            configured,
            tokens=_or(self.tokens, configured.tokens),
            memory_share=_or(self.memory_share, configured.memory_share),
            memory_role=_or(self.memory_role, configured.memory_role),
            window_messages=_or(self.window_messages, configured.window_messages),
            recall=_or(self.recall, configured.recall),
        )

    @property
    def strategy_settings(self) -> StrategySettings | None:
        """The strategy to try; None: the summaries that exist stay as they are."""
        if self.strategy is None:
            return None
        return StrategySettings(
            type=self.strategy,
            summarize_every_n=_or(self.summarize_every_n, _USUAL.summarize_every_n),
            keep_last=_or(self.keep_last, _USUAL.keep_last),
            token_budget=_or(self.token_budget, _USUAL.token_budget),
        )


class PreviewedMessages(NamedTuple):
    """The messages that a preview offers for the context, oldest first, and those that it does not."""

    offered: Sequence[ChatMessage]
    left_out: tuple[LeftOut, ...]


def previewed_messages(
    view: Sequence[ChatMessage], preview: ContextPreview, settings: ContextSettings, tokens: TokenCounter
) -> PreviewedMessages:
    """Return which messages of *view* may be in the context, and which may not.

    *view* is oldest first: all messages for the strategy ``none``, else the model's view.
    """
    strategy = preview.strategy_settings
    summed_up = () if strategy is None else planned_summary(view, strategy, tokens)
    covered = {message.id for message in summed_up}
    is_plain = preview.strategy == "none"
    rest = [one for one in view if one.id not in covered and not (is_plain and one.role == "summary")]
    first = max(0, len(rest) - settings.window_messages)
    left_out = (
        *(LeftOut("message", message.id, "summary") for message in summed_up),
        *(LeftOut("message", message.id, "window") for message in rest[:first]),
    )
    return PreviewedMessages(rest[first:], left_out)


def preview_problems(preview: object) -> list[Problem]:
    """Return the problems of *preview*; None, for a context without a preview, is valid."""
    if preview is None:
        return []
    if not isinstance(preview, ContextPreview):
        return [Problem("$.preview", f"expected ContextPreview, not {type(preview).__name__}")]
    every_n = _or(preview.summarize_every_n, _USUAL.summarize_every_n)
    keep_last = _or(preview.keep_last, _USUAL.keep_last)
    problems = instant_problems("$.preview.as_of", preview.as_of)
    if preview.strategy == "summarize" and keep_last >= every_n:
        what = f"{keep_last} must be less than summarize_every_n, which is {every_n}"
        problems = [*problems, Problem("$.preview.keep_last", what)]
    return problems


def _or(given: T | None, configured: T) -> T:
    return configured if given is None else given
