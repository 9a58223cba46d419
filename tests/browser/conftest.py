"""The page as people use it: in a real Chromium, before a real server with a store of its own.

One browser and one server serve the tests of a module; each test finds the store empty and the window new.
"""

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")

from playwright.sync_api import Browser, expect

from tests.browser.api import Api
from tests.browser.chromium import open_chromium
from tests.browser.visiting import Visits
from tests.http.served import Server, served
from tests.patience import PATIENCE_SECONDS

expect.set_options(timeout=1_000 * PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    with open_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server of a module keeps everything: ``memory.db`` and ``pastchats.db``."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def configuration() -> str:
    """The settings of the server, as TOML; a module with others has a fixture of this name."""
    return ""


@pytest.fixture(scope="module")
def server(folder: Path, configuration: str) -> Generator[Server]:
    file = folder / "chatmemory.toml"
    file.write_text(configuration)
    index = folder / "pastchats.db"
    with served(folder / "memory.db", "--past-chats", index, "--config", file) as server:
        yield server


@pytest.fixture
def api(server: Server) -> Generator[Api]:
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        api = Api(client)
        api.empty()
        yield api


@pytest.fixture
def visit(chromium: Browser, server: Server, api: Api) -> Generator[Visits]:
    """Open windows on a store that is empty as yet."""
    del api
    with ExitStack() as windows:
        yield Visits(chromium, server.url, windows)
