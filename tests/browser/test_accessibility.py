"""The page for everybody: assistive technology, the keyboard alone, a phone, no motion, either theme and language."""

import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.api import Api
from tests.browser.keys import press, tab_to
from tests.browser.visiting import DESKTOP, PHONE, Language, Theme, Visitor, Visits
from tests.thorough import thorough

MARKDOWN: Final = (
    "# 计划\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> see https://example.org/x"
)
PICTURES: Final = os.environ.get("PAGE_SCREENSHOTS")
"""A folder for pictures of every view."""
PREFERENCE: Final = "我喜欢用 Python 写代码，因为它简洁易读"
AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
LOADING: Final = re.compile("Loading|加载中")
NOWHERE: Final = re.compile("There is nothing at|此地址没有内容")
SAVE: Final = "long-term memory|长期记忆"
FORGET_MANY: Final = "Forget many|批量忘记"


@pytest.fixture(autouse=True)
def _something_to_show(api: Api) -> None:
    asked = {"id": "m1", "role": "user", "content": PREFERENCE}
    api.say("talk", asked, {"role": "assistant", "content": "好的"})
    call = {"tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}]}
    rich = {"role": "assistant", "content": MARKDOWN, "metadata": call}
    api.say("rich", rich, {"role": "tool", "content": "[]", "metadata": {"tool_call_id": "1"}})
    api.fork("rich", f"branch {uuid4()}")  # an id is never used twice
    of_tea = {"key": "drink", "category": "preference", "tags": ["food"]}
    api.remember(
        {"id": "a", "content": "Drinks green tea", **of_tea},
        {"id": "b", "content": "在北京工作", "category": "fact", "pinned": True},
        {"id": "c", "content": "Ships on Thursdays", "category": "pattern", "memoryType": "short_term"},
        {"id": "d", "content": "没有类别", "sessionId": "talk", "provenance": {"messageIds": ["m1"]}},
    )
    api.put_value("theme", "dark")


def look(page: Page) -> None:
    expect(page.get_by_role("heading").first).to_be_visible()


def opening(button: str) -> Callable[[Page], None]:
    """Give what presses the first button of this name, and waits for the dialog that it opens."""

    def press_it(page: Page) -> None:
        page.get_by_role("button", name=re.compile(button)).first.click()
        expect(page.get_by_role("dialog")).to_have_attribute("aria-busy", "false")

    return press_it


def open_edit_form(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Edit in a branch|在分支中编辑")).click()
    expect(page.get_by_role("textbox")).to_be_focused()


def open_forget_question(page: Page) -> None:
    opening(FORGET_MANY)(page)
    page.get_by_role("combobox", name=re.compile("Which memories|哪些记忆")).select_option("all")
    page.get_by_role("button", name=re.compile("Continue|继续")).click()
    expect(page.get_by_role("heading", name=re.compile("for good|永久忘记"))).to_be_visible()


def forget_one(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^(Forget|忘记)$")).first.click()
    expect(page.get_by_role("button", name=re.compile("Undo|撤销"))).to_be_visible()


def open_table(page: Page) -> None:
    page.get_by_text(re.compile("As a table|以表格显示")).click()
    expect(page.get_by_role("table")).to_be_visible()


def see_as_a_model(page: Page) -> None:
    expect(page.get_by_role("region", name=re.compile("Memories, and why|记忆及原因"))).to_be_visible()
    forks = page.get_by_role("region", name=re.compile("Forks|分支"))
    expect(forks.get_by_role("listitem").first).to_be_visible()


def find_something(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Find in this|在此会话中查找")).click()
    page.get_by_role("searchbox").last.fill("python")
    page.keyboard.press("Enter")
    expect(page.locator(".found-here mark").first).to_be_visible()


def unfold_a_tool(page: Page) -> None:
    page.get_by_text(re.compile("tool call|次工具调用")).click()
    expect(page.get_by_role("table")).to_be_visible()


MODEL_VIEW: Final = "conversations/rich?view=model&say=Python&strategy=summarize&tokens=500"
VIEWS: Final[Mapping[str, tuple[str, Callable[[Page], None]]]] = {
    "conversations": ("conversations", look),
    "a conversation": ("conversations/talk", look),
    "the save dialog": ("conversations/talk", opening(SAVE)),
    "the form of an edit": ("conversations/talk", open_edit_form),
    "the question before clearing": ("conversations/talk", opening("Clear conversation|清空会话")),
    "what a model would see": (MODEL_VIEW, see_as_a_model),
    "a search in all conversations": ("conversations?q=python", look),
    "a search that finds nothing": ("conversations?q=qwxzv", look),
    "a search in one conversation": ("conversations/talk", find_something),
    "Markdown and a tool call": ("conversations/rich", unfold_a_tool),
    "memories": ("memories", look),
    "memories that ended": ("memories?state=ended&category=fact", look),
    "a search": ("memories?query=tea", look),
    "one memory": ("memories/a", look),
    "the edit dialog": ("memories/a", opening("Edit|编辑")),
    "the dialog for a new memory": ("memories", opening("New memory|新建记忆")),
    "the dialog to forget many": ("memories", opening(FORGET_MANY)),
    "the question before forgetting many": ("memories", open_forget_question),
    "values": ("values", look),
    "the dialog for a value": ("values", opening("Change|修改")),
    "the timeline": ("timeline", look),
    "the timeline as a table": ("timeline", open_table),
    "settings": ("settings", look),
    "no such place": ("nowhere", look),
    "the notice with undo": ("memories", forget_one),  # which stays
}
LISTS: Final = ("conversations", "memories?query=tea", "values", "timeline", "settings")
ADDRESSES: Final = (*LISTS, "conversations/talk", "memories/a", MODEL_VIEW)
"""A place of each kind."""


def open_anew(visitor: Visitor, place: str) -> None:
    """Go to *place* from one where nothing is, so that what was open is closed."""
    nowhere = visitor.go("nowhere").get_by_role("heading", name=NOWHERE)
    expect(nowhere).to_be_visible()
    if place != "nowhere":
        visitor.go(place)
        expect(nowhere).to_have_count(0)


def walk(visitor: Visitor) -> Iterator[str]:
    """Go from view to view of a page that is loaded once."""
    for view, (place, act) in VIEWS.items():
        open_anew(visitor, place)
        act(visitor.page)
        expect(visitor.page.get_by_text(LOADING)).to_have_count(0)
        if PICTURES:
            language = visitor.page.locator("html").get_attribute("lang")
            visitor.page.screenshot(path=Path(PICTURES) / f"{view} {language}.png")
        yield view


@pytest.mark.parametrize(
    ("language", "theme", "tag"),
    [pytest.param("en-GB", "light", "en", marks=thorough), ("zh-CN", "dark", "zh-CN")],
)
def test_every_view_suits_assistive_technology_and_every_window(
    visit: Visits, api: Api, language: Language, theme: Theme, tag: str
) -> None:
    api.say("a-very-long-id-" * 8, {"role": "user", "content": "https://example.org/" + "long" * 60})
    api.remember({"content": "word" * 80, "tags": ["tag" * 30], "key": "key" * 40}, app="app" * 40)
    visitor = visit(language=language, theme=theme, is_calm=True)
    visitor.is_kept = False
    found = {view: [*violations(visitor.page), *misplaced(visitor.page)] for view in walk(visitor)}
    assert len(found) == len(VIEWS)
    assert {view: findings for view, findings in found.items() if findings} == {}
    expect(visitor.page.locator("html")).to_have_attribute("lang", tag)
    expect_calm(visitor)


def violations(page: Page) -> list[str]:
    """Return what axe finds, however small."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return [
        f"{finding['impact']} {finding['id']}: {node['html']}: {node['failureSummary']}"
        for finding in page.evaluate(
            "axe.run({resultTypes: ['violations']}).then(({violations}) => violations)"
        )
        for node in finding["nodes"]
    ]


def expect_calm(visitor: Visitor) -> None:
    """Expect that nothing moves for those who want no motion, also where something is waited for."""
    page = visitor.page
    page.route("**/memory/extract", lambda route: None)
    open_anew(visitor, "conversations/talk")
    page.get_by_role("button", name=re.compile(SAVE)).first.click()
    expect(page.get_by_role("dialog")).to_have_attribute("aria-busy", "true")
    moving = "document.getAnimations().filter(({playState}) => playState === 'running').length"
    assert page.evaluate(moving) == 0


def test_every_view_opens_by_its_address_as_from_another_view_and_says_where_one_is(visit: Visits) -> None:
    visitor = visit()
    page = visitor.page
    heading = page.get_by_role("main").get_by_role("heading").first
    for place in ADDRESSES:
        open_anew(visitor, place)
        expect(page.get_by_text(LOADING)).to_have_count(0)
        said = heading.inner_text()
        page.reload()
        expect(heading).to_have_text(said)
        expect(page.get_by_text(LOADING)).to_have_count(0)
    visitor.go("memories")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page).to_have_title(re.compile("Memories"))
    expect(page.get_by_role("navigation").locator("[aria-current=page]")).to_have_text("Memories")


def test_language_and_appearance_are_chosen_and_remembered(visit: Visits) -> None:
    page = visit().go("settings")
    document = page.locator("html")
    page.get_by_role("button", name="中文").click()
    page.get_by_label("外观").select_option("dark")
    for _ in range(2):
        expect(page.get_by_role("heading", name="设置", level=1)).to_be_visible()
        expect(document).to_have_attribute("lang", "zh-CN")
        expect(document).to_have_attribute("data-theme", "dark")
        dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        page.reload()
    page.get_by_label("外观").select_option("light")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark
    page.get_by_role("combobox", name="语言").select_option("en")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    expect(document).to_have_attribute("lang", "en")


def test_a_message_is_saved_with_the_keyboard_alone(visit: Visits, api: Api) -> None:
    page = visit().go("conversations")
    tab_to(page, page.get_by_role("region", name="Conversations").get_by_role("link").first)
    page.keyboard.press("End")  # the list is one stop of Tab
    expect(page.get_by_role("link", name=PREFERENCE)).to_be_focused()
    page.keyboard.press("Enter")
    press(page, page.get_by_role("button", name="Save to long-term memory").first)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_attribute("aria-busy", "false")
    tab_to(page, dialog.get_by_label("Key", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type("最喜欢的语言")
    tab_to(page, dialog.get_by_label("Category"))
    page.keyboard.press("ArrowDown")
    tab_to(page, dialog.get_by_label("Confidence"))
    page.keyboard.press("End")
    press(page, dialog.get_by_role("button", name="Save", exact=True))
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Save to long-term memory").first).to_be_focused()
    memory = api.memories()[0]
    assert (memory["key"], memory["category"], memory["confidence"]) == ("最喜欢的语言", "fact", 1)


def test_memories_are_found_edited_promoted_and_forgotten_by_the_keyboard(visit: Visits, api: Api) -> None:
    page = visit().go("memories")
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    press(page, page.get_by_role("link", name="Skip to the content"))
    expect(page.get_by_role("main")).to_be_focused()
    press(page, page.get_by_role("button", name="New memory"))
    expect_the_focus_to_stay_inside(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="New memory")).to_be_focused()
    tab_to(page, page.get_by_role("searchbox", name="Search memories"))
    page.keyboard.type("Thursdays")
    page.keyboard.press("Enter")
    found = page.get_by_role("article").filter(has_text="Ships on Thursdays")
    press(page, found.get_by_role("button", name="Edit"))
    dialog = page.get_by_role("dialog")
    tab_to(page, dialog.get_by_label("Content"))
    page.keyboard.press("Control+End")
    page.keyboard.type(" evenings")
    press(page, dialog.get_by_role("button", name="Save"))
    expect(found).to_contain_text("Ships on Thursdays evenings")
    press(page, found.get_by_role("button", name="Make long-term"), "Space")
    expect(found).to_contain_text("Long-term")
    press(page, found.get_by_role("button", name="Forget"))
    expect(found).to_be_hidden()
    press(page, page.get_by_role("button", name="Undo"))
    expect(found).to_be_visible()
    press(page, found.get_by_role("button", name="Forget"))
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        press(page, page.get_by_role("button", name="Dismiss").last)
    expect(found).to_be_hidden()
    assert api.memory("c") is None


def test_what_a_model_would_see_is_tried_by_the_keyboard(visit: Visits) -> None:
    page = visit().go("conversations/talk")
    press(page, page.get_by_role("link", name="What would the model see?"))
    tab_to(page, page.get_by_role("textbox", name="What the user says next"))
    page.keyboard.type("Which language do I like?")
    tab_to(page, page.get_by_role("combobox", name="Strategy"))
    page.keyboard.press("End")
    press(page, page.get_by_role("button", name="Show"))
    expect(page.get_by_role("region", name="Messages, in order")).to_contain_text("Which language do I like?")
    tab_to(page, page.get_by_role("slider"))
    expect(page.get_by_text("As of: now")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.get_by_text("As of: now")).to_have_count(0)


def expect_the_focus_to_stay_inside(page: Page) -> None:
    expect(page.get_by_role("dialog")).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        focused = "document.activeElement"
        assert page.evaluate(f"{focused} === document.body || !!{focused}.closest('dialog')")


SIZES: Final = {
    "a phone": PHONE,
    "320 px": ViewportSize(width=320, height=640),
    "zoom of 200 %": ViewportSize(width=640, height=400),  # what is left of 1280 by 800
}

# What may be wider than its room scrolls inside of itself: code and tables, which the keyboard can scroll, too.
WRONG: Final = """() => {
    const wide = document.documentElement.clientWidth;
    const named = element => `${element.tagName.toLowerCase()}.${element.className.baseVal ?? element.className}`
        + ` "${element.textContent.trim().slice(0, 40)}"`;
    const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const mayScroll = element => element.matches("pre, .table-scroll, .table-frame") && element.tabIndex >= 0;
    const inScroller = element => {
        for (let one = element; one; one = one.parentElement) if (mayScroll(one)) return true;
        return false;
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        if (!element.checkVisibility({visibilityProperty: true})) continue;
        if (element.closest(".visually-hidden, .skip, svg")) continue;
        if (scrolls(element) && element.scrollWidth > element.clientWidth + 1 && !inScroller(element))
            found.push(`scrolls sideways: ${named(element)}`);
        const {left, right, width} = element.getBoundingClientRect();
        if (width > 1 && (left < -1 || right > wide + 1) && !inScroller(element))
            found.push(`outside: ${named(element)} from ${left} to ${right} of ${wide}`);
        if (element.matches("button, a, label, h1, h2, h3, dt, summary, .badge, select, option") && !inScroller(element)
            && !scrolls(element) && getComputedStyle(element).overflowX !== "visible"
            && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
            found.push(`cut: ${named(element)}`);
    }
    return [...new Set(found)];
}"""


def misplaced(page: Page) -> Sequence[str]:
    """Look at the view in every size of the window and of the letters, and return what is wrong in any of them."""
    found = []
    for name, size in SIZES.items():
        page.set_viewport_size(size)
        found += [f"{name}: {wrong}" for wrong in page.evaluate(WRONG)]
    page.set_viewport_size(DESKTOP)
    with letters_twice_as_large(page):
        found += [f"text of 200 %: {wrong}" for wrong in page.evaluate(WRONG)]
    return found


@contextmanager
def letters_twice_as_large(page: Page) -> Generator[None]:
    """Make the letters of the browser twice as large, as its settings do: rem and the media queries follow."""
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    yield
    browser.send("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
    browser.detach()
