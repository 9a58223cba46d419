"""The API runs over every stack: dictionaries, a SQLite file, a PostgreSQL database."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from chatmemory_layers import stacks
from tests.empty_store import empty_store
from tests.http_api import api


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the API over dictionaries, where time stands still."""
    async with api(stacks.testing()) as client:
        yield client


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def every_client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the API over each stack."""
    match request.param:
        case "in_memory":
            async with api(stacks.testing()) as client:
                yield client
        case "sqlite":
            async with api(stacks.embedded(tmp_path / "记忆.db")) as client:
                yield client
        case _:
            async with empty_store() as dsn, api(stacks.postgres(dsn)) as client:
                yield client
