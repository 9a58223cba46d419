"""The memory page: to search, edit, promote, pin and forget what is remembered, and to see where it comes from."""

import re
import time
from typing import Final

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


# --- finding ---


def test_what_is_remembered_is_listed_newest_first(page: Page, api: Api) -> None:
    expect(cards(page)).to_have_count(4)
    api.remember({"content": "又记住了一条"})
    page.reload()
    expect(cards(page).first).to_contain_text("又记住了一条")


def test_a_search_shows_what_belongs_to_it_and_why(page: Page) -> None:
    search(page, "早上喝什么茶")
    hit = card(page, "绿茶")
    expect(hit).to_be_visible()
    why = hit.get_by_role("group", name="Why it was found")
    for signal in ("Score", "Meaning", "Words", "Age"):
        expect(why).to_contain_text(signal)
    expect(page.get_by_role("status").filter(has_text="Searched by words and meaning")).to_be_visible()


def test_a_search_finds_short_term_memories_by_their_text(page: Page) -> None:
    search(page, "周三")
    expect(page.get_by_role("heading", name="Short-term memories that contain the text")).to_be_visible()
    expect(card(page, TURN["content"])).to_be_visible()


def test_a_search_stays_in_the_address_and_is_left_by_going_back(page: Page) -> None:
    search(page, "绿茶")
    expect(card(page, TEA["content"])).to_be_visible()
    page.reload()
    expect(page.get_by_role("searchbox", name="Search memories")).to_have_value("绿茶")
    expect(card(page, TEA["content"])).to_be_visible()
    page.go_back()
    expect(cards(page)).to_have_count(4)
    expect(page.get_by_role("searchbox", name="Search memories")).to_have_value("")


@pytest.mark.parametrize(
    ("label", "choice", "expected"),
    [
        ("Type", "short_term", [TURN]),
        ("Type", "long_term", [TEA, RELEASE, HABIT]),
        ("Category", "pattern", [HABIT]),
    ],
)
def test_memories_are_filtered_and_the_filter_stays_in_the_address(
    page: Page, label: str, choice: str, expected: list[dict[str, object]]
) -> None:
    page.get_by_role("combobox", name=label).select_option(choice)
    for _ in range(2):
        expect(cards(page)).to_have_count(len(expected))
        for memory in expected:
            expect(card(page, memory["content"])).to_be_visible()
        page.reload()


def test_memories_are_filtered_by_app(visit: Visits, api: Api) -> None:
    api.remember({"content": "写给编辑器的"}, app="编辑器")
    api.remember({"content": "in the browser"}, app="browser")
    api.remember({"content": "everywhere"})
    page = visit().go("memories")
    expect(cards(page)).to_have_count(3)
    page.get_by_role("textbox", name="App").fill("编辑器")
    page.keyboard.press("Enter")
    expect(card(page, "in the browser")).to_be_hidden()
    expect(cards(page)).to_have_count(2)
    page.reload()
    expect(cards(page)).to_have_count(2)


def test_more_memories_than_a_page_holds_are_loaded_when_asked_for(visit: Visits, api: Api) -> None:
    api.remember(*({"content": f"第 {number} 条"} for number in range(120)))
    page = visit().go("memories")
    for count in (50, 100):
        expect(cards(page)).to_have_count(count)
        page.get_by_role("button", name="Load more").click()
    expect(cards(page)).to_have_count(120)


def test_an_empty_store_says_how_memories_come_about(visit: Visits) -> None:
    page = visit(language="zh-CN").go("memories")
    expect(page.get_by_text("可以从会话中保存一条消息")).to_be_visible()


# --- maintenance ---


def test_a_memory_is_written_by_hand(page: Page, api: Api) -> None:
    page.get_by_role("button", name="New memory").click()
    dialog = page.get_by_role("dialog", name="New memory")
    dialog.get_by_label("Content").fill("周末去爬山")
    dialog.get_by_label("Category").select_option("pattern")
    dialog.get_by_label("Tags").fill("户外\n周末")
    dialog.get_by_role("button", name="Save").click()
    expect(card(page, "周末去爬山")).to_be_visible()
    memory = api.memories()[0]
    assert (memory["content"], memory["category"], memory["tags"]) == (
        "周末去爬山",
        "pattern",
        ["户外", "周末"],
    )
    assert (memory["source"], memory["provenance"]["extractor"]) == ("user_stated", "person")


def test_what_is_changed_after_a_lost_answer_is_another_memory(visit: Visits, api: Api) -> None:
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
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    assert {memory["content"] for memory in api.memories()} == {"周末去爬山", "周末去爬山，带上水"}


def test_a_memory_is_edited(page: Page, api: Api) -> None:
    card(page, TEA["content"]).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit memory")
    dialog.get_by_label("Content").fill("用户早上喝红茶")
    dialog.get_by_label("Key").fill("")
    dialog.get_by_label("Confidence").fill("0.6")
    dialog.get_by_role("button", name="Save").click()
    expect(card(page, "用户早上喝红茶")).to_be_visible()
    memory = api.memory("茶/1")
    assert memory is not None
    assert (memory["content"], memory["key"], memory["confidence"]) == ("用户早上喝红茶", None, 0.6)
    assert (memory["category"], memory["tags"]) == ("preference", ["饮食"])


