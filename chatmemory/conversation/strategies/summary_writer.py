"""``SummaryWriter``: writes one summary: it calls the model outside of any transaction, then commits all changes at once.

The strategy decides which messages the summary covers; the repository makes the commit atomic.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import final

from attrs import frozen

from chatmemory.conversation.message_repository import (
    MessageDraft,
    MessageRepository,
    PageQuery,
    Summary,
    WorkThreshold,
)
from chatmemory.conversation.messages import ChatMessage, Conversation, HistoryReport
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner
from chatmemory.conversation.strategies.summary_range import SummaryExtent, summary_range
from chatmemory.conversation.token_counter import TokenCounter
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock
from chatmemory.effect.services.ids import Ids
from chatmemory.errors import (
    GenericMemoryError,
    SkillExecutionError,
    SkillProblem,
    VersionConflictError,
    memory_error,
)
from chatmemory.input.rules import text_problem
from chatmemory.settings.memory_settings import StrategySettings


@final
@frozen
class SummaryWriter:
    """Summarizes a part of a conversation with a skill and commits the result."""

    repository: MessageRepository
    skills: SkillRunner
    tokens: TokenCounter
    clock: Clock
    ids: Ids
    settings: StrategySettings

    @Effect.gen
    async def shorten(
        self,
        do: Do[VersionConflictError | GenericMemoryError],
        conversation_id: str,
        threshold: WorkThreshold,
        extent_of: Callable[[Conversation], SummaryExtent],
    ) -> HistoryReport:
        """Replace the oldest part of the view by a summary, if the conversation has reached *threshold*.

        It returns ``done`` with the id of the summary, or ``idle`` when there was nothing to summarize.  *extent_of*
        says how much of a conversation the summary covers.

        Fails with:
            VersionConflictError: the history was rewritten in the meantime; nothing has changed.
            GenericMemoryError: the store failed, or the skill failed or its text is empty, too long or not valid; nothing
                has changed.
        """
        conversation = await do(self.repository.conversation(conversation_id).alt(GenericMemoryError))
        if conversation is None or not threshold.is_reached_by(conversation):
            return HistoryReport("idle")
        extent = extent_of(conversation)
        oldest = PageQuery(conversation_id, "model", newer_than=0, limit=extent.entries)
        page = await do(self.repository.page(oldest).alt(GenericMemoryError))
        covers = () if page is None else summary_range(page.messages, extent, rolling=self.settings.rolling)
        if page is None or not covers:
            return HistoryReport("idle")
        text = await do(self._text(covers, extent.max_characters))
        summary = await do(
            self._summary(conversation_id, covers, text, version=page.version, threshold=threshold)
        )
        await do(self.repository.summarize(summary).alt(memory_error))
        return HistoryReport("done", (summary.draft.id,))

    @Effect.gen
    async def _text(
        self, do: Do[GenericMemoryError], covers: Sequence[ChatMessage], max_characters: int
    ) -> str:
        request = SkillRequest(tuple(covers), max_characters)
        run = Effect.succeed(request).bind(partial(self.skills.run, self.settings.skill_id))
        text = await do(run.alt(GenericMemoryError))
        rejected = _rejection(text, max_characters=max_characters)
        if rejected is not None:
            problem, detail = rejected
            do.fail(GenericMemoryError(SkillExecutionError(self.settings.skill_id, problem, detail)))
        return text

    @Effect.gen
    async def _summary(
        self,
        do: Do[GenericMemoryError],
        conversation_id: str,
        covers: Sequence[ChatMessage],
        text: str,
        *,
        version: int,
        threshold: WorkThreshold,
    ) -> Summary:
        draft = MessageDraft(
            id=self.ids.message_id(),
            role="summary",
            content=text,
            timestamp=covers[-1].timestamp,
            metadata={"summaryMetadataId": (metadata_id := self.ids.next_id())},
            tokens=self.tokens.count(NewMessage("summary", text)),
        )
        return Summary(
            conversation_id=conversation_id,
            metadata_id=metadata_id,
            draft=draft,
            covers=tuple(covered.id for covered in covers),
            planned_at_version=version,
            starts_at=await do(self._starts_at(conversation_id, covers)),
            ends_at=max(covered.timestamp for covered in covers),
            skill_id=self.settings.skill_id,
            delete_covered=self.settings.delete_summarized_messages,
            now=self.clock.now(),
            threshold=threshold,
        )

    @Effect.gen
    async def _starts_at(
        self, do: Do[GenericMemoryError], conversation_id: str, covers: Sequence[ChatMessage]
    ) -> datetime:
        """Return the earliest covered time; a covered summary has the time of its end, so its metadata is read."""
        starts = [covered.timestamp for covered in covers]
        for covered in covers:
            if covered.role == "summary":
                read = self.repository.summarization(conversation_id, covered.id).alt(GenericMemoryError)
                if (origin := await do(read)) is not None:
                    starts.append(origin.timestamp_range.start)
        return min(starts)


def _rejection(text: str, *, max_characters: int) -> tuple[SkillProblem, str] | None:
    if not text.strip():
        return "empty", ""
    if len(text) > max_characters:
        return "oversized", f"{len(text)} characters, {max_characters} allowed"
    problem = text_problem(text)
    return None if problem is None else ("malformed", problem)
