"""An empty store on each backend that keeps something."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.empty_store import empty_store


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with empty_store() as dsn:
            yield dsn
