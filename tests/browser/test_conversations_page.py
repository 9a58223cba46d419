"""The chat history page: conversations, what is said in them, and what is said meanwhile."""

import subprocess
import sys
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import PHONE, Visits

PROJECT: Final = "chat/项目 ?#%&"
MESSAGES: Final = tuple(
    {"id": f"m{number}", "role": "user", "content": f"第 {number} 条"} for number in range(1000)
)
AT_ONCE: Final = 600  # messages that the page holds at most


@pytest.fixture
def page(visit: Visits) -> Page:
    return visit().page


def conversation(page: Page, api: Api, conversation_id: str, message_id: str | None = None) -> Locator:
    """Open a conversation and return the part of the page that shows it."""
    where = f"{api.url}#/conversations/{quote(conversation_id, safe='')}"
    page.goto(where if message_id is None else f"{where}?message={quote(message_id, safe='')}")
    shown = page.get_by_role("region", name=conversation_id)
    expect(shown.get_by_role("heading", name=conversation_id)).to_be_visible()
    return shown


def messages(shown: Locator) -> Locator:
    return shown.locator(".messages > .message")


def test_conversations_are_listed_last_changed_first(visit: Visits, api: Api) -> None:
    for name, opening in (("早", "你好，早上好"), (PROJECT, "The plan for March"), ("c-3", "")):
        api.say(name, {"role": "user", "content": opening}, {"role": "assistant", "content": "好"})
    page = visit().go("conversations")
    listed = page.get_by_role("region", name="Conversations").get_by_role("link")
    expect(listed.nth(0)).to_contain_text("c-3")
    expect(listed.nth(1)).to_contain_text("The plan for March")
    expect(listed.nth(1)).to_contain_text("2 messages")
    expect(listed.nth(2)).to_contain_text("你好，早上好")


@pytest.mark.parametrize("name", [".", ".."])
def test_a_conversation_that_is_named_by_dots_is_opened(page: Page, api: Api, name: str) -> None:
    api.say(name, {"role": "user", "content": "什么时候发布？"})
    page.goto(api.url)
    page.get_by_role("link", name="什么时候发布？").click()
    expect(messages(page.get_by_role("region", name=name, exact=True))).to_have_count(1)


def test_a_conversation_is_opened_from_the_list_and_left_again(page: Page, api: Api) -> None:
    api.say(
        PROJECT,
        {"role": "user", "content": "什么时候发布？"},
        {"role": "assistant", "content": "三月底。\n  - 先测试"},
        {"role": "assistant", "content": "还有：\n  先测试"},
    )
    page.goto(api.url)
    page.get_by_role("link", name="什么时候发布？").click()
    shown = page.get_by_role("region", name=PROJECT)
    expect(messages(shown)).to_have_count(3)
    expect(messages(shown).nth(0)).to_contain_text("User")
    expect(messages(shown).nth(1).get_by_role("listitem")).to_have_text("先测试")
    messages(shown).nth(1).get_by_role("button", name="As written").click()
    expect(messages(shown).nth(1)).to_contain_text("三月底。\n  - 先测试", use_inner_text=True)
    expect(messages(shown).nth(2)).to_contain_text("还有：\n  先测试", use_inner_text=True)
    page.go_back()
    expect(shown).to_be_hidden()
    expect(page.get_by_role("link", name="什么时候发布？")).to_be_visible()


def test_more_conversations_than_a_page_holds_are_loaded_when_asked_for(page: Page, api: Api) -> None:
    for number in range(60):
        api.say(f"c{number:02}", {"role": "user", "content": f"opening {number:02}"})
    page.goto(api.url)
    listed = page.get_by_role("region", name="Conversations").get_by_role("link")
    expect(listed).to_have_count(50)
    page.get_by_role("button", name="Load more").click()
    expect(listed).to_have_count(60)
    expect(listed.last).to_contain_text("opening 00")
    expect(page.get_by_role("button", name="Load more")).to_be_hidden()


def test_a_thousand_messages_are_read_page_by_page(page: Page, api: Api) -> None:
    api.say("long", *MESSAGES)
    shown = conversation(page, api, "long")
    expect(messages(shown)).to_have_count(100)
    expect(messages(shown).last).to_be_in_viewport()
    older = shown.get_by_role("button", name="Older messages")
    for held in range(200, AT_ONCE + 1, 100):
        older.click()
        expect(messages(shown)).to_have_count(held)
    for first in (300, 200, 100, 0):
        older.click()
        expect(messages(shown).first).to_contain_text(f"第 {first} 条")
        expect(messages(shown)).to_have_count(AT_ONCE)
    expect(shown.get_by_text("The conversation begins here.")).to_be_visible()
    for last in (699, 799, 899, 999):
        shown.get_by_role("button", name="Newer messages").click()
        expect(messages(shown).last).to_contain_text(f"第 {last} 条")
    expect(shown.get_by_role("button", name="Newer messages")).to_be_hidden()


def test_older_messages_come_in_above_without_moving_what_is_read(page: Page, api: Api) -> None:
    api.say("long", *MESSAGES[:300])
    shown = conversation(page, api, "long")
    read = messages(shown).filter(has_text="第 200 条")
    read.scroll_into_view_if_needed()
    before = read.bounding_box()
    shown.get_by_role("button", name="Older messages").evaluate("button => button.click()")
    expect(messages(shown)).to_have_count(200)
    after = read.bounding_box()
    assert before is not None
    assert after is not None
    assert after["y"] == pytest.approx(before["y"], abs=60)  # the button above may go or stay