def test_an_edit_that_somebody_else_was_quicker_with_loses_nothing(visit: Visits, api: Api) -> None:
    api.remember(TEA)
    visitor = visit()
    visitor.expect_trouble("412")
    page = visitor.go("memories")
    card(page, TEA["content"]).get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit memory")
    dialog.get_by_label("Content").fill("我写的")
    api.correct("茶/1", content="别人写的", category="fact")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody has changed this memory")
    expect(dialog.get_by_label("Content")).to_have_value("我写的")
    expect(dialog).to_contain_text("别人写的")
    expect(dialog.get_by_label("Category")).to_have_value("fact")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    memory = api.memory("茶/1")
    assert memory is not None
    assert (memory["content"], memory["category"]) == ("我写的", "fact")


def test_user_promoted_memory(page: Page, api: Api) -> None:
    """Spec 000: a person makes a short-term memory long-term, which recall then finds."""
    turn = card(page, TURN["content"])
    expect(turn).to_contain_text("Short-term")
    turn.get_by_role("button", name="Make long-term").click()
    expect(turn).to_contain_text("Long-term")
    expect(turn.get_by_role("button", name="Make long-term")).to_be_hidden()
    memory = api.memory("turn-1")
    assert memory is not None
    assert memory["memoryType"] == "long_term"
    assert [recalled["id"] for recalled in api.recall("下周三开会")][:1] == ["turn-1"]


def test_a_memory_is_pinned_and_unpinned(page: Page, api: Api) -> None:
    tea = card(page, TEA["content"])
    for name, is_pinned in (("Pin", True), ("Unpin", False)):
        tea.get_by_role("button", name=name, exact=True).click()
        expect(tea.get_by_text("Pinned", exact=True)).to_be_visible(visible=is_pinned)
        memory = api.memory("茶/1")
        assert memory is not None
        assert memory["pinned"] is is_pinned


# --- forgetting ---


def forget(page: Page, text: object) -> Locator:
    """Press Forget, and return the notice."""
    card(page, text).get_by_role("button", name="Forget").click()
    expect(card(page, text)).to_be_hidden()
    return page.get_by_role("region", name="Notices").get_by_role("button", name="Undo")


def test_forgetting_can_be_undone(visit: Visits, api: Api) -> None:
    api.remember(TEA, RELEASE)
    page = visit().stop_the_clock()
    page.goto(f"{api.url}#/memories")
    forget(page, TEA["content"]).click()
    expect(card(page, TEA["content"])).to_be_visible()
    page.clock.run_for(2 * UNDO_MS)
    assert api.memory("茶/1") is not None


def test_a_memory_is_forgotten_when_nobody_has_undone_it(visit: Visits, api: Api) -> None:
    api.remember(TEA, RELEASE)
    page = visit().stop_the_clock()
    page.goto(f"{api.url}#/memories")
    undo = forget(page, TEA["content"])
    expect(undo).to_be_visible()
    assert api.memory("茶/1") is not None
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.clock.run_for(UNDO_MS)
    expect(undo).to_be_hidden()
    assert api.memory("茶/1") is None
    assert api.memory("release") is not None


def test_the_way_back_waits_for_whoever_looks_at_it(visit: Visits, api: Api) -> None:
    api.remember(TEA)
    page = visit().stop_the_clock()
    page.goto(f"{api.url}#/memories")
    undo = forget(page, TEA["content"])
    undo.hover()
    page.clock.run_for(3 * UNDO_MS)
    undo.focus()
    page.mouse.move(0, 0)
    page.clock.run_for(3 * UNDO_MS)
    page.keyboard.press("Enter")
    expect(card(page, TEA["content"])).to_be_visible()
    assert api.memory("茶/1") is not None


def test_whoever_leaves_the_page_has_forgotten(page: Page, api: Api) -> None:
    forget(page, TEA["content"])
    forget(page, HABIT["content"])
    page.goto(f"{api.url}openapi.json")
    until = (
        time.monotonic() + PATIENCE_SECONDS
    )  # the requests outlive the page, which cannot be asked for them
    while (left := {memory["id"] for memory in api.memories()}) != {"release", "turn-1"}:
        assert time.monotonic() < until, left


def test_what_could_not_be_forgotten_comes_back(visit: Visits, api: Api) -> None:
    api.remember(TEA)
    visitor = visit()
    visitor.expect_trouble("500")
    page = visitor.stop_the_clock()

    def fail(route: Route) -> None:
        if route.request.method == "DELETE":
            route.fulfill(status=500, body="oops")
        else:
            route.continue_()

    page.route("**/memories/*", fail)
    page.goto(f"{api.url}#/memories")
    forget(page, TEA["content"])
    page.clock.run_for(UNDO_MS)
    expect(card(page, TEA["content"])).to_be_visible()
    expect(page.get_by_role("region", name="Notices")).to_contain_text("could not be forgotten")


# --- where from ---


def test_a_memory_leads_back_to_the_message_that_it_comes_from(page: Page, api: Api) -> None:
    api.say("chat/项目", {"id": "m1", "role": "user", "content": "那我们下周三开会吧"})
    card(page, TURN["content"]).get_by_role("link", name="View message").click()
    said = page.get_by_role("listitem").filter(has_text="那我们下周三开会吧").last
    expect(said).to_be_focused()


def test_a_memory_that_comes_from_nowhere_has_no_dead_link(page: Page) -> None:
    tea = card(page, TEA["content"])
    tea.get_by_text("Details").click()
    expect(tea.get_by_text("Times used")).to_be_visible()
    expect(tea.get_by_role("link")).to_have_count(1)  # to the memory itself


def test_one_memory_has_an_address_of_its_own(page: Page) -> None:
    card(page, TEA["content"]).get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"#/memories/%E8%8C%B6%2F1$"))
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("饮品偏好")
