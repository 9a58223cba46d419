"""``typed``: the commands on SQLite; ``typed_anywhere``: on PostgreSQL, too."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands.typed import Typed, sqlite_place
from tests.empty_store import empty_store


@contextmanager
def an_empty_database() -> Generator[str]:
    """Lend an empty store on PostgreSQL to a test that runs no loop of its own."""
    store = empty_store()
    with asyncio.Runner() as runner:
        yield runner.run(store.__aenter__())
        runner.run(store.__aexit__(None, None, None))


@pytest.fixture
def typed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    return Typed(capsys, monkeypatch, sqlite_place(tmp_path))


@pytest.fixture(params=["sqlite", "postgres"])
def typed_anywhere(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Generator[Typed]:
    if request.param == "sqlite":
        yield Typed(capsys, monkeypatch, sqlite_place(tmp_path))
        return
    with an_empty_database() as dsn:
        yield Typed(capsys, monkeypatch, dsn)
