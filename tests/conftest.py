"""Tests of a module marked ``pytest.mark.anyio`` run on asyncio and on trio; all other coroutines on asyncio."""

import gc
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from chatmemory.access.principal import EVERYBODY, acting_as
from chatmemory.effect.services.clock import TestClock
from chatmemory_layers.entry import NEW_OBJECTS
from tests.past_chats_command import HISTORIES, Agent
from tests.thorough import rounds

# No test fails because the machine is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# As hypothesis has it for servers, the same examples in each run; as many as tell.
settings.register_profile("repeatable", settings.get_profile("ci"), max_examples=rounds(15, thorough=60))

TESTS: Final = Path(__file__).parent
LONG_FIRST: Final = (
    "reliability",
    "laws",
    "browser",
    "end_to_end",
    "http",
    "invariants",
    "formats",
)
"""The folders whose files take longest: several workers end together where what is left at the end is short."""


@pytest.fixture
def everybody() -> Generator[None]:
    """Let the test act for everybody: it may use the conversations of all owners."""
    with acting_as(EVERYBODY):
        yield


@pytest.fixture
def clock() -> TestClock:
    """A clock that stands still until the test moves it."""
    return TestClock()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


@pytest.fixture(scope="session")
def index_of_histories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of the example histories, made once by the installed command; ``Agent.begin_with`` takes a copy."""
    agent = Agent(tmp_path_factory.mktemp("histories"))
    agent.answer(f"pastchats-memory index {HISTORIES}")
    return agent.db


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """Hold off pytest-asyncio in such a module: in auto mode it would run every coroutine on asyncio, twice."""
    module = collector.getparent(pytest.Module)
    marks = getattr(module and module.obj, "pytestmark", ())
    marks = marks if isinstance(marks, list | tuple) else (marks,)
    if not any(mark.name == "anyio" for mark in marks):
        return (yield)
    option = collector.config.option
    mode, option.asyncio_mode = option.asyncio_mode, "strict"
    try:
        return (yield)
    finally:
        option.asyncio_mode = mode


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take long before the others, each in its order."""

    @cache  # ten thousand tests are in a few hundred files
    def place(file: Path) -> int:
        folder = file.relative_to(TESTS).parts[0] if file.is_relative_to(TESTS) else ""
        return LONG_FIRST.index(folder) if folder in LONG_FIRST else len(LONG_FIRST)

    items.sort(key=lambda item: place(item.path))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected: ten thousand of them, and the modules that they are in, stay.

    Leave them out of garbage collection afterwards, and look for the rest as seldom as our commands do.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()
