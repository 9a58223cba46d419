"""The page for everybody: assistive technology, the keyboard alone, a phone, no motion, either theme and language."""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Final
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

pytest.importorskip("axe_playwright_python", reason="no axe: pip install axe-playwright-python")

from tests.browser.api import Api
from tests.browser.reflow import misplaced
from tests.browser.visiting import Language, Theme, Visitor, Visits
from tests.thorough import thorough

PREFERENCE: Final = "我喜欢用 Python 写代码，因为它简洁易读"
AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
LOADING: Final = re.compile("Loading|加载中")
NOWHERE: Final = re.compile("There is nothing at|此地址没有内容")


@pytest.fixture(autouse=True)
def _something_to_show(api: Api) -> None:
    api.say(
        "talk", {"id": "m1", "role": "user", "content": PREFERENCE}, {"role": "assistant", "content": "好的"}
    )
    api.say(
        "rich",
        {
            "role": "assistant",
            "content": "# 计划\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> see https://example.org/x",
            "metadata": {"tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}]},
        },
        {"role": "tool", "content": "[]", "metadata": {"tool_call_id": "1"}},
    )
    api.fork("rich", f"branch {uuid4()}")  # an id is never used twice
    api.remember(
        {
            "id": "a",
            "content": "Drinks green tea",
            "key": "drink",
            "category": "preference",
            "tags": ["food"],
        },
        {"id": "b", "content": "在北京工作", "category": "fact", "pinned": True},
        {"id": "c", "content": "Ships on Thursdays", "category": "pattern", "memoryType": "short_term"},
        {"id": "d", "content": "没有类别", "sessionId": "talk", "provenance": {"messageIds": ["m1"]}},
    )


def look(page: Page) -> None:
    expect(page.get_by_role("heading").first).to_be_visible()


def open_save_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("long-term memory|长期记忆")).first.click()
    expect(page.get_by_role("dialog")).to_have_attribute("aria-busy", "false")


def open_edit_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Edit|编辑")).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_new_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("New memory|新建记忆")).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_edit_form(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Edit in a branch|在分支中编辑")).click()
    expect(page.get_by_role("textbox")).to_be_focused()


def open_clear_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Clear conversation|清空会话")).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_forget_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Forget many|批量忘记")).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_forget_question(page: Page) -> None:
    open_forget_dialog(page)
    page.get_by_role("combobox", name=re.compile("Which memories|哪些记忆")).select_option("all")
    page.get_by_role("button", name=re.compile("Continue|继续")).click()
    expect(page.get_by_role("heading", name=re.compile("for good|永久忘记"))).to_be_visible()


