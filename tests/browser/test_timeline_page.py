"""The timeline: what is remembered, by time and category, to look at, to walk through by keys, and to read."""

import re
from itertools import pairwise
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.api import Api
from tests.browser.visiting import PHONE, Visits

SURE: Final = {"pinned": True, "confidence": 0.5, "createdAt": "2026-03-02T09:00:00+08:00"}
TEA: Final = {"id": "茶", "content": "用户早上喝绿茶", "category": "preference", **SURE}
SHORT: Final = {"memoryType": "short_term", "createdAt": "2026-03-20T09:00:00+08:00"}
COFFEE: Final = {"id": "coffee", "content": "Coffee after lunch", "category": "preference", **SHORT}
IN_MARCH: Final = {"category": "fact", "createdAt": "2026-03-19T09:00:00+08:00"}
CITY: Final = {"id": "city", "content": "在北京工作", **IN_MARCH}
OLD: Final = {"id": "old", "content": "Lived in Xi'an", "createdAt": "2024-07-01T09:00:00+08:00"}
SHAPES: Final = "mark => [...mark.querySelectorAll('path, circle:not(.touch)')].map(shape => shape.tagName)"


@pytest.fixture
def page(visit: Visits, api: Api) -> Page:
    """The timeline of March 2026, in which three of four memories lie."""
    api.remember(TEA, COFFEE, CITY, OLD)
    return visit().go("timeline?range=month&at=2026-03-10")


def plot(page: Page) -> Locator:
    return page.get_by_role("group", name=re.compile("Memories by time and category"))


def walk(page: Page, *keys: str) -> Locator:
    """Press *keys* in the plot, one after the other, and return what has the focus."""
    for key in keys:
        page.keyboard.press(key)
    return page.locator(":focus")


