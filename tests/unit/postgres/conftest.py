"""An empty database, and the repository on it."""

from collections.abc import AsyncGenerator

import pytest

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import fresh_database


@pytest.fixture
async def dsn() -> AsyncGenerator[str]:
    async with fresh_database() as address:
        yield address


@pytest.fixture
async def database(dsn: str) -> AsyncGenerator[Database]:
    async with open_database(PostgresSettings(dsn=dsn)) as opened:
        yield opened


@pytest.fixture
def repository(database: Database) -> PostgresMessageRepository:
    return PostgresMessageRepository(database)
