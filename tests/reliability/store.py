"""``chat_store``: a whole memory over any backend, with the skill, the embedder and the clock that a test chooses.

The tests and the programs that they start and kill open their stores with it, so that both mean the same.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final, final

import anyio
from attrs import field, frozen

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    GenericMemoryError,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    Outcome,
    RepositoryError,
    SkillRequest,
    StrategySettings,
)
from chatmemory.effect.services.clock import Clock, SystemClock
from chatmemory.settings.memory_settings import (
    ChatSettings,
    MemorySettings,
    PostgresSettings,
    Settings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory_layers.skills.functions import SkillFunction, skills
from chatmemory_layers.stacks import Embedders, Stack, configured
from tests.patience import PATIENCE_SECONDS

SUMMARY_SECONDS: Final = 0.01  # long enough to be killed or cancelled in the middle
SUMMARIZING: Final = StrategySettings(type="summarize", summarize_every_n=10, keep_last=4, execution="inline")
LONGEST_LEASE_SECONDS: Final = 120.0  # of the strategies here; work may take 30 s, and a margin


async def name_what_is_covered(request: SkillRequest) -> str:
    """Summarize as a model would that is slow and has nothing to say."""
    await anyio.sleep(SUMMARY_SECONDS)
    return f"from {request.messages[0].id} to {request.messages[-1].id}"


@final
@frozen
class ClockAhead:
    """The system's clock, *seconds* later: for it, the leases of a process that was killed have expired."""

    seconds: float
    system: Clock = field(factory=SystemClock)

    def now(self) -> datetime:
        return self.system.now() + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.system.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self.system.sleep(seconds)


def chat_store(
    address: str,
    strategy: StrategySettings | None = None,
    *,
    skill: SkillFunction = name_what_is_covered,
    embedder: Embedders | None = None,
    clock: Clock | None = None,
    timeout_seconds: float = PATIENCE_SECONDS,
) -> Stack:
    """Return the stack over *address*: ``memory``, the path of a file, or a PostgreSQL address."""
    chat = ChatSettings(strategy=strategy or StrategySettings())
    store = StoreSettings(
        backend="in_memory" if address == "memory" else "postgres" if "://" in address else "sqlite",
        sqlite=SqliteSettings(path=address, busy_timeout_seconds=timeout_seconds),
        postgres=PostgresSettings(dsn=address, timeout_seconds=timeout_seconds),
    )
    return configured(
        Settings(memory=MemorySettings(chat=chat, store=store)),
        skills=skills({"conversation-summary": skill}),
        embedder=embedder,
        clock=clock,
    )


def reason_of(outcome: Outcome[object, object]) -> RepositoryError:
    """Return why a store did not do what a service asked of it."""
    error = outcome.failure()
    assert isinstance(error, GenericMemoryError), error
    assert isinstance(error.reason, RepositoryError), error
    return error.reason


@asynccontextmanager
async def open_store(
    address: str, strategy: StrategySettings | None = None, **chosen: Any
) -> AsyncGenerator[ChatMemory]:
    async with ManagedRuntime(chat_store(address, strategy, **chosen)) as runtime:
        yield await runtime.service(ChatMemoryService)


@asynccontextmanager
async def open_memories(address: str, **chosen: Any) -> AsyncGenerator[LongTermMemory]:
    async with ManagedRuntime(chat_store(address, **chosen)) as runtime:
        yield await runtime.service(LongTermMemoryService)


async def finish_history_work(address: str) -> None:
    """Do what is due and what a killed process held a lease on: leaving a store waits for it."""
    async with open_store(address, SUMMARIZING, clock=ClockAhead(seconds=LONGEST_LEASE_SECONDS)):
        pass
