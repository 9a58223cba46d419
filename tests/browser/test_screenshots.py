"""The page with the demo's data: ``README_SCREENSHOT=1`` renews the picture of the README."""

import html
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.api import Api
from tests.browser.visiting import Visits
from tests.http.served import Server, started
from tests.thorough import IS_THOROUGH

ROOT: Final = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def server(folder: Path) -> Generator[Server]:
    """Serve what the demo leaves behind, as the demo itself says how."""
    demo = (sys.executable, ROOT / "examples/demo.py", folder)
    said = subprocess.run(demo, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    with started(*shlex.split(said.splitlines()[-1]), "--port", "0") as server:
        yield server


@pytest.fixture
def api(client: httpx.Client) -> Api:
    return Api(client)


IS_NEW: Final = "README_SCREENSHOT" in os.environ
TERMINAL: Final = """
body { margin: 0 } pre { margin: 0; padding: 16px 20px; width: 960px; height: 860px; overflow: hidden;
    white-space: pre-wrap; font: 13px/1.45 "DejaVu Sans Mono", monospace; background: #1e1e2e; color: #cdd6f4 }
"""


@pytest.mark.skipif(not (IS_NEW or IS_THOROUGH), reason="takes long: make test-long runs it")
def test_it_shows_what_the_demo_leaves(visit: Visits, tmp_path: Path) -> None:
    page = visit(is_calm=True).go("conversations")
    page.get_by_role("main").get_by_role("listitem").get_by_role("link").nth(1).click()
    page.get_by_role("button", name=re.compile("long-term memory")).first.click()
    expect(page.get_by_role("dialog")).to_have_attribute("aria-busy", "false")
    page.screenshot(path=(ROOT / "docs" if IS_NEW else tmp_path) / "page.png")


@pytest.mark.skipif(not IS_NEW, reason="draws the picture of the README")
def test_a_recall_at_a_terminal(visit: Visits, folder: Path) -> None:
    asked = 'pastchats-memory recall --query "build webhook retries"'
    _, *arguments = shlex.split(asked)
    command = (Path(sys.executable).parent / "pastchats-memory", "--db", folder / "past-chats.db", *arguments)
    told = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    page = visit(is_calm=True).page
    shown = html.escape(f"$ {asked}\n{told}")
    page.goto(f"data:text/html;charset=utf-8,{quote(f'<style>{TERMINAL}</style><pre>{shown}</pre>')}")
    page.locator("pre").screenshot(path=ROOT / "docs/recall.png")
