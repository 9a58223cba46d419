"""A client of the API over dictionaries: its answers do not depend on the store, which the laws are for."""

from collections.abc import AsyncGenerator

import httpx
import pytest

from chatmemory_layers import stacks
from tests.http_api import api


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the API over dictionaries, where time stands still."""
    async with api(stacks.testing()) as client:
        yield client
