"""``misplaced``: what a narrow window or large letters cut, push out of sight, or let scroll sideways."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Page, ViewportSize

from tests.browser.visiting import DESKTOP, PHONE

SIZES: Final = {
    "a phone": PHONE,
    "320 px": ViewportSize(width=320, height=640),
    "zoom of 200 %": ViewportSize(width=640, height=400),  # what is left of 1280 by 800
}

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


def misplaced(page: Page) -> Sequence[str]:
    """Look at the view in every size of the window and of the letters, and return what is wrong in any of them."""
    found = []
    for name, size in SIZES.items():
        page.set_viewport_size(size)
        found += [f"{name}: {wrong}" for wrong in page.evaluate(WRONG)]
    page.set_viewport_size(DESKTOP)
    with letters_twice_as_large(page):
        found += [f"text of 200 %: {wrong}" for wrong in page.evaluate(WRONG)]
    return found


@contextmanager
def letters_twice_as_large(page: Page) -> Generator[None]:
    """Make the letters of the browser twice as large, as its settings do: rem and the media queries follow."""
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    yield
    browser.send("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
    browser.detach()
