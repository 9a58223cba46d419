"""What people, models and tools have said is text on the page and does nothing."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.api import Api
from tests.browser.hostile_texts import HOSTILE
from tests.browser.visiting import DESKTOP, PHONE, Visits
from tests.thorough import rounds

LONG_WORD: Final = "w" * 100_000

# A word that does not break is wider than what holds it.
TOO_WIDE: Final = """() => [...document.querySelectorAll("main *")]
    .filter((element) => [...element.childNodes].some((node) => node.data?.trim())
        && element.clientWidth && element.scrollWidth > element.clientWidth + 1
        && getComputedStyle(element).overflowX === "visible")
    .map(({outerHTML}) => outerHTML.slice(0, 200))"""

INTRUDERS: Final = """() => [...document.querySelectorAll("*")]
    .filter(({localName, attributes}) =>
        ["script", "iframe", "object", "embed", "base", "video", "math", "style"].includes(localName)
            && !(localName === "script" && /^\\/page\\/[0-9a-f]{16}\\.js$/.test(attributes.src?.value))
        || [...attributes].some(({name, value}) => name.startsWith("on") || /^\\s*(javascript|data):/i.test(value)
            && ["href", "src", "action"].includes(name)))
    .map(({outerHTML}) => outerHTML.slice(0, 200))"""


def remember_all(api: Api) -> None:
    names = ("content", "key", "value", "sessionId")
    held = ({**dict.fromkeys(names, text), "tags": [text]} for text in HOSTILE)
    api.remember(*({**one, "id": f"{one['key'][:100]}{number}"} for number, one in enumerate(held)))


def said(page: Page) -> str:
    return str(page.get_by_role("main").evaluate("main => main.textContent"))


def expect_harmless(page: Page) -> None:
    """Expect that no text became an element or ran, and that none pushes the page sideways, however narrow it is."""
    assert page.evaluate("window.ran") is None
    assert page.evaluate(INTRUDERS) == []
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_messages_ids_and_openings_are_shown_as_they_are_and_forms_hold_them(visit: Visits, api: Api) -> None:
    api.say("hostile", *({"role": "user", "content": text} for text in HOSTILE))
    names = HOSTILE[-49:]  # with the other one: a page
    for text in names:
        api.say(text, {"role": "user", "content": f"{text}."})
    nothing = api.extract("好的")
    visitor = visit()
    page = visitor.go("conversations")
    page.route("**/memory/extract", lambda route: route.fulfill(json=nothing))
    messages = page.get_by_role("link", name="Link to message")
    expect(page.get_by_role("main").get_by_role("link")).to_have_count(len(names) + 1)
    expect_said(page, names)
    expect_harmless(page)
    visitor.go("conversations/hostile")
    expect(messages).to_have_count(len(HOSTILE))
    expect_said(page, HOSTILE)
    expect_harmless(page)
    for text in names[::6]:
        visitor.go("conversations")
        expect(messages).to_have_count(0)
        visitor.go(f"conversations/{quote(text, safe='')}")
        expect(messages).to_have_count(1)
        expect_harmless(page)
        page.get_by_role("button", name="Save to long-term memory").click()
        value = page.get_by_role("dialog").get_by_label("Value", exact=True)
        assert value.input_value() == f"{text}."
        expect_harmless(page)

    api.say("long", {"role": "user", "content": LONG_WORD})
    visitor.go("conversations/long")
    expect_a_long_word_to_break(page)


def test_memories_are_shown_as_they_are_and_other_views_show_nothing_else(visit: Visits, api: Api) -> None:
    api.remember({"content": LONG_WORD, "key": LONG_WORD[:500]})
    remember_all(api)
    visitor = visit()
    page = visitor.go("memories")
    cards = page.get_by_role("article")
    expect(cards).to_have_count(50)
    page.get_by_role("button", name="Load more").click()
    expect(cards).to_have_count(len(HOSTILE) + 1)
    for details in page.get_by_text("Details", exact=True).all():
        details.evaluate("summary => summary.click()")
    shown = said(page)
    assert [text for text in HOSTILE if shown.count(text) < 4] == []  # content, key, value, tag
    expect_harmless(page)
    expect_a_long_word_to_break(page)
    page.set_viewport_size(PHONE)
    visitor.go("timeline")
    page.get_by_text("As a table").click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect_harmless(page)
    visitor.go("settings")
    expect(page.get_by_role("term").first).to_be_visible()
    expect_harmless(page)


def expect_said(page: Page, texts: Sequence[str]) -> None:
    shown = said(page)
    assert [text for text in texts if text not in shown] == []


def expect_a_long_word_to_break(page: Page) -> None:
    page.get_by_role("button", name="Show all 100000 characters").click()
    expect_said(page, [LONG_WORD])
    expect_harmless(page)


def test_an_address_is_no_way_in(visit: Visits) -> None:
    visitor = visit()
    visitor.expect_trouble(r"40[04].*")
    for text in HOSTILE[:: rounds(11, thorough=5)]:
        for place in ("conversations/{}", "memories/{}", "memories?query={}", "{}"):
            visitor.go(place.format(quote(text, safe="")))
            expect(visitor.page.get_by_role("main")).to_be_visible()
        expect_harmless(visitor.page)
