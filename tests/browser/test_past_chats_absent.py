"""Past chats where none are indexed: the page says what to do, and needs no restart when it is done."""

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import Visits
from tests.past_chats_command import HISTORIES, PROGRAM


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module indexes past chats."""
    return tmp_path_factory.mktemp("served")


def test_the_page_says_how_to_index_past_chats_and_shows_them_then(visit: Visits, folder: Path) -> None:
    visitor = visit()
    visitor.expect_trouble("404.*/past-chats")
    page = visitor.go("past-chats")
    expect(page.get_by_role("heading", name="No past chats are indexed yet")).to_be_visible()
    command = page.get_by_text("pastchats-memory index")
    expect(command).to_be_visible()
    _, *arguments = command.inner_text().split()
    subprocess.run(
        (PROGRAM, *arguments, "--db", folder / "pastchats.db", HISTORIES), check=True, capture_output=True
    )
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="Past chats").get_by_role("listitem").first).to_be_visible()
