"""The memory page: to search, edit, promote, pin and forget what is remembered, and to see where it comes from."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits
from tests.patience import PATIENCE_SECONDS

ON_TEA: Final = {"key": "饮品偏好", "category": "preference", "tags": ["饮食"]}
TEA: Final = {"id": "茶/1", "content": "用户早上喝绿茶，不加糖", **ON_TEA}
LAST_WEEK: Final = "The release is planned for the last week of March."
RELEASE: Final = {"id": "release", "content": LAST_WEEK, "category": "fact"}
HABIT: Final = {"id": "habit", "content": "Reviews pull requests before ten", "category": "pattern"}
OF_A_CHAT: Final = {"source": "inferred", "sessionId": "chat/项目", "memoryType": "short_term"}
FROM: Final = {"messageIds": ["m1"], "extractor": "rules"}
TURN: Final = {"id": "turn-1", "content": "我们下周三开会", **OF_A_CHAT, "provenance": FROM}
UNDO_MS: Final = 8_000


@pytest.fixture
def page(visit: Visits, api: Api) -> Page:
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


def test_memories_are_listed_newest_first_and_filtered_by_the_address(page: Page, api: Api) -> None:
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
    written = (newest["content"], newest["category"], newest["tags"])
    assert written == ("周末去爬山，带上水", "pattern", ["户外", "周末"])
    assert (newest["source"], newest["provenance"]["extractor"]) == ("user_stated", "person")
    assert first["content"] == "周末去爬山"


def test_a_memory_is_edited_and_nothing_is_lost_when_others_were_quicker(visit: Visits, api: Api) -> None:
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


def forget(page: Page, text: object) -> Locator:
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
    until = time.monotonic() + PATIENCE_SECONDS  # the requests outlive the page, which cannot be asked
    while (left := {memory["id"] for memory in api.memories()}) != {"release", "turn-1"}:
        assert time.monotonic() < until, left


def test_a_memory_has_an_address_and_leads_back_to_its_message(page: Page, api: Api) -> None:
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


def test_each_kind_has_its_count_which_leads_there(visit: Visits, api: Api) -> None:
    api.remember(
        {"id": "a", "content": "Drinks green tea", "category": "preference"},
        {"id": "b", "content": "在北京工作", "category": "fact"},
        {"id": "c", "content": "Ships on Thursdays", "category": "fact", "source": "inferred"},
        {"id": "d", "content": "没有类别", "memoryType": "short_term"},
    )
    page = visit().go("memories")
    facets = page.get_by_role("group", name="How many memories")
    expect(facets).to_contain_text("4 memories")
    counts = ("Fact 2", "Preference 1", "Long-term 2", "Short-term 2", "stated by the user 3", "inferred 1")
    for name in counts:
        expect(facets.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(facets).to_contain_text("No category 1")

    fact = facets.get_by_role("button", name="Fact 2", exact=True)
    inferred = facets.get_by_role("button", name="inferred 1")
    fact.click()
    expect(cards(page)).to_have_count(2)
    expect(fact).to_have_attribute("aria-pressed", "true")
    expect(facets).to_contain_text("2 memories")
    expect(facets.get_by_role("button", name="Preference 1")).to_be_visible()  # which are still there
    expect(page.get_by_role("combobox", name="Category")).to_have_value("fact")
    inferred.click()
    expect(cards(page)).to_have_count(1)
    expect(facets).to_contain_text("1 memory")
    page.reload()
    expect(cards(page)).to_have_count(1)
    inferred.click()
    fact.click()
    expect(cards(page)).to_have_count(4)

    # The counts follow what is changed and forgotten.
    short = cards(page).filter(has_text="没有类别")
    short.get_by_role("button", name="Make long-term").click()
    expect(facets.get_by_role("button", name="Long-term 3")).to_be_visible()
    short.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Dismiss").last.click()
    expect(facets).to_contain_text("3 memories")

    # What is true no longer is shown when it is asked for.
    api.client.post("/memories/a/supersede", json={"memory": {"content": "Drinks oolong"}}).raise_for_status()
    page.get_by_role("combobox", name="State").select_option("ended")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("Drinks green tea")
    expect(cards(page)).to_contain_text("Superseded")
    expect(facets).to_contain_text("1 memory")
    page.get_by_role("combobox", name="Source").select_option("inferred")
    expect(cards(page)).to_have_count(0)
    expect(page.get_by_text("No memory fits these filters.")).to_be_visible()


def test_the_newest_change_comes_first_and_each_is_taken_back(visit: Visits, api: Api) -> None:
    memory_id = f"m-{uuid4()}"  # of which nothing is on record: the log outlives what is forgotten
    api.remember({"id": memory_id, "content": "Drinks green tea", "category": "preference"})
    api.correct(memory_id, content="Drinks white tea")
    page = visit().go(f"memories/{memory_id}")
    memory = page.get_by_role("article")
    changes = page.locator(".history-events > li")
    take_back = page.get_by_role("button", name="Take this back")
    page.get_by_text("History", exact=True).click()
    expect(changes).to_have_count(2)
    expect(changes.first).to_contain_text("Corrected")
    expect(changes.first).to_contain_text("Drinks green tea")  # which it said before
    expect(changes.last).to_contain_text("Remembered")

    api.client.put(f"/memories/{memory_id}/pin", json={"pinned": True}).raise_for_status()
    take_back.click()  # the correction, which the page has shown; what came meanwhile stays
    expect(memory).to_contain_text("Drinks green tea")
    expect(changes).to_have_count(4)
    expect(changes.first).to_contain_text("to take a change back")
    expect_pinned(api, memory_id, "Drinks green tea")
    take_back.click()
    expect(memory).to_contain_text("Drinks white tea")

    unpin = page.get_by_role("button", name="Unpin", exact=True)
    unpin.click()
    expect(changes.first).to_contain_text("No longer pinned")
    take_back.click()
    expect(memory.get_by_text("Pinned", exact=True)).to_be_visible()
    expect_pinned(api, memory_id, "Drinks white tea")
    unpin.click()
    expect(changes.first).to_contain_text("No longer pinned")

    succeed_and_take_back(page, api, memory_id)
    assert [memory["content"] for memory in api.memories()] == ["Drinks white tea"]


def expect_pinned(api: Api, memory_id: str, content: str) -> None:
    memory = api.memory(memory_id)
    assert memory is not None
    assert (memory["content"], memory["pinned"]) == (content, True)


def succeed_and_take_back(page: Page, api: Api, memory_id: str) -> None:
    """Put another memory in the place of one, see it one click away, and let it give way."""
    successor = {"memory": {"content": "Drinks oolong"}}
    api.client.post(f"/memories/{memory_id}/supersede", json=successor).raise_for_status()
    page.reload()
    page.get_by_text("History", exact=True).click()
    newest = page.locator(".history-events > li").first
    expect(newest).to_contain_text("Superseded")
    expect(newest.get_by_role("link", name="What took its place")).to_be_visible()
    page.get_by_role("button", name="Take this back").click()
    expect(newest).to_contain_text("True again")


OF_MANY_ORIGINS: Final[Sequence[Mapping[str, object]]] = (
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
    expect(cards(page)).to_have_count(len(contents))
    assert [memory["content"] for memory in api.memories()] == [*contents]


def confirm(page: Page, question: Locator, said: str) -> None:
    expect(question).to_contain_text(said)
    expect(question).to_contain_text("Nothing brings them back.")
    question.get_by_role("button", name="Forget").click()
    expect(page.get_by_text(FORGOTTEN).last).to_be_visible()


def test_what_is_chosen_is_forgotten_once_it_is_confirmed(visit: Visits, api: Api) -> None:
    for memory in OF_MANY_ORIGINS:
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
    api.remember({"content": "of the editor"}, app="编辑器")
    api.remember({"content": "of the browser"}, app="browser")
    page = visit().go("memories?app=编辑器")
    confirm(page, choose(page, "all"), "Every memory that the app “编辑器” sees goes")
    assert [memory["content"] for memory in api.memories()] == ["of the browser"]
