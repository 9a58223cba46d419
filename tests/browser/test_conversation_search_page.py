"""A place in what was said: found by words in all conversations or in one, by a date, or at the beginning."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import PHONE, Visits

START = datetime(2026, 2, 17, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _said(api: Api) -> None:
    def of_day(day: int) -> dict[str, str]:
        content = f"Day {day}" + (" we drank green TEA" if day % 150 == 10 else "")
        time = (START + timedelta(days=day)).isoformat()
        return {"id": f"m{day}", "role": "user", "content": content, "timestamp": time}

    api.say("long", *map(of_day, range(400)))
    api.say("中文", {"role": "user", "content": "我只喝绿茶，不喝咖啡", "timestamp": START.isoformat()})


def search(page: Page, words: str) -> Locator:
    page.get_by_role("searchbox", name="Search in all conversations").fill(words)
    page.keyboard.press("Enter")
    return page.get_by_role("region", name="Conversations", exact=True).get_by_role("listitem")


def test_what_was_said_is_found_in_all_conversations_and_narrowed_by_date_and_app(visit: Visits) -> None:
    page = visit().go("conversations")
    hits = search(page, "tea green")
    expect(hits).to_have_count(3)
    expect(hits.first.locator("mark")).to_have_text(["green", "TEA"])
    hits.last.get_by_role("link").click()
    expect(page.locator(".is-wanted")).to_contain_text("Day 10 we drank")
    expect(hits).to_have_count(3)
    expect(hits.last.get_by_role("link")).to_have_attribute("aria-current", "true")
    expect(search(page, "绿茶")).to_have_count(1)
    expect(hits.first).to_contain_text("中文")
    search(page, "qwxz vvkkj")
    expect(page.get_by_text("Nothing was found")).to_be_visible()
    expect(page.get_by_text("Try fewer of them")).to_be_visible()

    expect(search(page, "tea")).to_have_count(3)
    page.get_by_label("From", exact=True).fill("2026-05-01")
    page.get_by_label("From", exact=True).press("Tab")
    expect(hits).to_have_count(2)
    page.get_by_label("To", exact=True).fill("2026-12-01")
    page.get_by_label("To", exact=True).press("Tab")
    expect(hits).to_have_count(1)
    expect(hits).to_contain_text("Day 160")
    page.get_by_label("App", exact=True).fill("no such app")
    page.get_by_label("App", exact=True).press("Enter")
    expect(page).to_have_url(re.compile("app=no"))
    page.get_by_role("button", name="Clear search").click()
    expect(hits).to_have_count(2)  # the conversations


def test_one_conversation_is_searched_by_words_and_a_date_and_has_a_beginning(visit: Visits) -> None:
    page = visit().go("conversations/long")
    wanted = page.locator(".is-wanted")
    expect(page.get_by_text("Day 399", exact=True)).to_be_visible()
    page.get_by_role("button", name="To the first message").click()
    expect(wanted).to_contain_text("Day 0")
    expect(page.get_by_text("The conversation begins here.")).to_be_visible()

    page.get_by_role("button", name="Find in this conversation").click()
    bar = page.get_by_role("region", name="Find in this conversation")
    bar.get_by_role("searchbox").fill("tea")
    page.keyboard.press("Enter")
    expect(bar.get_by_role("listitem")).to_have_count(3)
    bar.get_by_role("link").first.click()
    expect(wanted).to_contain_text("Day 310 we drank")
    expect(wanted).to_be_focused()

    # 8 August: the same keys whether the browser asks for the month or the day first.  At the pace of a person, in ms.
    bar.get_by_label("Go to a date").press_sequentially("08082026", delay=100)
    expect(wanted).to_contain_text("Day 172")
    expect(wanted).to_be_focused()
    expect(wanted).to_be_in_viewport()


def test_on_a_phone_a_conversation_takes_the_place_of_the_list_and_hits_lead_there(visit: Visits) -> None:
    visitor = visit(size=PHONE)
    page = visitor.go("conversations")
    page.get_by_role("link", name="我只喝绿茶").click()
    expect(page.get_by_role("heading", name="Conversations", exact=True)).to_be_hidden()
    page.get_by_role("link", name="All conversations").click()
    expect(page.get_by_role("link", name="我只喝绿茶")).to_be_visible()

    visitor.go("conversations?q=tea")
    hits = page.get_by_role("region", name="Conversations", exact=True).get_by_role("listitem")
    expect(hits).to_have_count(3)
    hits.get_by_role("link").first.click()
    expect(page.locator(".is-wanted")).to_contain_text("Day 310")
    page.go_back()
    expect(hits).to_have_count(3)
