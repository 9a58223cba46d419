"""What the tests of all adapters share: stacks of every kind to try them on."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from chatmemory_layers import stacks
from chatmemory_layers.stacks import Stack
from tests.empty_store import empty_store
from tests.thorough import IS_THOROUGH

pytest.register_assert_rewrite("tests.integrations.adapter_endurance")


# An adapter asks the services, and never a store: what they do on each is for the laws to say.
KINDS = ["in_memory", "sqlite", "postgres"] if IS_THOROUGH else ["sqlite"]


@pytest.fixture(params=KINDS)
async def every_stack(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stack]:
    """An empty memory of each kind: dictionaries, a SQLite file, a PostgreSQL database."""
    match request.param:
        case "in_memory":
            yield stacks.testing()
        case "sqlite":
            yield stacks.embedded(tmp_path / "记忆.db", durability="process")
        case _:
            async with empty_store() as dsn:
                yield stacks.postgres(dsn)


@pytest.fixture(params=KINDS, scope="module")
def every_shared_stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Stack]:
    """The same for all tests of a module, which keep out of each other's way, and need no event loop."""
    match request.param:
        case "in_memory":
            yield stacks.testing()
        case "sqlite":
            path = tmp_path_factory.mktemp("stack") / "记忆.db"
            yield stacks.embedded(path, durability="process")
        case _:
            with (
                start_blocking_portal() as portal,
                portal.wrap_async_context_manager(empty_store()) as dsn,
            ):
                yield stacks.postgres(dsn)
