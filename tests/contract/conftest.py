"""Suites about repositories run on every store: dictionaries, a SQLite file, a PostgreSQL database."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.message_repository import MessageRepository, MessageRepositoryTag
from chatmemory.conversation.strategies.history_strategy import history_strategy
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.errors import RepositoryError
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.pastchats.indexing.record_import import record_object
from chatmemory.pastchats.prompt import EVERYTHING
from chatmemory.settings.memory_settings import (
    StrategySettings,
    StrategySettingsTag,
)
from chatmemory_layers import stacks
from chatmemory_layers.skills.extractive import extractive
from tests.empty_store import empty_store
from tests.indexed import Indexed, open_index
from tests.laws.stores import in_memory, in_postgres, in_sqlite
from tests.past_turns import disagreement

Repositories: TypeAlias = MessageRepositoryTag | MemoryRepositoryTag
Store = Layer[Repositories, RepositoryError]


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    """An empty store of each kind."""
    match request.param:
        case "in_memory":
            yield in_memory
        case "sqlite":
            yield in_sqlite(tmp_path / "记忆.db")
        case _:
            async with empty_store() as dsn:
                yield in_postgres(dsn)


NewStack: TypeAlias = Callable[[], stacks.Stack]


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def new_stack(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[NewStack]:
    """What makes ready stacks over one empty store of each kind; dictionaries are new each time."""
    match request.param:
        case "in_memory":
            yield stacks.testing
        case "sqlite":
            yield partial(stacks.embedded, tmp_path / "记忆.db", durability="process")
        case _:
            async with empty_store() as dsn:
                yield partial(stacks.postgres, dsn)


@pytest.fixture
async def opened(store: Store) -> AsyncGenerator[ManagedRuntime[Repositories]]:
    """The store, opened."""
    async with ManagedRuntime(store) as runtime:
        yield runtime


@pytest.fixture
async def repository(opened: ManagedRuntime[Repositories]) -> MessageRepository:
    """The repository alone: nobody works on its queue but the test."""
    return await opened.service(MessageRepositoryTag)


@pytest.fixture
async def memories(opened: ManagedRuntime[Repositories]) -> MemoryRepository:
    """The repository of memories, in the same store."""
    return await opened.service(MemoryRepositoryTag)


@pytest.fixture
async def memory(clock: TestClock) -> AsyncGenerator[ChatMemory]:
    """The service over dictionaries, at a time that stands still: what each store does, laws and other tests say."""
    given = (
        in_memory
        | Layer.succeed(StrategySettingsTag, StrategySettings())
        | Layer.succeed(ClockTag, clock)
        | extractive
        | token_counter
    )
    async with ManagedRuntime(given.feed_keep(history_strategy) >> chat_memory) as runtime:
        yield await runtime.service(ChatMemoryService)


ASKED: Final = ("user", "How do we retry webhooks?")
ANSWERED: Final = ("assistant", "With exponential backoff and jitter.")
CHINESE: Final = ("user", "数据库被锁住了怎么办？")


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    """An index of past chats, over files that a test writes."""
    with open_index(tmp_path) as indexed:
        yield indexed
        assert disagreement(indexed.database) == ""


def exported(past: Indexed, *without: str) -> list[bytes]:
    """Return the records of an index as lines of JSON, without the fields *without*."""
    return [
        json.dumps(
            {name: value for name, value in record_object(record).items() if name not in without}
        ).encode()
        for record in past.live.repository.records(EVERYTHING)
    ]
