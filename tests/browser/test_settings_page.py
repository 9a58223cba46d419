"""The settings view: what the server runs on, what is missing and what to do about it, how the page is shown."""

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import Visits


@pytest.fixture(scope="module")
def configuration() -> str:
    return '[memory.embedding]\nprovider = "none"\n'


def test_it_says_what_the_server_runs_on_what_is_missing_and_what_to_do(visit: Visits) -> None:
    visitor = visit()
    page = visitor.go("settings")
    expect(page.get_by_role("heading", name="What wants attention")).to_be_visible()
    expect(page.get_by_text("No embedder runs: memories are found by their words alone.")).to_be_visible()
    expect(page.get_by_text("memory.embedding.provider")).to_be_visible()
    expect(page.get_by_role("definition").filter(has_text="does not run")).to_have_count(1)
    for term, value in (
        ("Store", "SQLite"),
        ("Skills", "extractive, offline"),
        ("Extractor", "rules, offline"),
        ("Whose memories", "default"),
    ):
        entry = page.get_by_role("term").filter(has_text=term).locator("xpath=..")
        expect(entry).to_contain_text(value)

    visitor.go("memories?query=tea")
    expect(page.get_by_role("status").filter(has_text="Searched by words only")).to_be_visible()
