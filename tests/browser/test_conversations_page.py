"""The chat history page: conversations, what is said in them, and what is said meanwhile."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visitor, Visits

PROJECT: Final = "chat/项目 ?#%&"
AT_ONCE: Final = 600  # messages that the page holds at most
MESSAGES: Final = [{"id": f"m{n}", "role": "user", "content": f"第 {n} 条"} for n in range(AT_ONCE + 50)]
"""More than the page holds, and more than it reads at once when it looks for one."""


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


def test_what_is_said_and_cleared_meanwhile_appears_and_who_clears_is_asked(page: Page, api: Api) -> None:
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
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
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
    expect(question).to_contain_text("Its message is deleted")
    question.get_by_role("button", name="Clear conversation").click()
    expect(page.get_by_text("1 message was deleted.")).to_be_visible()
    expect(page.get_by_role("link", name="秘密")).to_be_hidden()
    expect(page.get_by_role("link", name="留下")).to_be_visible()
    assert [entry["conversation"]["conversationId"] for entry in api.conversations()] == ["other"]


EVENTS: Final = "**/events?*"
QUESTION: Final = {"role": "user", "content": "Where do we meet?"}


def end(route: Route) -> None:
    route.fulfill(headers={"Content-Type": "text/event-stream"}, body=": that was all\n\n")


def test_a_link_is_mended_and_what_happened_meanwhile_is_shown_once(visit: Visits, api: Api) -> None:
    api.say("lunch", QUESTION)
    api.say("dinner", QUESTION)
    visitor = visit()
    visitor.expect_trouble("status of 503", "status of 404")
    asked: list[str] = []

    def break_off(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fulfill(status=503)
        elif len(asked) == 2:
            api.say("lunch", {"role": "assistant", "content": "在老地方见。"})
            end(route)
        else:
            route.continue_()

    visitor.page.route(EVENTS, break_off)
    page = visitor.go("conversations/lunch")
    expect(page.get_by_role("img", name="Connecting again …")).to_be_visible()
    said = page.get_by_role("region", name="lunch").get_by_text("在老地方见。", exact=True)
    expect(said).to_have_count(1)
    expect(page.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    assert asked[0] == asked[1] == asked[2]

    def clear(route: Route) -> None:
        api.clear("dinner")
        end(route)

    page.unroute(EVENTS)
    page.route(EVENTS, clear, times=1)
    visitor.go("conversations/dinner")
    expect(page.get_by_text("This conversation was cleared.")).to_be_visible()


def test_a_hidden_tab_holds_no_connection_and_catches_up(page: Page, api: Api) -> None:
    api.say("lunch", QUESTION)
    api.say("dinner", {"role": "user", "content": "9" * 20})  # a text, and no large number
    shown = conversation(page, api, "lunch")
    expect(shown.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    change = "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
    change += " document.dispatchEvent(new Event('visibilitychange')); }"
    with page.expect_event("requestfailed", lambda request: "/events?" in request.url):
        page.evaluate(change, True)
    api.say("lunch", {"role": "assistant", "content": "在老地方见。"})
    page.evaluate(change, False)
    expect(shown.get_by_text("在老地方见。", exact=True)).to_have_count(1)

    page.evaluate(change, True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/events?" in request.url else None)
    page.evaluate("location.hash = '#/conversations/dinner'")
    other = page.get_by_role("region", name="dinner")
    expect(other.get_by_text("9" * 20, exact=True)).to_have_count(1)
    api.say("dinner", {"role": "assistant", "content": "在家。"})
    assert asked == []
    page.evaluate(change, False)
    expect(messages(other)).to_have_count(2)


def test_events_that_are_refused_are_not_asked_for_for_ever(visit: Visits, api: Api) -> None:
    api.say("lunch", QUESTION)
    visitor = visit()
    visitor.expect_trouble("status of 403")
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=403, json={"tag": "ForbiddenError", "title": "No", "status": 403})

    page = visitor.stop_the_clock()
    page.route(EVENTS, refuse)
    visitor.go("conversations/lunch")
    expect(page.get_by_role("img", name="do not appear by themselves any more")).to_be_visible()
    page.clock.run_for("05:00")
    assert len(asked) == 1


SAID: Final = (
    {"id": "s", "role": "system", "content": "答得简短"},
    {"id": "u1", "role": "user", "content": "去哪里？"},
    {"id": "a1", "role": "assistant", "content": "去青岛。"},
    {"id": "u2", "role": "user", "content": "坐火车吗？", "metadata": {"item": "坐火车吗？"}},
    {"id": "a2", "role": "assistant", "content": "坐。"},
)


@pytest.fixture
def visitor(visit: Visits, api: Api) -> Visitor:
    api.say("trip", *SAID)
    visitor = visit()
    expect(message(visitor.go("conversations/trip"), "坐。")).to_be_visible()
    return visitor


def message(page: Page, text: str) -> Locator:
    return page.locator(".pane-detail").get_by_role("listitem").filter(has_text=text)


def contents(api: Api, conversation_id: str) -> Sequence[str]:
    return [one["content"] for one in api.messages(conversation_id)]


def branches(api: Api, conversation_id: str) -> Sequence[dict[str, Any]]:
    listed = [one["conversation"] for one in api.conversations()]
    return [one for one in listed if one["conversationId"] != conversation_id]


def test_what_a_user_said_is_said_otherwise_in_a_branch_saved_once(visitor: Visitor, api: Api) -> None:
    page = visitor.page
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        """Let the server do what it was asked, and the browser not hear of it."""
        if lost or route.request.method != "POST":
            route.continue_()
            return
        lost.append(route.fetch().text())
        route.abort()

    visitor.expect_trouble("ERR_FAILED", "/messages")
    page.route("**/messages", lose_the_first)
    for text, edits, again in (("答得简短", 0, 0), ("去哪里", 1, 0), ("去青岛", 0, 1)):
        shown = message(page, text)
        expect(shown.get_by_role("button", name="Edit in a branch")).to_have_count(edits)
        expect(shown.get_by_role("button", name="Answer again in a branch")).to_have_count(again)
    expect_an_edit_to_be_left(page)
    assert not branches(api, "trip")

    message(page, "坐火车吗").get_by_role("button", name="Edit in a branch").press("Enter")
    field = page.get_by_label("What was said, otherwise")
    expect(field).to_be_focused()
    expect(field).to_have_value("坐火车吗？")
    save = page.get_by_role("button", name="Save in a branch")
    for same in ("坐火车吗？", "  \n"):
        field.fill(same)
        expect(save).to_be_disabled()
    field.fill("坐飞机吗？")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(save).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    save.click()
    expect(message(page, "坐飞机吗？")).to_be_visible()
    expect(message(page, "坐火车吗？")).to_be_hidden()
    [branch] = branches(api, "trip")
    assert branch["forkedFrom"]["conversationId"] == "trip"
    assert contents(api, branch["conversationId"]) == ["答得简短", "去哪里？", "去青岛。", "坐飞机吗？"]
    assert not api.messages(branch["conversationId"])[-1]["metadata"]
    assert contents(api, "trip") == [one["content"] for one in SAID]
    listed = page.get_by_role("region", name="Conversations").get_by_role("link")
    expect(listed.first).to_contain_text("branch of trip")


def expect_an_edit_to_be_left(page: Page) -> None:
    """Leave the form in either way; the keyboard is where it was."""
    edit = page.get_by_role("button", name="Edit in a branch").first
    for leave in ("Escape", "Cancel"):
        edit.click()
        expect(edit).to_have_attribute("aria-expanded", "true")
        page.get_by_label("What was said, otherwise").fill("另一句")
        if leave == "Escape":
            page.keyboard.press("Escape")
            expect(page.get_by_text("Press Esc again")).to_be_visible()
            page.keyboard.press("Escape")
        else:
            page.get_by_role("button", name="Cancel").click()
        expect(edit).to_be_focused()
        expect(message(page, "去哪里？")).to_be_visible()


def test_what_has_nothing_before_it_is_said_otherwise_elsewhere(visit: Visits, api: Api) -> None:
    name = "行程/" * 128  # as long as an id may be
    api.say(name, {"role": "user", "content": "第一句"}, {"role": "assistant", "content": "好"})
    page = visit().go("conversations")
    page.get_by_role("link", name="第一句").click()
    message(page, "第一句").get_by_role("button", name="Edit in a branch").click()
    page.get_by_label("What was said, otherwise").fill("换一句")
    page.get_by_role("button", name="Save in a branch").click()
    expect(message(page, "换一句")).to_be_visible()
    [begun] = branches(api, name)
    assert begun["forkedFrom"] is None
    assert contents(api, begun["conversationId"]) == ["换一句"]

    api.say("greeting", {"role": "assistant", "content": "你好！"})
    page.goto(f"{api.url}#/conversations/greeting")
    message(page, "你好！").get_by_role("button", name="Answer again in a branch").click()
    expect(page.get_by_role("region", name="Notices")).to_contain_text("Nothing stands before this answer")
    assert len(api.conversations()) == 3


def test_an_answer_is_asked_for_again_and_a_branch_is_begun_at_a_message(visitor: Visitor, api: Api) -> None:
    page = visitor.page
    message(page, "去青岛").get_by_role("button", name="Answer again in a branch").press("Enter")
    expect(message(page, "去青岛")).to_be_hidden()
    expect(page.get_by_role("region", name="Notices")).to_contain_text("ends before the answer")
    [branch] = branches(api, "trip")
    name = branch["conversationId"]
    assert contents(api, name) == ["答得简短", "去哪里？"]
    expect(page.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    api.say(name, {"role": "assistant", "content": "去大连。"})
    expect(message(page, "去大连。")).to_be_visible()

    visitor.go("conversations/trip")
    message(page, "去青岛").get_by_role("button", name="Branch from here").dblclick()
    expect(message(page, "坐。")).to_be_hidden()
    expect(message(page, "去青岛")).to_be_visible()
    [begun] = [one["conversationId"] for one in branches(api, "trip") if one["conversationId"] != name]
    assert contents(api, begun) == ["答得简短", "去哪里？", "去青岛。"]
    assert contents(api, "trip") == [one["content"] for one in SAID]


def test_who_clears_decides_for_the_branches_and_is_told_what_became_of_them(visit: Visits, api: Api) -> None:
    visitor = visit()
    page = visitor.page
    for with_branches, told in (
        (False, "still in its branch {}."),
        (True, "Its branch {} was cleared with it."),
    ):
        trip, branch = (f"{name}-{uuid4()}" for name in ("trip", "branch"))  # an id is never used twice
        api.say(trip, *({"role": one["role"], "content": one["content"]} for one in SAID))
        api.fork(trip, branch, at=api.messages(trip)[1]["id"])
        visitor.go(f"conversations/{trip}")
        expect(message(page, "坐。")).to_be_visible()
        expect(page.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
        page.get_by_role("button", name="Clear conversation").click()
        question = page.get_by_role("dialog", name="Clear this conversation?")
        expect(question).to_contain_text("messages are deleted")
        question.get_by_role("checkbox", name="Clear the branches, too").set_checked(with_branches)
        question.get_by_role("button", name="Clear conversation").click()
        expect(page.get_by_role("region", name="Notices")).to_contain_text(told.format(branch))
        left = {one["conversation"]["conversationId"] for one in api.conversations()}
        assert trip not in left
        assert (branch in left) is not with_branches
        if not with_branches:
            assert contents(api, branch) == ["答得简短", "去哪里？"]
