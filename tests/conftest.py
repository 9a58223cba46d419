"""Tests of a module marked ``pytest.mark.anyio`` run on asyncio and on trio; all other coroutines on asyncio."""

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.thorough import rounds

# As hypothesis has it for servers, the same examples in each run; as many as tell.
settings.register_profile("repeatable", settings.get_profile("ci"), max_examples=rounds(25, thorough=100))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


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


def pytest_collection_finish() -> None:
    """Leave out of garbage collection what stays to the end: ten thousand tests, and the modules that they are in."""
    gc.collect()
    gc.freeze()
