"""Memories are forgotten by where they come from, or all of them, once somebody has confirmed it."""

import re
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

FORGOTTEN: Final = re.compile(r"Forgotten: \d+\.")
"""Superseded memories count, too, also those of tests before."""


@pytest.fixture
def page(visit: Visits, api: Api) -> Page:
    """The memory page with four memories of several origins."""
    api.remember(
        {"content": "from the trip", "sessionId": "trip/京都", "provenance": {"messageIds": ["m1"]}},
        {"content": "from the trip, later", "sessionId": "trip/京都"},
        {"content": "from a file", "provenance": {"path": "/notes/茶.md"}},
        {"content": "from nowhere in particular", "pinned": True},
    )
    return visit().go("memories")


def choose(page: Page, which: str, named: str | None = None) -> Locator:
    """Say in the dialog what is to go, and return the question that follows."""
    page.get_by_role("button", name="Forget many").click()
    dialog = page.get_by_role("dialog", name="Forget many memories")
    dialog.get_by_role("combobox", name="Which memories").select_option(which)
    if named is not None:
        expect(dialog.get_by_role("button", name="Continue")).to_be_disabled()
        dialog.get_by_role("textbox").fill(named)
    dialog.get_by_role("button", name="Continue").click()
    return page.get_by_role("dialog", name="Forget them for good?")


def left(api: Api) -> int:
    return len(api.memories())


@pytest.mark.parametrize(
    ("which", "named", "said", "gone"),
    [
        ("sessionId", "trip/京都", "come from the conversation “trip/京都”", 2),
        ("messageId", "m1", "come from the message “m1”", 1),
        ("path", "/notes/茶.md", "read from the file “/notes/茶.md”", 1),
        ("all", None, "Every memory goes, pinned ones and values too.", 4),
    ],
)
def test_what_is_chosen_is_forgotten(
    page: Page, api: Api, which: str, named: str | None, said: str, gone: int
) -> None:
    question = choose(page, which, named)
    expect(question).to_contain_text(said)
    expect(question).to_contain_text("Nothing brings them back.")
    assert left(api) == 4
    question.get_by_role("button", name="Forget").click()
    expect(page.get_by_text(FORGOTTEN)).to_be_visible()
    expect(page.get_by_role("main").get_by_role("article")).to_have_count(4 - gone)
    assert left(api) == 4 - gone


def test_who_does_not_confirm_forgets_nothing(page: Page, api: Api) -> None:
    choose(page, "all").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert left(api) == 4


def test_the_app_that_is_looked_at_is_the_one_whose_memories_go(visit: Visits, api: Api) -> None:
    api.remember({"content": "of the editor"}, app="编辑器")
    api.remember({"content": "of the browser"}, app="browser")
    page = visit().go("memories?app=编辑器")
    question = choose(page, "all")
    expect(question).to_contain_text("Every memory that the app “编辑器” sees goes")
    question.get_by_role("button", name="Forget").click()
    expect(page.get_by_text(FORGOTTEN)).to_be_visible()
    assert [memory["content"] for memory in api.memories()] == ["of the browser"]
