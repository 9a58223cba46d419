"""The values view: what is kept under a key is listed, changed and deleted."""

from typing import Any, Final

from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

HOSTILE: Final = "城市/1?<img src=x onerror=alert(1)>"


def cards(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("article")


def card(page: Page, key: str) -> Locator:
    return page.get_by_role("article", name=key, exact=True)


def values(api: Api, **narrowed: str) -> dict[str, Any]:
    return {memory["key"]: memory["value"] for memory in api.values(**narrowed)}


def put_some(api: Api) -> None:
    api.put_value("tea", "绿茶")
    api.put_value(HOSTILE, {"name": "杭州", "since": 2019})
    api.put_value("theme.colour", "dark")


def test_values_are_listed_newest_first_and_narrowed_by_key_and_app(visit: Visits, api: Api) -> None:
    api.remember({"content": "Drinks green tea", "key": "drink"})  # a label, no key of a value
    api.put_value("theme", "dark", app="编辑器")
    put_some(api)
    page = visit().go("values")
    expect(cards(page)).to_have_count(3)  # that of the app belongs to it alone
    expect(cards(page).first).to_contain_text("theme.colour")
    expect(card(page, HOSTILE)).to_contain_text('"name": "杭州"')
    expect(page.get_by_role("link", name="Values")).to_have_attribute("aria-current", "page")
    prefix = page.get_by_role("searchbox", name="Keys that begin with")
    prefix.fill("theme")
    page.keyboard.press("Enter")
    for _ in range(2):  # it stays in the address
        expect(cards(page)).to_have_count(1)
        page.reload()
    prefix.fill("nothing like it")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No key fits these filters.")).to_be_visible()

    prefix.fill("")
    page.keyboard.press("Enter")
    expect(cards(page)).to_have_count(3)
    page.get_by_role("textbox", name="App").fill("编辑器")
    page.keyboard.press("Enter")
    card(page, "theme").get_by_role("button", name="Change").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Value").fill("light")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(card(page, "theme")).to_contain_text("light")
    assert values(api, app="编辑器") == {"theme": "light"}


def test_values_are_changed_written_deleted_and_restored(visit: Visits, api: Api) -> None:
    put_some(api)
    page = visit().go("values")
    card(page, "tea").get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog", name="Change a value")
    expect(dialog.get_by_role("textbox", name="Key")).to_have_js_property("readOnly", value=True)
    dialog.get_by_role("textbox", name="Value").fill("白茶")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(card(page, "tea")).to_contain_text("白茶")
    assert values(api)["tea"] == "白茶"

    card(page, HOSTILE).get_by_role("button", name="Change").click()
    value = dialog.get_by_role("textbox", name="Value")
    value.fill('{"name": ')
    expect(dialog.get_by_text("This is not JSON yet")).to_be_visible()
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    value.fill('{"name": "上海"}')
    dialog.get_by_role("button", name="Save").click()
    expect(card(page, HOSTILE)).to_contain_text("上海")
    assert values(api)[HOSTILE] == {"name": "上海"}

    page.get_by_role("button", name="New value").click()
    dialog = page.get_by_role("dialog", name="New value")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    dialog.get_by_role("textbox", name="Key").fill("..")
    dialog.get_by_role("textbox", name="Value").fill(str(2**53 + 1))  # JavaScript would round it
    dialog.get_by_role("checkbox", name="Edit as JSON").check()
    dialog.get_by_role("button", name="Save").click()
    expect(card(page, "..")).to_contain_text(str(2**53 + 1))
    assert values(api)[".."] == 2**53 + 1

    before = values(api)
    card(page, "tea").get_by_role("button", name="Delete").click()
    expect(cards(page)).to_have_count(3)
    assert "tea" not in values(api)
    page.get_by_role("button", name="Undo").click()
    expect(card(page, "tea")).to_contain_text("白茶")
    assert values(api) == before
