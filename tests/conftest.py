"""Tests of a module marked ``pytest.mark.anyio`` run on asyncio and on trio; all other coroutines on asyncio."""

from collections.abc import Generator

import pytest


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
