"""A strategy, a skill and a clock of one's own."""

import time
from datetime import UTC, datetime, timedelta
from typing import Never

import anyio

from chatmemory import (
    Do,
    Effect,
    GenericMemoryError,
    HistoryReport,
    HistoryStrategy,
    HistoryStrategyTag,
    Layer,
    MessageRepository,
    MessageRepositoryTag,
    SkillRequest,
    SkillRunner,
    SkillRunnerTag,
    VersionConflictError,
)
from chatmemory.conversation.message_repository import MessageDraft, PageQuery, Summary, WorkThreshold
from chatmemory.effect import ClockTag
from chatmemory.errors import memory_error


class OfficeClock:
    """Tells a minute more every time that it is looked at; spans are the machine's."""

    def __init__(self) -> None:
        self.minutes = 0

    def now(self) -> datetime:
        self.minutes += 1
        return datetime(2026, 5, 4, 9, tzinfo=UTC) + timedelta(minutes=self.minutes)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class Headlines:
    """A skill: the first word of every message."""

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str]:
        first_words = [said.content.split()[0] for said in request.messages]
        return Effect.succeed(f"{skill_id}: {', '.join(first_words)}")


class KeepTheLastTwo:
    """A strategy: when five messages stand in view, all but the last two become headlines."""

    threshold = WorkThreshold(view_count=5)

    def __init__(self, repository: MessageRepository, skills: SkillRunner) -> None:
        self.repository = repository
        self.skills = skills

    @Effect.gen
    async def after_add(
        self, do: Do[VersionConflictError | GenericMemoryError], conversation_id: str
    ) -> HistoryReport:
        page = await do(self.repository.page(PageQuery(conversation_id, "model")).alt(GenericMemoryError))
        if page is None or len(page.messages) < 5:
            return HistoryReport("idle")
        covered = page.messages[:-2]
        request = SkillRequest(covered, max_characters=500)
        text = await do(self.skills.run("headlines", request).alt(GenericMemoryError))
        name = f"headlines at {page.version}"
        last = covered[-1].timestamp
        metadata = {"summaryMetadataId": f"of {name}"}
        draft = MessageDraft(name, "summary", text, last, metadata, tokens=len(text))
        summary = Summary(
            conversation_id,
            metadata_id=f"of {name}",
            draft=draft,
            covers=tuple(message.id for message in covered),
            planned_at_version=page.version,
            starts_at=covered[0].timestamp,
            ends_at=last,
            skill_id="headlines",
            delete_covered=False,
            now=last,
            threshold=self.threshold,
        )
        await do(self.repository.summarize(summary).alt(memory_error))
        return HistoryReport("done", (name,))


@Effect.gen
async def _strategy(do: Do[Never, MessageRepositoryTag | SkillRunnerTag]) -> HistoryStrategy:
    return KeepTheLastTwo(do.service(MessageRepositoryTag), do.service(SkillRunnerTag))


skills = Layer.succeed(SkillRunnerTag, Headlines())
strategy = Layer.effect(HistoryStrategyTag, _strategy(), needs=[MessageRepositoryTag, SkillRunnerTag])
clock = Layer.sync(ClockTag, OfficeClock)
