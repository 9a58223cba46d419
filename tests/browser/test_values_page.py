"""The values view: what is kept under a key is listed, changed and deleted."""

from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

HOSTILE: Final = "城市/1?<img src=x onerror=alert(1)>"


@pytest.fixture
def page(visit: Visits, api: Api) -> Page:
    """The values view with three values."""
    api.put_value("tea", "绿茶")
    api.put_value(HOSTILE, {"name": "杭州", "since": 2019})
    api.put_value("theme.colour", "dark")
    return visit().go("values")


def cards(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("article")


def card(page: Page, key: str) -> Locator:
    return page.get_by_role("article", name=key, exact=True)


def values(api: Api) -> dict[str, Any]:
    return {memory["key"]: memory["value"] for memory in api.values()}


def test_values_are_listed_newest_first(page: Page) -> None:
    expect(cards(page)).to_have_count(3)
    expect(cards(page).first).to_contain_text("theme.colour")
    expect(card(page, HOSTILE)).to_contain_text('"name": "杭州"')
    page.get_by_role("link", name="Values").click()
    expect(page.get_by_role("link", name="Values")).to_have_attribute("aria-current", "page")


def test_a_key_without_a_value_shows_what_is_remembered_under_it(visit: Visits, api: Api) -> None:
    api.remember({"content": "Drinks green tea", "key": "drink"})
    expect(card(visit().go("values"), "drink")).to_contain_text("Drinks green tea")


def test_values_are_narrowed_by_the_beginning_of_their_keys(page: Page) -> None:
    page.get_by_role("searchbox", name="Keys that begin with").fill("theme")
    page.keyboard.press("Enter")
    for _ in range(2):  # it stays in the address
        expect(cards(page)).to_have_count(1)
        page.reload()
    page.get_by_role("searchbox", name="Keys that begin with").fill("nothing like it")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No key fits these filters.")).to_be_visible()


def test_a_value_is_changed(page: Page, api: Api) -> None:
    card(page, "tea").get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog", name="Change a value")
    expect(dialog.get_by_role("textbox", name="Key")).to_have_js_property("readOnly", value=True)
    dialog.get_by_role("textbox", name="Value").fill("白茶")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(card(page, "tea")).to_contain_text("白茶")
    assert values(api)["tea"] == "白茶"


def test_a_value_of_json_stays_json(page: Page, api: Api) -> None:
    card(page, HOSTILE).get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog")
    value = dialog.get_by_role("textbox", name="Value")
    value.fill('{"name": ')
    expect(dialog.get_by_text("This is not JSON yet")).to_be_visible()
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    value.fill('{"name": "上海"}')
    dialog.get_by_role("button", name="Save").click()
    expect(card(page, HOSTILE)).to_contain_text("上海")
    assert values(api)[HOSTILE] == {"name": "上海"}


def test_a_new_value_is_written(page: Page, api: Api) -> None:
    page.get_by_role("button", name="New value").click()
    dialog = page.get_by_role("dialog", name="New value")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    dialog.get_by_role("textbox", name="Key").fill("..")
    dialog.get_by_role("textbox", name="Value").fill("7")
    dialog.get_by_role("checkbox", name="Edit as JSON").check()
    dialog.get_by_role("button", name="Save").click()
    expect(card(page, "..")).to_contain_text("7")
    assert values(api)[".."] == 7


def test_a_value_is_deleted_once_it_is_confirmed(page: Page, api: Api) -> None:
    for button in ("Cancel", "Delete"):
        card(page, "tea").get_by_role("button", name="Delete").click()
        question = page.get_by_role("dialog", name="Delete the value?")
        expect(question).to_contain_text("“tea” will have no value")
        question.get_by_role("button", name=button).click()
        expect(question).to_have_count(0)
        if button == "Cancel":
            assert "tea" in values(api)
    expect(cards(page)).to_have_count(2)
    assert "tea" not in values(api)


def test_a_value_belongs_to_its_app(visit: Visits, api: Api) -> None:
    api.put_value("theme", "dark", app="编辑器")
    page = visit().go("values")
    expect(page.get_by_text("Nothing is kept under a key yet.")).to_be_visible()
    page.get_by_role("textbox", name="App").fill("编辑器")
    page.keyboard.press("Enter")
    card(page, "theme").get_by_role("button", name="Change").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Value").fill("light")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(card(page, "theme")).to_contain_text("light")
    assert [memory["value"] for memory in api.values(app="编辑器")] == ["light"]
