"""A PostgreSQL database for the laws of a module, which share it: each law has names of its own."""

from collections.abc import Generator

import pytest
from anyio.from_thread import start_blocking_portal

from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.guarded_store import guarded_store


@pytest.fixture(scope="module")
def dsn() -> Generator[str]:
    """Lend the address of an empty database."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(fresh_database()) as address:
        yield address


@pytest.fixture(scope="module")
def serving() -> Generator[str]:
    """Lend the address of a database with row-level security, for a role that is not its owner."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(guarded_store()) as store:
        yield store.serving
