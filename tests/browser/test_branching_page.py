"""Branches on the page: to go on from a message, to say one otherwise, to have one answered again."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visitor, Visits

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
    """Return the other conversations than this one."""
    listed = [one["conversation"] for one in api.conversations()]
    return [one for one in listed if one["conversationId"] != conversation_id]


def test_what_a_user_said_is_said_otherwise_in_a_branch_that_is_saved_once(
    visitor: Visitor, api: Api
) -> None:
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
        else:
            page.get_by_role("button", name="Cancel").click()
        expect(edit).to_be_focused()
        expect(message(page, "去哪里？")).to_be_visible()


def test_what_has_nothing_before_it_is_said_otherwise_in_a_conversation_of_its_own(
    visit: Visits, api: Api
) -> None:
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
    message(page, "去青岛").get_by_role("button", name="Branch from here").click()
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
        page.get_by_role("button", name="Clear conversation").click()
        question = page.get_by_role("dialog", name="Clear this conversation?")
        question.get_by_role("checkbox", name="Clear the branches, too").set_checked(with_branches)
        question.get_by_role("button", name="Clear conversation").click()
        expect(page.get_by_role("region", name="Notices")).to_contain_text(told.format(branch))
        left = {one["conversation"]["conversationId"] for one in api.conversations()}
        assert trip not in left
        assert (branch in left) is not with_branches
        if not with_branches:
            assert contents(api, branch) == ["答得简短", "去哪里？"]
