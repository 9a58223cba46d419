"""The memory page: to search, edit, promote, pin and forget what is remembered, and to see where it comes from."""

import re
import time
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits
from tests.patience import PATIENCE_SECONDS

TEA: Final = {
    "id": "茶/1",
    "content": "用户早上喝绿茶，不加糖",
    "key": "饮品偏好",
    "category": "preference",
    "tags": ["饮食"],
}
RELEASE: Final = {
    "id": "release",
    "content": "The release is planned for the last week of March.",
    "category": "fact",
}
HABIT: Final = {"id": "habit", "content": "Reviews pull requests before ten", "category": "pattern"}
TURN: Final = {
    "id": "turn-1",
    "content": "我们下周三开会",
    "source": "inferred",
    "sessionId": "chat/项目",
    "memoryType": "short_term",
    "provenance": {"messageIds": ["m1"], "extractor": "rules"},
}
UNDO_MS: Final = 8_000


@pytest.fixture
def page(visit: Visits, api: Api) -> Page:
    """The memory page with four memories."""
    api.remember(TEA, RELEASE, HABIT, TURN)
    return visit().go("memories")


def cards(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("article")


def card(page: Page, text: object) -> Locator:
    return cards(page).filter(has_text=str(text))


def search(page: Page, query: str) -> None:
    page.get_by_role("searchbox", name="Search memories").fill(query)
    page.keyboard.press("Enter")


def stored(api: Api, memory_id: str) -> dict[str, Any]:
    memory = api.memory(memory_id)
    assert memory is not None
    return dict(memory)


# --- finding ---


def test_a_search_says_why_and_stays_in_the_address(page: Page) -> None:
    search(page, "绿茶")
    expect(card(page, TEA["content"])).to_be_visible()
    page.reload()
    expect(page.get_by_role("searchbox", name="Search memories")).to_have_value("绿茶")
    expect(card(page, TEA["content"])).to_be_visible()
    page.go_back()
    expect(cards(page)).to_have_count(4)
    expect(page.get_by_role("searchbox", name="Search memories")).to_have_value("")

    search(page, "早上喝什么茶")
    why = card(page, "绿茶").get_by_role("group", name="Why it was found")
    for signal in ("Score", "Meaning", "Words", "Age"):
        expect(why).to_contain_text(signal)
    expect(page.get_by_role("status").filter(has_text="Searched by words and meaning")).to_be_visible()
    search(page, "周三")
    expect(page.get_by_role("heading", name="Short-term memories that contain the text")).to_be_visible()
    expect(card(page, TURN["content"])).to_be_visible()


def test_memories_are_listed_newest_first_and_filtered_and_the_filter_stays_in_the_address(
    page: Page, api: Api
) -> None:
    memory_type = page.get_by_role("combobox", name="Type")
    category = page.get_by_role("combobox", name="Category")
    expect(cards(page)).to_have_count(4)
    memory_type.select_option("short_term")
    expect_all(page, TURN)
    memory_type.select_option("long_term")
    expect_all(page, TEA, RELEASE, HABIT)
    category.select_option("pattern")
    expect_all(page, HABIT)
    page.reload()
    expect_all(page, HABIT)
    memory_type.select_option("")
    category.select_option("")

    api.remember({"content": "写给编辑器的"}, app="编辑器")
    api.remember({"content": "in the browser"}, app="browser")
    page.reload()
    expect(cards(page)).to_have_count(6)
    expect(cards(page).first).to_contain_text("in the browser")
    page.get_by_role("textbox", name="App").fill("编辑器")
    page.keyboard.press("Enter")
    expect(card(page, "in the browser")).to_be_hidden()
    expect(cards(page)).to_have_count(5)
    page.reload()
    expect(cards(page)).to_have_count(5)


def expect_all(page: Page, *memories: dict[str, Any]) -> None:
    """Expect that these are shown, and no others."""
    expect(cards(page)).to_have_count(len(memories))
    for memory in memories:
        expect(card(page, memory["content"])).to_be_visible()


def test_an_empty_store_says_in_each_view_what_will_stand_there(visit: Visits) -> None:
    visitor = visit(language="zh-CN")
    for view, said in (
        ("conversations", "程序通过 API 或 Python 存入消息后，会话就会显示在这里。"),
        ("memories", "可以从会话中保存一条消息"),
        ("values", "还没有任何键值。"),
        ("timeline", "保存的记忆会按其开始成立的时间显示在这里"),
    ):
        expect(visitor.go(view).get_by_text(said)).to_be_visible()


# --- maintenance ---


def test_a_memory_is_written_by_hand_and_another_one_after_a_lost_answer(visit: Visits, api: Api) -> None:
    visitor = visit()
    visitor.expect_trouble("/memories")
    page = visitor.go("memories")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    page.route("**/memories", lose_the_answer, times=1)
    page.get_by_role("button", name="New memory").click()
    dialog = page.get_by_role("dialog", name="New memory")
    dialog.get_by_label("Content").fill("周末去爬山")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("Content").fill("周末去爬山，带上水")
    dialog.get_by_label("Category").select_option("pattern")
    dialog.get_by_label("Tags").fill("户外\n周末")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(card(page, "周末去爬山，带上水")).to_be_visible()
    newest, first = api.memories()
    assert (newest["content"], newest["category"], newest["tags"]) == (
        "周末去爬山，带上水",
        "pattern",
        ["户外", "周末"],
    )
    assert (newest["source"], newest["provenance"]["extractor"]) == ("user_stated", "person")
    assert first["content"] == "周末去爬山"


def test_a_memory_is_edited_and_nothing_is_lost_when_somebody_else_was_quicker(
    visit: Visits, api: Api
) -> None:
    api.remember(TEA, RELEASE)
    visitor = visit()
    visitor.expect_trouble("412")
    page = visitor.go("memories")
    dialog = page.get_by_role("dialog", name="Edit memory")
    save = dialog.get_by_role("button", name="Save")
    card(page, TEA["content"]).get_by_role("button", name="Edit").click()
    dialog.get_by_label("Content").fill("用户早上喝红茶")
    dialog.get_by_label("Key").fill("")
    dialog.get_by_label("Confidence").fill("0.6")
    save.click()
    expect(card(page, "用户早上喝红茶")).to_be_visible()
    memory = stored(api, "茶/1")
    assert (memory["content"], memory["key"], memory["confidence"]) == ("用户早上喝红茶", None, 0.6)
    assert (memory["category"], memory["tags"]) == ("preference", ["饮食"])

    expect(dialog).to_be_hidden()
    card(page, RELEASE["content"]).get_by_role("button", name="Edit").click()
    dialog.get_by_label("Content").fill("我写的")
    api.correct("release", content="别人写的", category="pattern")
    save.click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody has changed this memory")
    expect(dialog.get_by_label("Content")).to_have_value("我写的")
    expect(dialog).to_contain_text("别人写的")
    expect(dialog.get_by_label("Category")).to_have_value("pattern")
    save.click()
    expect(dialog).to_be_hidden()
    memory = stored(api, "release")
    assert (memory["content"], memory["category"]) == ("我写的", "pattern")


def test_user_promoted_memory(page: Page, api: Api) -> None:
    """Spec 000: a person makes a short-term memory long-term, which recall then finds; and pins one."""
    turn = card(page, TURN["content"])
    expect(turn).to_contain_text("Short-term")
    turn.get_by_role("button", name="Make long-term").click()
    expect(turn).to_contain_text("Long-term")
    expect(turn.get_by_role("button", name="Make long-term")).to_be_hidden()
    assert stored(api, "turn-1")["memoryType"] == "long_term"
    assert [recalled["id"] for recalled in api.recall("下周三开会")][:1] == ["turn-1"]

    tea = card(page, TEA["content"])
    for name, is_pinned in (("Pin", True), ("Unpin", False)):
        tea.get_by_role("button", name=name, exact=True).click()
        expect(tea.get_by_text("Pinned", exact=True)).to_be_visible(visible=is_pinned)
        assert stored(api, "茶/1")["pinned"] is is_pinned


# --- forgetting ---


def forget(page: Page, text: object) -> Locator:
    """Press Forget, and return the way back in the notice."""
    card(page, text).get_by_role("button", name="Forget").click()
    page.mouse.move(0, 0)  # not over the notice, which would wait then
    expect(card(page, text)).to_be_hidden()
    return page.get_by_role("region", name="Notices").get_by_role("button", name="Undo")


def test_what_is_forgotten_can_be_brought_back_for_a_while(visit: Visits, api: Api) -> None:
    api.remember(TEA, RELEASE, HABIT)
    visitor = visit()
    visitor.expect_trouble("500")
    page = visitor.stop_the_clock()
    visitor.go("memories")
    forget(page, TEA["content"]).click()
    expect(card(page, TEA["content"])).to_be_visible()
    page.clock.run_for(2 * UNDO_MS)
    assert api.memory("茶/1") is not None

    undo = forget(page, TEA["content"])  # it waits for whoever looks at it
    undo.hover()
    page.clock.run_for(3 * UNDO_MS)
    undo.focus()
    page.mouse.move(0, 0)
    page.clock.run_for(3 * UNDO_MS)
    page.keyboard.press("Enter")
    expect(card(page, TEA["content"])).to_be_visible()
    assert api.memory("茶/1") is not None

    undo = forget(page, RELEASE["content"])
    expect(undo).to_be_visible()
    assert api.memory("release") is not None
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.clock.run_for(UNDO_MS)
    expect(undo).to_be_hidden()
    assert api.memory("release") is None
    assert api.memory("茶/1") is not None

    page.route("**/memories/habit", fail)
    forget(page, HABIT["content"])
    page.clock.run_for(UNDO_MS)
    expect(card(page, HABIT["content"])).to_be_visible()
    expect(page.get_by_role("region", name="Notices")).to_contain_text("could not be forgotten")


def fail(route: Route) -> None:
    route.fulfill(status=500, body="oops")


def test_whoever_leaves_the_page_has_forgotten(page: Page, api: Api) -> None:
    forget(page, TEA["content"])
    forget(page, HABIT["content"])
    page.goto(f"{api.url}openapi.json")
    until = (
        time.monotonic() + PATIENCE_SECONDS
    )  # the requests outlive the page, which cannot be asked for them
    while (left := {memory["id"] for memory in api.memories()}) != {"release", "turn-1"}:
        assert time.monotonic() < until, left


# --- where from ---


def test_a_memory_has_an_address_of_its_own_and_leads_back_to_the_message_that_it_comes_from(
    page: Page, api: Api
) -> None:
    api.say("chat/项目", {"id": "m1", "role": "user", "content": "那我们下周三开会吧"})
    tea = card(page, TEA["content"])
    tea.get_by_text("Details").click()
    expect(tea.get_by_text("Times used")).to_be_visible()
    expect(tea.get_by_role("link")).to_have_count(1)  # to the memory itself: it comes from nowhere
    tea.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"#/memories/%E8%8C%B6%2F1$"))
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("饮品偏好")
    page.go_back()
    card(page, TURN["content"]).get_by_role("link", name="View message").click()
    said = page.get_by_role("listitem").filter(has_text="那我们下周三开会吧").last
    expect(said).to_be_focused()
