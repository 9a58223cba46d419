"""Every suite about memory runs on every stack: dictionaries, a SQLite file, a PostgreSQL database."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from chatmemory.contracts import ChatMemory, ChatMemoryService, MessageRepository, MessageRepositoryTag
from chatmemory.effect import ManagedRuntime
from chatmemory.settings import (
    ChatSettings,
    MemorySettings,
    PostgresSettings,
    Settings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory_layers import stacks
from tests.postgres_server import fresh_database

T = TypeVar("T")


@asynccontextmanager
async def in_a_task_of_its_own(manager: AbstractAsyncContextManager[T]) -> AsyncGenerator[T]:
    """Enter and leave *manager* in one task; the two halves of a fixture run in different ones."""
    opened = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with manager as value:
            opened.set_result(value)
            await done.wait()

    holder = asyncio.create_task(hold())
    await asyncio.wait([holder, opened], return_when=asyncio.FIRST_COMPLETED)
    if not opened.done():
        await holder
    try:
        yield opened.result()
    finally:
        done.set()
        await holder


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[StoreSettings]:
    """An empty store of each kind."""
    match request.param:
        case "in_memory":
            yield StoreSettings(backend="in_memory")
        case "sqlite":
            yield StoreSettings(backend="sqlite", sqlite=SqliteSettings(path=str(tmp_path / "记忆.db")))
        case _:
            async with fresh_database() as dsn:
                yield StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=dsn))


@pytest.fixture
async def runtime(store: StoreSettings) -> AsyncGenerator[ManagedRuntime[stacks.MemoryTags]]:
    """The whole stack over the store, with strategy ``none``."""
    settings = Settings(memory=MemorySettings(chat=ChatSettings(), store=store))
    async with in_a_task_of_its_own(ManagedRuntime(stacks.configured(settings))) as opened:
        yield opened


@pytest.fixture
async def repository(runtime: ManagedRuntime[stacks.MemoryTags]) -> MessageRepository:
    return await runtime.service(MessageRepositoryTag)


@pytest.fixture
async def memory(runtime: ManagedRuntime[stacks.MemoryTags]) -> ChatMemory:
    return await runtime.service(ChatMemoryService)
