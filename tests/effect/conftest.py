"""The kernel promises to work on asyncio and on trio: a module of ``pytest.mark.anyio`` runs each test on both."""

from __future__ import annotations

from collections.abc import Generator

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """Hold off pytest-asyncio: in auto mode it would take every coroutine here and run it on asyncio twice."""
    option = collector.config.option
    mode, option.asyncio_mode = option.asyncio_mode, "strict"
    try:
        return (yield)
    finally:
        option.asyncio_mode = mode
