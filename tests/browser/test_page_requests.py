"""The first visit: what a browser asks for, each a fifth of a second for somebody far away, and what the page says without past chats."""

import subprocess
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits
from tests.past_chats_command import HISTORIES, PROGRAM

# What came from the cache has no size.
FETCHED: Final = """() => performance.getEntriesByType("resource")
    .filter(({transferSize}) => transferSize > 0)
    .map(({name}) => new URL(name).pathname.replace(/[0-9a-f]{16}/, "HASH"))
    .sort()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of its own: no window has loaded anything of its server, and no past chats are indexed."""
    return tmp_path_factory.mktemp("served")


def fetched(page: Page) -> list[str]:
    """Return what was asked for besides the page, once everything is there."""
    expect(page.get_by_role("link", name="Where do we meet?")).to_be_visible()
    page.wait_for_load_state("networkidle")
    paths: list[str] = page.evaluate(FETCHED)
    return paths


def test_a_visit_asks_for_one_script_and_one_stylesheet_a_reload_for_none(visit: Visits, api: Api) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    page = visit().go("conversations")
    assert fetched(page) == ["/conversations", "/page/HASH.css", "/page/HASH.js", "/page/icon.svg"]
    page.reload()
    assert fetched(page) == ["/conversations", "/page/icon.svg"]


def test_the_page_says_how_to_index_past_chats_and_shows_them_then(visit: Visits, folder: Path) -> None:
    visitor = visit()
    visitor.is_kept = False  # its cache would answer the other test
    visitor.expect_trouble("404.*/past-chats")
    page = visitor.go("past-chats")
    expect(page.get_by_role("heading", name="No past chats are indexed yet")).to_be_visible()
    command = page.get_by_text("pastchats-memory index")
    expect(command).to_be_visible()
    _, *arguments = command.inner_text().split()
    index = (PROGRAM, *arguments, "--db", folder / "pastchats.db", HISTORIES)
    subprocess.run(index, check=True, capture_output=True)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="Past chats").get_by_role("listitem").first).to_be_visible()
