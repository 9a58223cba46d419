"""A chat memory over dictionaries, a clock that tests move, and a skill that tests script."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from attrs import define, field

from chatmemory import ChatMemory, Effect, HistoryStrategy, SkillRequest, StrategySettings, TestClock
from chatmemory.conversation.chat_memory_live import open_chat_memory
from chatmemory.conversation.strategies.history_strategy import KeepEverything, strategy_with
from chatmemory.conversation.strategies.summary_writer import SummaryWriter
from chatmemory.conversation.token_counter import EstimatedTokens
from chatmemory.effect.services.ids import SequentialIds
from chatmemory.errors import SkillExecutionError
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository

Answer = str | SkillExecutionError | BaseException


@define
class ScriptedSkills:
    """Answers one after the other, then ``summary of N`` for ever; hangs while *hangs* says so."""

    answers: list[Answer] = field(factory=list)
    requests: list[SkillRequest] = field(factory=list)
    hangs: bool = False

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        return Effect.from_outcome(lambda: self._run(request))

    async def _run(self, request: SkillRequest):
        self.requests.append(request)
        while self.hangs:  # noqa: ASYNC110  a test may change its mind
            await anyio.sleep(0.01)
        answer = self.answers.pop(0) if self.answers else f"summary of {len(request.messages)}"
        if isinstance(answer, BaseException):
            raise answer
        effect = Effect.succeed(answer) if isinstance(answer, str) else Effect.fail(answer)
        return await effect


@define
class Desk:
    """What a test has in its hands."""

    repository: InMemoryMessageRepository = field(factory=lambda: InMemoryMessageRepository(Database()))
    clock: TestClock = field(factory=TestClock)
    skills: ScriptedSkills = field(factory=ScriptedSkills)
    ids: SequentialIds = field(factory=SequentialIds)
    tokens: EstimatedTokens = field(factory=EstimatedTokens)

    def writer(self, settings: StrategySettings) -> SummaryWriter:
        return SummaryWriter(self.repository, self.skills, self.tokens, self.clock, self.ids, settings)

    @asynccontextmanager
    async def open(
        self, settings: StrategySettings, strategy: HistoryStrategy | None = None
    ) -> AsyncGenerator[ChatMemory]:
        if strategy is None:
            strategy = strategy_with(self.writer(settings))
        async with open_chat_memory(
            self.repository, strategy, self.tokens, settings, self.clock, self.ids
        ) as memory:
            yield memory


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def conversations(desk: Desk) -> AsyncGenerator[ChatMemory]:
    """A chat memory that summarizes nothing."""
    async with desk.open(StrategySettings(), KeepEverything()) as memory:
        yield memory
