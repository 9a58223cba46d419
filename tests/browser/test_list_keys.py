"""Lists by the keyboard: each is one stop of Tab, and the arrow keys, Home and End go from item to item."""

from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

NUMBER: Final = 60  # more than a page of a list holds
MOST_STOPS: Final = 40
STOPS_OF: Final = """list => [...list.querySelectorAll("a[href], button, summary, [tabindex]")]
    .filter(element => element.tabIndex >= 0).length"""
MEMORY_OF_THE_FOCUS: Final = (
    "[...document.querySelectorAll('.memory')].findIndex(one => one.contains(document.activeElement))"
)


def items(page: Page) -> Locator:
    return page.locator(".choices > li > a, .memories .memory")


def tab_into_list(page: Page) -> None:
    """Press Tab until an item of the list has the focus."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate("!!document.activeElement.matches('.choices > li > a, .memories .memory')"):
            return
    pytest.fail("Tab never comes to the list")


def test_conversations_are_one_stop_in_which_arrows_home_and_end_go(visit: Visits, api: Api) -> None:
    for number in range(NUMBER):
        api.say(f"c{number}", {"role": "user", "content": f"opening {number}"})
    visitor = visit()
    page = visitor.go("conversations")
    expect(items(page)).to_have_count(50)
    tab_into_list(page)
    expect(items(page).first).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Load more")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    for key, at in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", 49), ("ArrowDown", 49)):
        page.keyboard.press(key)
        expect(items(page).nth(at)).to_be_focused()
        expect(items(page).nth(at)).to_be_in_viewport()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    expect(items(page).first).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # load more
    expect(items(page)).to_have_count(NUMBER)
    expect(items(page).last).to_contain_text("opening 0")
    expect(page.get_by_role("button", name="Load more")).to_be_hidden()
    page.keyboard.press("Home")  # which is no key of the list here
    items(page).nth(49).focus()
    page.keyboard.press("ArrowDown")
    expect(items(page).nth(50)).to_be_focused()
    assert page.locator(".choices").evaluate(STOPS_OF) == 1

    # The stop is the conversation that is open.
    page.evaluate("document.activeElement.blur()")
    visitor.go("conversations/c57")
    expect(page.get_by_role("heading", name="c57")).to_be_visible()
    tab_into_list(page)
    expect(items(page).nth(2)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="c56")).to_be_visible()


def test_tab_goes_through_the_actions_of_one_memory_and_arrows_on(visit: Visits, api: Api) -> None:
    api.remember(*({"id": f"m{number}", "content": f"fact {number}"} for number in range(5)))
    page = visit().go("memories")
    expect(items(page)).to_have_count(5)
    tab_into_list(page)
    page.keyboard.press("ArrowDown")
    expect(items(page).nth(1)).to_be_focused()
    seen = set[int]()
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(MEMORY_OF_THE_FOCUS))
    assert seen == {-1, 1}

    items(page).nth(1).focus()
    page.keyboard.press("End")
    expect(items(page).nth(4)).to_be_focused()
    items(page).nth(4).get_by_role("button", name="Pin").focus()
    page.keyboard.press("ArrowUp")
    expect(items(page).nth(3)).to_be_focused()
    page.keyboard.press("Home")
    expect(items(page).first).to_be_focused()

    expect_the_keys_of_a_dialog_to_be_those_of_its_field(page)
    page.keyboard.press("ArrowDown")
    expect(items(page).nth(3)).to_be_focused()

    items(page).first.get_by_role("button", name="Forget").click()
    expect(items(page)).to_have_count(4)
    expect(items(page).first).to_be_focused()  # the next one is the stop
    page.keyboard.press("ArrowDown")
    expect(items(page).nth(1)).to_be_focused()


def expect_the_keys_of_a_dialog_to_be_those_of_its_field(page: Page) -> None:
    """Edit the third memory, and leave the dialog."""
    items(page).nth(2).get_by_role("button", name="Edit").click()
    field = page.get_by_role("dialog").get_by_label("Content")
    field.focus()
    page.keyboard.press("End")
    page.keyboard.type("!")
    page.keyboard.press("Home")
    page.keyboard.type("The ")
    page.keyboard.press("ArrowDown")
    expect(field).to_be_focused()
    expect(field).to_have_value("The fact 2!")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
