"""Strategy ``summarize``: when N messages have gathered without a summary, all but the newest are summarized."""

from typing import final

from attrs import frozen

from chatmemory.contracts import PageQuery
from chatmemory.conversation.summary_range import summary_range
from chatmemory.conversation.summary_writer import SummaryWriter
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError, VersionConflictError
from chatmemory.messages import Conversation, HistoryReport


@final
@frozen
class SummarizeEveryN:
    """Summarizes the oldest open messages, at most ``summarizeEveryN`` at once, and keeps the last ``keepLast``.

    The model's view therefore never holds more than N - 1 open messages once the work is done, and the first summary
    is made by the Nth message (003, 5.3).
    """

    writer: SummaryWriter

    def is_due(self, conversation: Conversation) -> bool:
        """Tell whether N messages without a summary have gathered."""
        return conversation.open_count >= self.writer.settings.summarize_every_n

    @Effect.gen
    async def after_add(
        self, do: Do[VersionConflictError | GenericMemoryError], conversation_id: str
    ) -> HistoryReport:
        """Write one summary, if one is due."""
        settings = self.writer.settings
        conversation = await do(self.writer.repository.conversation(conversation_id).alt(GenericMemoryError))
        if conversation is None or not self.is_due(conversation):
            return HistoryReport("idle")
        # Twice N leaves room to keep a long run of tool results together with its call.
        others = conversation.view_count - conversation.open_count
        oldest = PageQuery(
            conversation_id, "model", newer_than=0, limit=others + 2 * settings.summarize_every_n
        )
        page = await do(self.writer.repository.page(oldest).alt(GenericMemoryError))
        covers = summary_range(
            page.messages if page else (),
            size=lambda _: 1,
            needed=settings.summarize_every_n,
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
                max_characters=settings.max_summary_characters,
                is_due=self.is_due,
            )
        )