def test_each_memory_is_a_link_that_says_all_of_it_and_is_pointed_at_opened_and_read(page: Page) -> None:
    expect(plot(page)).to_have_accessible_name("Memories by time and category: 3 in March 2026")
    expect(plot(page).get_by_role("link")).to_have_count(3)
    tea = plot(page).get_by_role("link", name="用户早上喝绿茶")
    said = re.compile("Mar 2, 2026, 9:00 AM, Preference, Long-term, Pinned, confidence 50%: ")
    expect(tea).to_have_accessible_name(said)
    assert tea.evaluate(SHAPES) == ["circle", "circle"]  # pinned: a ring
    assert plot(page).get_by_role("link", name="Coffee").evaluate(SHAPES) == ["path"]
    assert plot(page).get_by_role("link", name="北京").evaluate(SHAPES) == ["circle"]

    page.get_by_text("As a table (3)").click()
    rows = page.get_by_role("row")
    expect(rows).to_have_count(4)
    for row, text in enumerate(("Coffee after lunch", "在北京工作", "用户早上喝绿茶"), start=1):
        expect(rows.nth(row)).to_contain_text(text)
    expect(rows.nth(3)).to_contain_text("Preference")

    beside = page.locator(".timeline-detail")
    plot(page).get_by_role("link", name="北京").hover()
    expect(beside.get_by_text("在北京工作", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Open", exact=True)).to_have_attribute("href", "#/memories/city")
    plot(page).get_by_role("link", name="北京").click()
    expect(page.get_by_role("article")).to_contain_text("在北京工作")


def test_arrows_go_along_a_category_and_to_the_next_one_and_spans_stay_in_the_address(page: Page) -> None:
    page.get_by_role("button", name="Earlier").focus()  # Later cannot be pressed here
    expect(walk(page, "Tab")).to_have_accessible_name(re.compile("绿茶"))
    expect(walk(page, "ArrowRight")).to_have_accessible_name(re.compile("Coffee"))
    expect(walk(page, "ArrowDown")).to_have_accessible_name(re.compile("北京"))
    expect(walk(page, "ArrowRight")).to_have_accessible_name(re.compile("北京"))
    expect(walk(page, "ArrowUp")).to_have_accessible_name(re.compile("Coffee"))
    expect(walk(page, "Home")).to_have_accessible_name(re.compile("绿茶"))
    walk(page, "Enter")
    expect(page).to_have_url(re.compile(r"#/memories/%E8%8C%B6$"))
    page.go_back()
    expect(plot(page)).to_have_accessible_name(re.compile("March 2026"))

    page.get_by_role("radio", name="All", exact=True).check()
    expect(plot(page)).to_have_accessible_name(re.compile(": 4 in Jul 1, 2024"))
    page.get_by_role("radio", name="Week").check()
    expect(plot(page)).to_have_accessible_name(re.compile(": 2 in Mar 16.*22, 2026"))
    page.reload()
    expect(plot(page)).to_have_accessible_name(re.compile(": 2 in Mar 16.*22, 2026"))
    page.get_by_role("button", name="Earlier").click()
    expect(plot(page)).to_have_accessible_name(re.compile(": 0 in Mar 9.*15, 2026"))
    expect(page.get_by_text("Nothing was remembered in this time.")).to_be_visible()
    page.get_by_role("button", name="Later").click()
    expect(page.get_by_role("button", name="Later")).to_be_disabled()


def test_no_dot_hides_another_and_many_are_counted_in_bars_that_one_can_open(visit: Visits, api: Api) -> None:
    at_once = [{"content": f"at once {number}", "createdAt": "2026-03-05T08:00:00Z"} for number in range(5)]
    many = [
        {"content": f"第 {number} 条", "category": "fact", "createdAt": f"2026-03-05T{number % 24:02}:00:00Z"}
        for number in range(120)
    ]
    api.remember(OLD, *at_once, *many)
    page = visit().go("timeline")
    dots = plot(page).get_by_role("link", name="at once")
    expect(dots).to_have_count(len(at_once))
    boxes = [dot.bounding_box() for dot in dots.locator("circle.disc").all()]
    tops = sorted(box["y"] for box in boxes if box)
    heights = [box["height"] for box in boxes if box]
    assert len(tops) == len(at_once)
    assert all(lower - upper >= max(heights) for upper, lower in pairwise(tops))

    bar = plot(page).get_by_role("button", name="120 memories, March 2026")
    expect(bar).to_be_visible()
    expect(page.get_by_text("A bar counts memories where dots would hide each other.")).to_be_visible()
    bar.click()
    expect(plot(page)).to_have_accessible_name(re.compile(": 125 in March 2026"))


def test_a_finger_shows_a_memory_first_and_opens_it_then(visit: Visits, api: Api) -> None:
    api.remember(TEA, CITY)
    page = visit(size=PHONE).go("timeline")
    dot = plot(page).get_by_role("link", name="北京")
    dot.tap()
    expect(page.get_by_role("link", name="Open", exact=True)).to_have_attribute("href", "#/memories/city")
    dot.tap()
    expect(page.get_by_role("article")).to_contain_text("在北京工作")


def test_only_the_newest_are_loaded_and_the_page_says_so(visit: Visits, api: Api) -> None:
    api.remember(CITY)
    (stored,) = api.memories()
    newest_first = [
        {**stored, "id": f"m{number}", "createdAt": f"{2025 - number // 1200}-03-05T08:00:00Z"}
        for number in range(2400)
    ]

    def answer(route: Route) -> None:
        """Give a page of more memories than a test can write."""
        asked = parse_qs(urlsplit(route.request.url).query)
        start = int(asked.get("after", ["0"])[0])
        end = start + int(asked["limit"][0])
        following = str(end) if end < len(newest_first) else None
        route.fulfill(json={"memories": newest_first[start:end], "next": following})

    visitor = visit()
    visitor.page.route("**/memories?*", answer)
    page = visitor.go("timeline?range=year&at=2024-05-01")
    shown = "The timeline shows the 2,000 newest memories, back to March 5, 2024."
    expect(page.get_by_text(shown)).to_be_visible()
    expect(plot(page).get_by_text("at least 800")).to_be_visible()
    page.get_by_role("button", name="Load older ones").click()
    expect(plot(page)).to_have_accessible_name(re.compile(": 1200 in 2024"))
    expect(page.get_by_role("button", name="Load older ones")).to_be_hidden()