def open_value_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Change|修改")).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_delete_question(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Delete|删除")).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def forget_one(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^(Forget|忘记)$")).first.click()
    expect(page.get_by_role("button", name=re.compile("Undo|撤销"))).to_be_visible()


def open_table(page: Page) -> None:
    page.get_by_text(re.compile("As a table|以表格显示")).click()
    expect(page.get_by_role("table")).to_be_visible()


def see_as_a_model(page: Page) -> None:
    expect(page.get_by_role("region", name=re.compile("Memories, and why|记忆及原因"))).to_be_visible()
    expect(
        page.get_by_role("region", name=re.compile("Forks|分支")).get_by_role("listitem").first
    ).to_be_visible()


def find_something(page: Page) -> None:
    page.get_by_role("button", name=re.compile("Find in this|在此会话中查找")).click()
    page.get_by_role("searchbox").last.fill("python")
    page.keyboard.press("Enter")
    expect(page.locator(".found-here mark").first).to_be_visible()


def unfold_a_tool(page: Page) -> None:
    page.get_by_text(re.compile("tool call|次工具调用")).click()
    expect(page.get_by_role("table")).to_be_visible()


VIEWS: Final[Mapping[str, tuple[str, Callable[[Page], None]]]] = {
    "conversations": ("conversations", look),
    "a conversation": ("conversations/talk", look),
    "the save dialog": ("conversations/talk", open_save_dialog),
    "the form of an edit": ("conversations/talk", open_edit_form),
    "the question before clearing": ("conversations/talk", open_clear_dialog),
    "what a model would see": (
        "conversations/rich?view=model&say=Python&strategy=summarize&tokens=500",
        see_as_a_model,
    ),
    "a search in all conversations": ("conversations?q=python", look),
    "a search that finds nothing": ("conversations?q=qwxzv", look),
    "a search in one conversation": ("conversations/talk", find_something),
    "Markdown and a tool call": ("conversations/rich", unfold_a_tool),
    "memories": ("memories", look),
    "memories that ended": ("memories?state=ended&category=fact", look),
    "a search": ("memories?query=tea", look),
    "one memory": ("memories/a", look),
    "the edit dialog": ("memories/a", open_edit_dialog),
    "the dialog for a new memory": ("memories", open_new_dialog),
    "the dialog to forget many": ("memories", open_forget_dialog),
    "the question before forgetting many": ("memories", open_forget_question),
    "values": ("values", look),
    "the dialog for a value": ("values", open_value_dialog),
    "the question before deleting a value": ("values", open_delete_question),
    "the timeline": ("timeline", look),
    "the timeline as a table": ("timeline", open_table),
    "settings": ("settings", look),
    "no such place": ("nowhere", look),
    "the notice with undo": ("memories", forget_one),  # which stays
}


def walk(visitor: Visitor) -> Iterator[str]:
    """Go from view to view of a page that is loaded once."""
    for view, (place, act) in VIEWS.items():
        nowhere = visitor.go("nowhere").get_by_role("heading", name=NOWHERE)
        expect(nowhere).to_be_visible()  # and what was open is closed
        if place != "nowhere":
            visitor.go(place)
            expect(nowhere).to_have_count(0)
        act(visitor.page)
        expect(visitor.page.get_by_text(LOADING)).to_have_count(0)
        yield view


@pytest.mark.parametrize(
    ("language", "theme"), [pytest.param("en-GB", "light", marks=thorough), ("zh-CN", "dark")]
)
def test_every_view_suits_assistive_technology_and_every_window(
    visit: Visits, api: Api, language: Language, theme: Theme
) -> None:
    api.say("a-very-long-id-" * 8, {"role": "user", "content": "https://example.org/" + "long" * 60})
    api.remember({"content": "word" * 80, "tags": ["tag" * 30], "key": "key" * 40}, app="app" * 40)
    visitor = visit(language=language, theme=theme, is_calm=True)
    visitor.is_kept = False
    found = {view: [*violations(visitor.page), *misplaced(visitor.page)] for view in walk(visitor)}
    assert len(found) == len(VIEWS)
    assert {view: findings for view, findings in found.items() if findings} == {}


def violations(page: Page) -> list[str]:
    """Return what axe finds, however small."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return [
        f"{finding['impact']} {finding['id']}: {node['html']}: {node['failureSummary']}"
        for finding in page.evaluate("axe.run().then(({violations}) => violations)")
        for node in finding["nodes"]
    ]


def test_every_view_opens_by_its_address_as_it_opens_from_another_view(visit: Visits) -> None:
    visitor = visit()
    heading = visitor.page.get_by_role("main").get_by_role("heading").first
    for place in dict.fromkeys(place for place, _ in VIEWS.values()):
        visitor.go("nowhere")
        expect(heading).to_have_text(NOWHERE)
        visitor.go(place)
        if place != "nowhere":
            expect(heading).not_to_have_text(NOWHERE)
        expect(visitor.page.get_by_text(LOADING)).to_have_count(0)
        said = heading.inner_text()
        visitor.page.goto("about:blank")
        visitor.go(place)
        expect(heading).to_have_text(said)
        expect(visitor.page.get_by_text(LOADING)).to_have_count(0)


def test_nothing_moves_for_those_who_want_no_motion(visit: Visits, api: Api) -> None:
    page = visit(is_calm=True).page
    page.route("**/memory/extract", lambda route: None)
    page.goto(f"{api.url}#/conversations/talk")
    page.get_by_role("button", name="Save to long-term memory").first.click()
    expect(page.get_by_role("dialog")).to_have_attribute("aria-busy", "true")
    moving = "document.getAnimations().filter(({playState}) => playState === 'running').length"
    assert page.evaluate(moving) == 0


@pytest.mark.parametrize(("language", "tag"), [("en-GB", "en"), ("zh-CN", "zh-CN")])
def test_the_document_says_its_language_and_where_one_is(visit: Visits, language: Language, tag: str) -> None:
    page = visit(language=language).go("memories")
    expect(page.locator("html")).to_have_attribute("lang", tag)
    expect(page).to_have_title(re.compile("Memories|记忆"))
    expect(page.get_by_role("navigation").locator("[aria-current=page]")).to_have_text(
        re.compile("Memories|记忆")
    )


def test_language_and_theme_are_chosen_and_remembered(visit: Visits) -> None:
    page = visit().go("settings")
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="设置")).to_be_visible()
    page.get_by_label("外观").select_option("dark")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.reload()
    expect(page.get_by_role("heading", name="设置")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark
    page.get_by_label("外观").select_option("light")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark


# --- the keyboard alone ---

FOCUSED: Final = """() => {
    const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(document.activeElement);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
}"""
MANY: Final = 120


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until *wanted* has the focus, which can be seen."""
    expect(wanted).to_be_visible()
    for _ in range(MANY):
        if wanted.evaluate("element => element === document.activeElement"):
            assert page.evaluate(FOCUSED), f"the focus cannot be seen on {wanted}"
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab never comes to {wanted}")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    tab_to(page, wanted)
    page.keyboard.press(key)


def test_the_first_tab_leads_past_the_navigation(visit: Visits) -> None:
    page = visit().go("memories")
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    press(page, page.get_by_role("link", name="Skip to the content"))
    expect(page.get_by_role("main")).to_be_focused()
    press(page, page.get_by_role("button", name="New memory"))
    expect(page.get_by_role("dialog")).to_be_visible()


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


def test_memories_are_found_edited_promoted_and_forgotten_with_the_keyboard_alone(
    visit: Visits, api: Api
) -> None:
    page = visit().go("memories")
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


def test_a_dialog_keeps_the_focus_inside(visit: Visits) -> None:
    page = visit().go("memories")
    page.get_by_role("button", name="New memory").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="New memory")).to_be_focused()
