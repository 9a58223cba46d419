"""What a test opens itself: repositories, and connections beside them; and why a store cannot be opened."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from chatmemory import EffectFailed, RepositoryError
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository


def name_of(dsn: str) -> str:
    """Return the name of the database."""
    return dsn.partition("?")[0].rpartition("/")[2]


@asynccontextmanager
async def connected(dsn: str) -> AsyncGenerator[Any]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def run_in(dsn: str, *statements: str) -> list[Any]:
    """Run *statements* in the database of *dsn*, and return the rows of the last one."""
    rows: list[Any] = []
    async with connected(dsn) as connection:
        for statement in statements:
            run = connection.fetch if statement.startswith("SELECT") else connection.execute
            rows = await run(statement)
    return rows


@asynccontextmanager
async def open_messages(dsn: str, **settings: Any) -> AsyncGenerator[PostgresMessageRepository]:
    async with open_database(PostgresSettings(dsn=dsn, **settings)) as database:
        yield PostgresMessageRepository(database)


@asynccontextmanager
async def open_memories(dsn: str, **settings: Any) -> AsyncGenerator[PostgresMemoryRepository]:
    async with open_database(PostgresSettings(dsn=dsn, **settings)) as database:
        yield PostgresMemoryRepository(database)


async def refusal_of(dsn: str, **settings: Any) -> RepositoryError:
    """Return why a store cannot be opened."""
    with pytest.raises(EffectFailed) as refused:
        async with open_database(PostgresSettings(dsn=dsn, **settings)):
            pytest.fail("it opened")
    assert isinstance(refused.value.error, RepositoryError)
    return refused.value.error
