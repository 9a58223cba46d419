"""Two empty stores of one kind, and of each kind."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory_layers import stacks
from tests.empty_store import empty_store

Two: TypeAlias = tuple[ManagedRuntime[Any], ManagedRuntime[Any]]


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def two(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Two]:
    match request.param:
        case "in_memory":
            made = stacks.testing(), stacks.testing()
            async with ManagedRuntime(made[0]) as one, ManagedRuntime(made[1]) as other:
                yield one, other
        case "sqlite":
            made = stacks.embedded(tmp_path / "一.db"), stacks.embedded(tmp_path / "二.db")
            async with ManagedRuntime(made[0]) as one, ManagedRuntime(made[1]) as other:
                yield one, other
        case _:
            async with empty_store() as first, empty_store() as second:
                made = stacks.postgres(first), stacks.postgres(second)
                async with ManagedRuntime(made[0]) as one, ManagedRuntime(made[1]) as other:
                    yield one, other
