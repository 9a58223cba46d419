"""Past chats: what was said with other tools, to read and to search; nothing of it can be changed."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.api import Api
from tests.browser.keys import press, tab_to
from tests.browser.visiting import PHONE, Visits


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, index_of_histories: Path) -> Path:
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(index_of_histories, folder / "pastchats.db")
    return folder


def found(page: Page, query: str) -> None:
    page.get_by_role("searchbox", name="Search past chats").fill(query)
    form = page.get_by_role("search", name="Search past chats")
    form.get_by_role("button", name="Search", exact=True).click()


def test_past_chats_are_searched_with_reasons_narrowed_by_tool_and_read(visit: Visits) -> None:
    visitor = visit()
    page = visitor.go("past-chats")
    listed = page.get_by_role("region", name="Past chats").get_by_role("listitem")
    found(page, "database is locked")
    expect(page.get_by_role("status").filter(has_text="turns found")).to_be_visible()
    expect(page.get_by_role("region", name="Before a task")).to_be_hidden()  # the search is wide
    expect(listed.first.get_by_role("group", name="Why it was found")).to_contain_text("Score")
    listed.first.get_by_role("link").click()
    expect(page.locator("[aria-current=location]")).to_be_in_viewport()
    page.reload()
    expect(page.get_by_role("searchbox", name="Search past chats")).to_have_value("database is locked")
    found(page, "🦄🦄")
    expect(page.get_by_text("Nothing was found.")).to_be_visible()

    visitor.go("past-chats")
    expect(listed.nth(1)).to_be_visible()
    page.get_by_role("combobox", name="Tool").select_option("codex_cli")
    expect(listed).to_have_count(1)
    listed.filter(has_text="Codex CLI").get_by_role("link").click()
    expect(page.get_by_role("main").get_by_role("link", name="Link to turn").first).to_be_visible()
    expect(page.get_by_text("The chat begins here.")).to_be_visible()
    expect(page.get_by_text("BEGIN IMMEDIATE", exact=False).first).to_be_visible()
    for name in ("Clear", "Delete", "Edit", "Forget"):  # nothing of it can be changed
        expect(page.get_by_role("main").get_by_role("button", name=name)).to_have_count(0)


def test_what_was_said_long_ago_can_be_saved_and_found_again(visit: Visits, api: Api) -> None:
    page = visit().go("past-chats")
    found(page, "BEGIN IMMEDIATE")
    page.get_by_role("region", name="Past chats").get_by_role("listitem").first.get_by_role("link").click()
    turn = page.get_by_role("listitem").filter(has=page.locator("[aria-current=location]"))
    turn.get_by_role("button", name="Save to long-term memory").click()
    dialog = page.get_by_role("dialog", name="Save to long-term memory")
    expect(dialog).to_have_attribute("aria-busy", "false")
    dialog.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Open it").click()
    (memory,) = api.memories()
    path, _, index = memory["provenance"]["path"].rpartition("#")
    assert path.endswith(".jsonl")
    page.get_by_role("link", name="View past chat").click()
    turn = page.get_by_role("link", name=f"Link to turn {index}", exact=True)
    expect(turn).to_have_attribute("aria-current", "location")


def test_before_a_task_it_says_what_worked_what_failed_and_where_also_on_a_phone(visit: Visits) -> None:
    visitor = visit()
    page = visitor.go("past-chats")
    page.get_by_role("searchbox", name="What are you about to do?").fill("add retries to the webhook sender")
    page.get_by_role("region", name="Before a task").get_by_role("button", name="Search").click()
    exchange = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Worked")).first
    expect(exchange).to_be_visible()
    expect(page.get_by_role("heading", name="Failed").first).to_be_visible()
    expect(page.get_by_role("button", name="Copy code").first).to_be_visible()  # it is Markdown
    page.get_by_text("The block for a prompt").click()
    expect(page.get_by_text("# Memory Recall", exact=False)).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy for a prompt").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("# Memory Recall")
    page.reload()  # the address keeps the task
    expect(exchange).to_be_visible()
    exchange.get_by_role("link", name="Where it was said").first.click()
    expect(page.locator("[aria-current=location]")).to_be_in_viewport()
    visitor.go("past-chats?view=task&task=bake+sourdough+bread")
    expect(page.get_by_text("Nothing in the past chats belongs to this task.")).to_be_visible()
    page = visit(size=PHONE).go("past-chats")
    page.get_by_role("link", name="Before a task").click()
    expect(page.get_by_role("searchbox", name="What are you about to do?")).to_be_visible()
    page.get_by_role("link", name="All past chats").click()
    expect(page.get_by_role("region", name="Past chats")).to_be_visible()
    page = visit(language="zh-CN", theme="dark", size=PHONE).go("past-chats?q=timeout")
    expect(page.get_by_role("main").get_by_role("listitem").first).to_be_visible()
    expect(page.get_by_text("加载中")).to_have_count(0)


def test_before_a_task_the_keyboard_alone_leads_from_the_question_to_a_source_and_the_block(
    visit: Visits,
) -> None:
    page = visit().go("past-chats")
    tab_to(page, page.get_by_role("searchbox", name="What are you about to do?"))
    page.keyboard.type("add retries to the webhook sender")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Worked").first).to_be_visible()
    press(page, page.get_by_text("The block for a prompt"))
    expect(page.get_by_text("# Memory Recall", exact=False)).to_be_visible()
    page.reload()
    press(page, page.get_by_role("link", name="Where it was said").first)
    expect(page.locator("[aria-current=location]")).to_be_in_viewport()
