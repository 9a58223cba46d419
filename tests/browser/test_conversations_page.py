"""The chat history page: conversations, what is said in them, and what is said meanwhile."""

from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

PROJECT: Final = "chat/项目 ?#%&"
AT_ONCE: Final = 600  # messages that the page holds at most
MESSAGES: Final = tuple(
    {"id": f"m{number}", "role": "user", "content": f"第 {number} 条"} for number in range(AT_ONCE + 50)
)
"""More than the page holds, and more than it reads at once when it looks for one."""


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


def test_conversations_are_listed_last_changed_first_opened_and_left(visit: Visits, api: Api) -> None:
    good = {"role": "assistant", "content": "好"}
    written = "三月底。\n  - 先测试"
    api.say("早", {"role": "user", "content": "你好，早上好"}, good)
    for name, opening in ((".", "here"), ("..", "above")):
        api.say(name, {"role": "user", "content": opening})
    answers = ({"role": "assistant", "content": text} for text in (written, "还有：\n  先测试"))
    api.say(PROJECT, {"role": "user", "content": "什么时候发布？"}, *answers)
    api.say("c-3", {"role": "user", "content": ""}, good)
    visitor = visit()
    visitor.expect_trouble("/conversations/nobody")
    page = visitor.page
    page.goto(api.url)
    listed = page.get_by_role("region", name="Conversations").get_by_role("link")
    for place, text in enumerate(("c-3", "什么时候发布？", "above", "here", "你好，早上好")):
        expect(listed.nth(place)).to_contain_text(text)
    expect(listed.nth(1)).to_contain_text("3 messages")

    listed.nth(1).click()
    shown = page.get_by_role("region", name=PROJECT)
    expect(messages(shown)).to_have_count(3)
    expect(messages(shown).nth(0)).to_contain_text("User")
    expect(messages(shown).nth(1).get_by_role("listitem")).to_have_text("先测试")
    messages(shown).nth(1).get_by_role("button", name="As written").click()
    expect(messages(shown).nth(1)).to_contain_text(written, use_inner_text=True)
    expect(messages(shown).nth(2)).to_contain_text("还有：\n  先测试", use_inner_text=True)
    page.go_back()
    expect(shown).to_be_hidden()
    for name, place in (("..", 2), (".", 3)):  # which a browser takes for folders
        listed.nth(place).click()
        expect(messages(page.get_by_role("region", name=name, exact=True))).to_have_count(1)
    visitor.go("conversations/nobody")
    expect(page.get_by_role("alert")).to_contain_text("does not exist")


def test_a_long_conversation_is_read_from_any_message_to_both_ends(page: Page, api: Api) -> None:
    api.say("long", *MESSAGES)
    shown = conversation(page, api, "long", "m17")
    wanted = messages(shown).filter(has_text="第 17 条")
    expect(wanted).to_be_in_viewport()
    expect(wanted).to_be_focused()
    expect(wanted.get_by_role("link", name="Link to message")).to_have_attribute("aria-current", "location")
    expect(shown.get_by_role("button", name="To the latest")).to_be_visible()
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()

    api.say("long", {"role": "assistant", "content": "刚说的"})
    expect(shown.get_by_role("button", name="1 new message")).to_be_visible()
    expect(wanted).to_be_in_viewport()  # whoever reads further up stays there
    shown.get_by_role("button", name="1 new message").click()
    expect(messages(shown)).to_have_count(100)
    expect(messages(shown).last).to_contain_text("刚说的")
    expect(messages(shown).last).to_be_in_viewport()

    expect_older_ones_to_move_nothing(shown, read="第 551 条")
    older = shown.get_by_role("button", name="Older messages")
    for held in range(300, AT_ONCE + 1, 100):
        older.click()
        expect(messages(shown)).to_have_count(held)
    older.click()
    expect(messages(shown).first).to_contain_text("第 0 条")
    expect(messages(shown)).to_have_count(AT_ONCE)
    expect(shown.get_by_text("The conversation begins here.")).to_be_visible()
    shown.get_by_role("button", name="Newer messages").click()
    expect(messages(shown).last).to_contain_text("刚说的")
    expect(messages(shown)).to_have_count(AT_ONCE)
    expect(shown.get_by_role("button", name="Newer messages")).to_be_hidden()

    shown = conversation(page, api, "long", "nobody")
    expect(shown.get_by_text("not in this conversation any more")).to_be_visible()
    expect(messages(shown)).to_have_count(100)


def expect_older_ones_to_move_nothing(shown: Locator, *, read: str) -> None:
    """Let older messages come in above the one that is *read*."""
    message = messages(shown).filter(has_text=read)
    message.scroll_into_view_if_needed()
    before = message.bounding_box()
    shown.get_by_role("button", name="Older messages").evaluate("button => button.click()")
    expect(messages(shown)).to_have_count(200)
    after = message.bounding_box()
    assert before is not None
    assert after is not None
    assert after["y"] == pytest.approx(before["y"], abs=60)  # the button above may go or stay


def test_what_is_said_and_cleared_meanwhile_appears_and_who_clears_is_asked_first(
    page: Page, api: Api
) -> None:
    for name, opening in (("shared", "开始"), ("other", "留下"), (PROJECT, "秘密")):
        api.say(name, {"role": "user", "content": opening})
    shown = conversation(page, api, "shared")
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    api.say("shared", *MESSAGES[:40])
    expect(messages(shown)).to_have_count(41)
    expect(messages(shown).last).to_be_in_viewport()
    api.clear("shared")
    expect(shown.get_by_text("This conversation was cleared.")).to_be_visible()

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

    clear.click()
    question.get_by_role("button", name="Clear conversation").click()
    expect(page.get_by_text("1 message was deleted.")).to_be_visible()
    expect(page.get_by_role("link", name="秘密")).to_be_hidden()
    expect(page.get_by_role("link", name="留下")).to_be_visible()
    assert [entry["conversation"]["conversationId"] for entry in api.conversations()] == ["other"]
