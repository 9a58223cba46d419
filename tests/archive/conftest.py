"""Two empty stores of one kind, and of each kind."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory_layers import stacks
from tests.empty_store import empty_store

Store: TypeAlias = ManagedRuntime[Any]
Two: TypeAlias = tuple[Store, Store]


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def two(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Two]:
    async with AsyncExitStack() as opened:
        match request.param:
            case "in_memory":
                made = [stacks.testing(), stacks.testing()]
            case "sqlite":
                made = [stacks.embedded(tmp_path / "一.db"), stacks.embedded(tmp_path / "二.db")]
            case _:
                made = [stacks.postgres(await opened.enter_async_context(empty_store())) for _ in range(2)]
        async with ManagedRuntime(made[0]) as one, ManagedRuntime(made[1]) as other:
            yield one, other
