"""A store that is there and empty, and the repository on it.  A module that alters tables has a ``dsn`` of its own."""

from collections.abc import AsyncGenerator

import pytest

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.empty_store import copied_store, empty_store


@pytest.fixture
async def dsn() -> AsyncGenerator[str]:
    async with empty_store() as address:
        yield address


@pytest.fixture
async def own_dsn() -> AsyncGenerator[str]:
    """A store that nobody else has, whose tables or settings may be altered."""
    async with copied_store() as address:
        yield address


@pytest.fixture
async def fresh_dsn() -> AsyncGenerator[str]:
    """A database in which there is nothing yet."""
    async with fresh_database() as address:
        yield address


@pytest.fixture
async def database(dsn: str) -> AsyncGenerator[Database]:
    async with open_database(PostgresSettings(dsn=dsn)) as opened:
        yield opened


@pytest.fixture
def repository(database: Database) -> PostgresMessageRepository:
    return PostgresMessageRepository(database)


@pytest.fixture
def memories(database: Database) -> PostgresMemoryRepository:
    return PostgresMemoryRepository(database)
