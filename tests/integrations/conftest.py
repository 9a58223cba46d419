"""What the tests of all adapters share: stacks of every kind to try them on."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from chatmemory_layers import stacks
from chatmemory_layers.stacks import Stack
from tests.postgres_server import fresh_database

pytest.register_assert_rewrite("tests.integrations.adapter_endurance")


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def every_stack(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stack]:
    """An empty memory of each kind: dictionaries, a SQLite file, a PostgreSQL database."""
    match request.param:
        case "in_memory":
            yield stacks.testing()
        case "sqlite":
            yield stacks.embedded(tmp_path / "记忆.db", durability="process")
        case _:
            async with fresh_database() as dsn:
                yield stacks.postgres(dsn)
