"""A PostgreSQL database for the laws of a module, which share it: each law has names of its own."""

from collections.abc import Generator

import pytest
from anyio.from_thread import start_blocking_portal

from tests.empty_store import copied_store
from tests.guarded_store import guarded_store


@pytest.fixture(scope="module")
def dsn() -> Generator[str]:
    """Lend the address of an empty store."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(copied_store()) as address:
        yield address


@pytest.fixture(scope="module")
def serving() -> Generator[str]:
    """Lend the address of a database with row-level security, for a role that is not its owner."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(guarded_store()) as store:
        yield store.serving
