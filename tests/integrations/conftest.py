"""What the tests of all adapters share: stacks of every kind to try them on."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from chatmemory import ManagedRuntime, StrategySettings, ThreadRuntime
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags, Stack
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


@pytest.fixture
async def runtime(every_stack: Stack) -> AsyncGenerator[ManagedRuntime[MemoryTags]]:
    """What most adapters run on."""
    async with ManagedRuntime(every_stack) as opened:
        yield opened


@pytest.fixture
def threads(every_stack: Stack) -> Generator[ThreadRuntime[MemoryTags]]:
    """The same for calls that block."""
    with ThreadRuntime(every_stack) as opened:
        yield opened


@pytest.fixture
def summarizing(tmp_path: Path) -> Generator[ThreadRuntime[MemoryTags]]:
    """Summarize as soon as six messages have gathered, and keep the last two."""
    strategy = StrategySettings(type="summarize", summarize_every_n=6, keep_last=2)
    with ThreadRuntime(stacks.embedded(tmp_path / "agent.db", strategy=strategy)) as opened:
        yield opened
