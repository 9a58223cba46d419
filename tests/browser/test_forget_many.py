"""Memories are forgotten by where they come from, or all of them, once somebody has confirmed it."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

MEMORIES: Final[Sequence[Mapping[str, object]]] = (
    {"content": "pinned", "pinned": True},
    {"content": "from a file", "provenance": {"path": "/notes/茶.md"}},
    {"content": "from the trip, later", "sessionId": "trip/京都"},
    {"content": "from the trip", "sessionId": "trip/京都"},
    {"content": "from a message", "sessionId": "trip/京都", "provenance": {"messageIds": ["m1"]}},
)
FORGOTTEN: Final = re.compile(r"Forgotten: \d+\.")
"""Superseded memories count, too, also those of tests before."""


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


def expect_left(page: Page, api: Api, *contents: str) -> None:
    """Expect that these memories are left, newest first, and that the page shows as many."""
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("article")).to_have_count(len(contents))
    assert [memory["content"] for memory in api.memories()] == [*contents]


def confirm(page: Page, question: Locator, said: str) -> None:
    expect(question).to_contain_text(said)
    expect(question).to_contain_text("Nothing brings them back.")
    question.get_by_role("button", name="Forget").click()
    expect(page.get_by_text(FORGOTTEN).last).to_be_visible()


def test_what_is_chosen_is_forgotten_once_it_is_confirmed(visit: Visits, api: Api) -> None:
    for memory in MEMORIES:
        api.remember(memory)
    page = visit().go("memories")
    question = choose(page, "messageId", "m1")
    expect(question).to_contain_text("come from the message “m1”")
    question.get_by_role("button", name="Cancel").click()
    expect_left(page, api, "from a message", "from the trip", "from the trip, later", "from a file", "pinned")
    confirm(page, choose(page, "messageId", "m1"), "come from the message “m1”")
    expect_left(page, api, "from the trip", "from the trip, later", "from a file", "pinned")
    confirm(page, choose(page, "sessionId", "trip/京都"), "come from the conversation “trip/京都”")
    expect_left(page, api, "from a file", "pinned")
    confirm(page, choose(page, "path", "/notes/茶.md"), "read from the file “/notes/茶.md”")
    expect_left(page, api, "pinned")
    confirm(page, choose(page, "all"), "Every memory goes, pinned ones and values too.")
    expect_left(page, api)


def test_the_app_that_is_looked_at_is_the_one_whose_memories_go(visit: Visits, api: Api) -> None:
    api.remember({"content": "of the editor"}, app="编辑器")
    api.remember({"content": "of the browser"}, app="browser")
    page = visit().go("memories?app=编辑器")
    confirm(page, choose(page, "all"), "Every memory that the app “编辑器” sees goes")
    assert [memory["content"] for memory in api.memories()] == ["of the browser"]
