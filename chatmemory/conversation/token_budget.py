"""Strategy ``token_budget``: when the model's view outgrows its budget, its oldest part is summarized."""

from typing import Final, final

from attrs import frozen

from chatmemory.contracts import PageQuery
from chatmemory.conversation.summary_range import summary_range
from chatmemory.conversation.summary_writer import SummaryWriter
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError, VersionConflictError
from chatmemory.messages import Conversation, HistoryReport

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

    def is_due(self, conversation: Conversation) -> bool:
        """Tell whether the view is too large and holds something to summarize."""
        settings = self.writer.settings
        return (
            conversation.view_tokens > settings.token_budget and conversation.open_count > settings.keep_last
        )

    @Effect.gen
    async def after_add(
        self, do: Do[VersionConflictError | GenericMemoryError], conversation_id: str
    ) -> HistoryReport:
        """Write one summary, if one is due."""
        settings = self.writer.settings
        conversation = await do(self.writer.repository.conversation(conversation_id).alt(GenericMemoryError))
        if conversation is None or not self.is_due(conversation):
            return HistoryReport("idle")
        oldest = PageQuery(conversation_id, "model", newer_than=0, limit=ENTRIES_AT_ONCE)
        page = await do(self.writer.repository.page(oldest).alt(GenericMemoryError))
        excess = conversation.view_tokens - settings.token_budget // TAIL_SHARE
        covers = summary_range(
            page.messages if page else (),
            size=self.writer.tokens.count,
            needed=min(excess, settings.token_budget),  # a longer backlog takes several model calls
            most=conversation.open_count - settings.keep_last,
            rolling=settings.rolling,
        )
        if page is None or not covers:
            return HistoryReport("idle")
        return await do(
            self.writer.write(
                conversation_id,
                covers,
                version=page.version,
                max_characters=min(settings.max_summary_characters, settings.token_budget // SUMMARY_SHARE),
                is_due=self.is_due,
            )
        )
