"""New messages of a conversation arrive although the connection that brings them breaks."""

from typing import Final

from playwright.sync_api import Route, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits

EVENTS: Final = "**/events?*"
QUESTION: Final = {"role": "user", "content": "Where do we meet?"}


def end(route: Route) -> None:
    """End the stream before anything has come."""
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