def test_a_link_leads_to_a_message_however_long_ago_it_was_said(page: Page, api: Api) -> None:
    api.say("long", *MESSAGES)
    shown = conversation(page, api, "long", "m17")
    wanted = messages(shown).filter(has_text="第 17 条")
    expect(wanted).to_be_in_viewport()
    expect(wanted).to_be_focused()
    expect(wanted.get_by_role("link", name="Link to message")).to_have_attribute("aria-current", "location")
    shown.get_by_role("button", name="To the latest").click()
    expect(messages(shown).last).to_contain_text("第 999 条")


def test_a_link_to_a_message_that_is_gone_says_so(page: Page, api: Api) -> None:
    api.say("long", *MESSAGES[:3])
    shown = conversation(page, api, "long", "nobody")
    expect(shown.get_by_text("not in this conversation any more")).to_be_visible()
    expect(messages(shown)).to_have_count(3)


def test_an_unknown_conversation_is_said_to_be_unknown(visit: Visits) -> None:
    visitor = visit()
    visitor.expect_trouble("/conversations/nobody")
    page = visitor.go("conversations/nobody")
    expect(page.get_by_role("alert")).to_contain_text("does not exist")


def test_what_another_process_adds_appears_by_itself(page: Page, api: Api, folder: Path) -> None:
    api.say("shared", {"role": "user", "content": "开始"})
    shown = conversation(page, api, "shared")
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    writer = (
        sys.executable,
        "-m",
        "tests.reliability.programs.append_some",
        folder / "memory.db",
        "别的进程",
        "1",
    )
    subprocess.run(writer, input=b"\n", check=True, capture_output=True)
    added = [message["content"] for message in api.messages("shared")[1:]]
    assert added
    expect(messages(shown)).to_have_count(1 + len(added))
    expect(messages(shown).last).to_contain_text(added[-1])
    expect(messages(shown).last).to_be_in_viewport()


def test_what_is_said_meanwhile_waits_for_whoever_reads_further_up(page: Page, api: Api) -> None:
    api.say("long", *MESSAGES)
    shown = conversation(page, api, "long", "m17")
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    api.say("long", {"role": "assistant", "content": "刚说的"})
    expect(messages(shown).filter(has_text="第 17 条")).to_be_in_viewport()
    shown.get_by_role("button", name="1 new message").click()
    expect(messages(shown).last).to_contain_text("刚说的")


def test_clearing_asks_first_and_can_be_left(page: Page, api: Api) -> None:
    api.say(PROJECT, {"role": "user", "content": "秘密"})
    shown = conversation(page, api, PROJECT)
    clear = shown.get_by_role("button", name="Clear conversation")
    clear.click()
    question = page.get_by_role("dialog", name="Clear this conversation?")
    expect(question).to_contain_text("Its message is deleted")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(question.get_by_role("checkbox")).not_to_be_checked()
    expect(question.get_by_role("checkbox")).to_be_focused()
    page.keyboard.press("Tab")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    expect(clear).to_be_focused()
    assert len(api.messages(PROJECT)) == 1


def test_a_cleared_conversation_is_gone(visit: Visits, api: Api) -> None:
    page = visit().page
    api.say(PROJECT, {"role": "user", "content": "秘密"})
    api.say("other", {"role": "user", "content": "留下"})
    shown = conversation(page, api, PROJECT)
    shown.get_by_role("button", name="Clear conversation").click()
    page.get_by_role("dialog").get_by_role("button", name="Clear conversation").click()
    expect(page.get_by_text("1 message was deleted.")).to_be_visible()
    expect(page.get_by_role("link", name="秘密")).to_be_hidden()
    expect(page.get_by_role("link", name="留下")).to_be_visible()
    assert [entry["conversation"]["conversationId"] for entry in api.conversations()] == ["other"]


def test_a_conversation_that_somebody_else_clears_is_said_to_be_cleared(page: Page, api: Api) -> None:
    api.say("shared", {"role": "user", "content": "开始"})
    shown = conversation(page, api, "shared")
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    api.clear("shared")
    expect(shown.get_by_text("This conversation was cleared.")).to_be_visible()


def test_on_a_phone_a_conversation_takes_the_place_of_the_list(visit: Visits, api: Api) -> None:
    api.say("c", {"role": "user", "content": "你好"})
    page = visit(size=PHONE, language="zh-CN").go("conversations")
    page.get_by_role("link", name="你好").click()
    expect(page.get_by_role("heading", name="会话", exact=True)).to_be_hidden()
    page.get_by_role("link", name="全部会话").click()
    expect(page.get_by_role("link", name="你好")).to_be_visible()


def test_a_branch_is_begun_at_a_message_and_the_list_and_the_receipt_tell_of_it(page: Page, api: Api) -> None:
    api.say("trip", *({"role": "user", "content": text} for text in ("一", "二", "三")))
    shown = conversation(page, api, "trip")
    messages(shown).nth(1).get_by_role("button", name="Branch from here").click()
    listed = page.get_by_role("region", name="Conversations").get_by_role("link")
    expect(listed.nth(0)).to_contain_text("branch of trip")
    expect(listed.nth(0)).to_contain_text("2 messages")
    branch = page.locator(".pane-detail")
    expect(messages(branch)).to_have_count(2)
    shown = conversation(page, api, "trip")
    expect(messages(shown)).to_have_count(3)
    shown.get_by_role("button", name="Clear conversation").click()
    page.get_by_role("dialog").get_by_role("button", name="Clear conversation").click()
    expect(page.get_by_role("region", name="Notices")).to_contain_text("still in its branch trip~")
