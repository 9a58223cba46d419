"""The page as people use it: in a real Chromium, before a real server with a store of its own.

One browser and one server serve all tests of a process, save for modules with settings or a folder of their own,
which have a server of their own; each test finds the store empty, and the window as new.
"""

import asyncio
import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path

import httpx
import pytest

pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")

from playwright.sync_api import Browser, Page, expect

from tests.browser.api import Api
from tests.browser.chromium import open_chromium
from tests.browser.visiting import Visits, Windows
from tests.http.served import Server, served
from tests.patience import PATIENCE_SECONDS

expect.set_options(timeout=1_000 * PATIENCE_SECONDS)


@pytest.fixture(scope="session")
def open_browser() -> Generator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """The browser and the event loop that serves it, which runs until both end."""
    with open_chromium() as browser:
        loop = asyncio.get_running_loop()
        yield browser, loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def chromium(open_browser: tuple[Browser, asyncio.AbstractEventLoop]) -> Generator[Browser]:
    browser, loop = open_browser
    # Playwright leaves its loop marked as running, and tests of other modules could run none in this thread.
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="session")
def shared_server(shared_folder: Path) -> Generator[Server]:
    with serving(shared_folder, "") as server:
        yield server


@pytest.fixture(scope="module")
def configuration() -> str:
    """The settings of the server, as TOML; a module with others has a fixture of this name."""
    return ""


@pytest.fixture(scope="module")
def folder(configuration: str, shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps everything: ``memory.db`` and ``pastchats.db``.

    A module that adds to it what ``Api.empty`` leaves has a fixture of this name.
    """
    return tmp_path_factory.mktemp("served") if configuration else shared_folder


@pytest.fixture(scope="module")
def server(
    folder: Path, configuration: str, shared_folder: Path, request: pytest.FixtureRequest
) -> Generator[Server]:
    if folder == shared_folder:
        yield request.getfixturevalue("shared_server")
        return
    with serving(folder, configuration) as server:
        yield server


def serving(folder: Path, configuration: str) -> AbstractContextManager[Server]:
    file = folder / "chatmemory.toml"
    file.write_text(configuration)
    return served(folder / "memory.db", "--past-chats", folder / "pastchats.db", "--config", file)


@pytest.fixture(scope="module")
def client(server: Server) -> Generator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS, trust_env=False) as client:
        yield client


@pytest.fixture
def api(client: httpx.Client, folder: Path) -> Api:
    api = Api(client)
    api.empty()
    # The next test begins anew: what the one before has forgotten may be said again under the same ids.
    with closing(sqlite3.connect(folder / "memory.db")) as store, store:
        store.execute("DELETE FROM event WHERE action = 'forgotten'")
    return api


@pytest.fixture(scope="session")
def shared_windows(open_browser: tuple[Browser, asyncio.AbstractEventLoop], shared_server: Server) -> Windows:
    return Windows(open_browser[0], shared_server.url, ExitStack())


@pytest.fixture(scope="module")
def windows(
    chromium: Browser, server: Server, folder: Path, shared_folder: Path, request: pytest.FixtureRequest
) -> Generator[Windows]:
    if folder == shared_folder:
        yield request.getfixturevalue("shared_windows")
        return
    with ExitStack() as opened:
        yield Windows(chromium, server.url, opened)


@pytest.fixture
def visit(windows: Windows, api: Api) -> Generator[Visits]:
    del api
    with ExitStack() as visits:
        yield Visits(windows, visits)


@pytest.fixture
def page(visit: Visits) -> Page:
    """A new page; a module that begins at a place of its own has a fixture of this name."""
    return visit().page
