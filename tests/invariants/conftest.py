"""What the documents require holds on every stack: dictionaries, a SQLite file, a PostgreSQL database."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory import (
    ChatContextBuilder,
    ChatContextService,
    ChatMemory,
    ChatMemoryService,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    Settings,
    TestClock,
)
from chatmemory.settings.memory_settings import (
    MemorySettings,
    PostgresSettings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory_layers import stacks
from tests.empty_store import empty_store

LEGACY_USER = SqliteSettings().legacy_user
USER = Namespace("小王", "Excel")
"""Whose memories the tests are about, in the app that asks for them."""


@pytest.fixture
def settings() -> MemorySettings:
    """The defaults, unless a test says otherwise by a parameter of this name."""
    return MemorySettings()


@pytest.fixture
def embedder() -> stacks.Embedders | None:
    """The bundled one, unless a test says otherwise by a parameter of this name."""
    return None


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[StoreSettings]:
    match request.param:
        case "postgres":
            async with empty_store() as dsn:
                yield StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=dsn))
        case backend:
            yield StoreSettings(backend=backend, sqlite=SqliteSettings(path=str(tmp_path / "记忆.db")))


@pytest.fixture
async def runtime(
    store: StoreSettings, settings: MemorySettings, embedder: stacks.Embedders | None, clock: TestClock
) -> AsyncGenerator[ManagedRuntime[stacks.MemoryTags]]:
    stack = stacks.configured(
        Settings(memory=evolve(settings, store=store)),
        embedder=embedder,
        clock=clock,
    )
    async with ManagedRuntime(stack) as opened:
        yield opened


@pytest.fixture
async def memory(runtime: ManagedRuntime[stacks.MemoryTags]) -> LongTermMemory:
    return await runtime.service(LongTermMemoryService)


@pytest.fixture
async def chat(runtime: ManagedRuntime[stacks.MemoryTags]) -> ChatMemory:
    return await runtime.service(ChatMemoryService)


@pytest.fixture
async def contexts(runtime: ManagedRuntime[stacks.MemoryTags]) -> ChatContextBuilder:
    return await runtime.service(ChatContextService)


def pytest_bdd_apply_tag(tag: str, function: object) -> bool:
    """Let the tags of a feature file name invariants, and mark nothing."""
    return True
