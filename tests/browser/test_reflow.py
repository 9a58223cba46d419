"""A narrow window and large letters: everything is there, in reach, and nothing is scrolled sideways."""

from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser import test_accessibility
from tests.browser.api import Api
from tests.browser.test_accessibility import VIEWS, walk
from tests.browser.visiting import Language, Visits
from tests.thorough import thorough

NARROWEST: Final = ViewportSize(width=320, height=640)
ZOOMED: Final = ViewportSize(width=640, height=400)
"""What is left of 1280 by 800 at 200 %."""
DESKTOP: Final = ViewportSize(width=1280, height=800)

# What may be wider than its room scrolls inside of itself: code and tables, which the keyboard can scroll, too.
WRONG: Final = """() => {
    const wide = document.documentElement.clientWidth;
    const named = element => `${element.tagName.toLowerCase()}.${element.className.baseVal ?? element.className}`
        + ` "${element.textContent.trim().slice(0, 40)}"`;
    const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const mayScroll = element => element.matches("pre, .table-scroll, .table-frame") && element.tabIndex >= 0;
    const inScroller = element => {
        for (let one = element; one; one = one.parentElement) if (mayScroll(one)) return true;
        return false;
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        if (!element.checkVisibility({visibilityProperty: true})) continue;
        if (element.closest(".visually-hidden, .skip, svg")) continue;
        if (scrolls(element) && element.scrollWidth > element.clientWidth + 1 && !inScroller(element))
            found.push(`scrolls sideways: ${named(element)}`);
        const {left, right, width} = element.getBoundingClientRect();
        if (width > 1 && (left < -1 || right > wide + 1) && !inScroller(element))
            found.push(`outside: ${named(element)} from ${left} to ${right} of ${wide}`);
        if (element.matches("button, a, label, h1, h2, h3, dt, summary, .badge, select, option") && !inScroller(element)
            && !scrolls(element) && getComputedStyle(element).overflowX !== "visible"
            && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
            found.push(`cut: ${named(element)}`);
    }
    return [...new Set(found)];
}"""

_something_to_show = test_accessibility._something_to_show


def as_it_is(page: Page) -> None:
    """Leave the letters at their size."""
    del page


def twice_as_large(page: Page) -> None:
    """Make the letters of the browser twice as large, as its settings do: rem and the media queries follow."""
    page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})


@pytest.mark.parametrize("language", ["en-GB", pytest.param("zh-CN", marks=thorough)])
@pytest.mark.parametrize(
    ("size", "letters"),
    [
        pytest.param(NARROWEST, as_it_is, id="320 px"),
        pytest.param(ZOOMED, as_it_is, id="zoom of 200 %"),
        pytest.param(DESKTOP, twice_as_large, id="text of 200 %"),
    ],
)
def test_nothing_is_cut_or_scrolled_sideways(
    visit: Visits, api: Api, language: Language, size: ViewportSize, letters: Callable[[Page], None]
) -> None:
    long_id = "a-very-long-id-" * 8
    api.say(long_id, {"role": "user", "content": "https://example.org/" + "long" * 60})
    api.remember({"content": "word" * 80, "tags": ["tag" * 30], "key": "key" * 40}, app="app" * 40)
    visitor = visit(language=language)
    visitor.is_kept = False
    visitor.page.set_viewport_size(size)
    letters(visitor.page)
    found = {view: visitor.page.evaluate(WRONG) for view in walk(visitor)}
    assert len(found) == len(VIEWS)
    assert [f"{view}: {wrong}" for view, all_wrong in found.items() for wrong in all_wrong] == []
