"""What a browser asks for to show the page: each request costs somebody far away a fifth of a second."""

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

# What came from the cache has no size.
FETCHED: Final = """() => performance.getEntriesByType("resource")
    .filter(({transferSize}) => transferSize > 0)
    .map(({name}) => new URL(name).pathname.replace(/[0-9a-f]{16}/, "HASH"))
    .sort()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of its own: of its server no window has loaded anything yet."""
    return tmp_path_factory.mktemp("served")


def fetched(page: Page) -> list[str]:
    """Return what was asked for besides the page, once everything is there."""
    expect(page.get_by_role("link", name="Where do we meet?")).to_be_visible()
    page.wait_for_load_state("networkidle")
    paths: list[str] = page.evaluate(FETCHED)
    return paths


def test_a_visit_asks_for_one_script_and_one_stylesheet_and_a_reload_for_neither(
    visit: Visits, api: Api
) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    page = visit().go("conversations")
    assert fetched(page) == ["/conversations", "/page/HASH.css", "/page/HASH.js", "/page/icon.svg"]
    page.reload()
    assert fetched(page) == ["/conversations", "/page/icon.svg"]
