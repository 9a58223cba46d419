"""New messages of a conversation arrive although the connection that brings them breaks."""

from playwright.sync_api import Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

EVENTS = "**/events?*"


def test_what_was_said_while_the_link_was_down_appears_once(visit: Visits, api: Api) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    asked: list[str] = []

    def break_off(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
            return
        api.say("lunch", {"role": "assistant", "content": "在老地方见。"})
        route.fulfill(headers={"Content-Type": "text/event-stream"}, body=": that was all\n\n")

    visitor = visit()
    visitor.page.route(EVENTS, break_off)
    page = visitor.go("conversations/lunch")
    expect(page.get_by_text("在老地方见。", exact=True)).to_have_count(1)
    expect(page.get_by_role("img", name="New messages appear by themselves")).to_be_visible()
    assert asked[1] == asked[0]


def test_a_server_that_fails_for_a_while_is_asked_again(visit: Visits, api: Api) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    visitor = visit(language="zh-CN")
    visitor.expect_trouble("status of 503")
    failures = iter([True, True])
    visitor.page.route(
        EVENTS, lambda route: route.fulfill(status=503) if next(failures, None) else route.continue_()
    )
    page = visitor.go("conversations/lunch")
    expect(page.get_by_role("img", name="正在重新连接…")).to_be_visible()
    expect(page.get_by_role("img", name="新消息会自动显示")).to_be_visible()


def test_a_conversation_that_was_cleared_while_the_link_was_down_is_said_to_be(
    visit: Visits, api: Api
) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
    visitor = visit()
    visitor.expect_trouble("status of 404")

    def break_off(route: Route) -> None:
        api.clear("lunch")
        route.fulfill(headers={"Content-Type": "text/event-stream"}, body=": that was all\n\n")

    visitor.page.route(EVENTS, break_off, times=1)
    page = visitor.go("conversations/lunch")
    expect(page.get_by_text("This conversation was cleared.")).to_be_visible()


def test_events_that_are_refused_are_not_asked_for_for_ever(visit: Visits, api: Api) -> None:
    api.say("lunch", {"role": "user", "content": "Where do we meet?"})
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
