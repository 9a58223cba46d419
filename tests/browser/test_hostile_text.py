"""Whatever people, models and other tools have said is text on the page: it is shown as it is, and does nothing."""

import json
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.api import Api
from tests.browser.hostile_texts import HOSTILE
from tests.browser.visiting import DESKTOP, PHONE, Visits
from tests.past_chats_command import PROGRAM
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a past chat that says every hostile text, in a project of a hostile name."""
    folder = tmp_path_factory.mktemp("served")
    turns = [
        {
            "type": "user",
            "sessionId": "hostile",
            "uuid": f"u{number}",
            "cwd": "/<img src=x onerror=alert(1)>",
            "timestamp": f"2025-09-22T13:{number // 60:02}:{number % 60:02}Z",
            "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(HOSTILE)
    ]
    history = folder / "hostile.jsonl"
    history.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    index = (PROGRAM, "index", "--db", folder / "pastchats.db", history)
    subprocess.run(index, check=True, capture_output=True)
    return folder


def remember_all(api: Api) -> None:
    """Put every text wherever a memory holds text."""
    api.remember(
        *(
            {
                "content": text,
                "key": text,
                "value": text,
                "tags": [text],
                "sessionId": text,
                "id": text[:100] + str(number),
            }
            for number, text in enumerate(HOSTILE)
        )
    )


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


def test_messages_are_shown_as_they_are(visit: Visits, api: Api) -> None:
    api.say("hostile", *({"role": "user", "content": text} for text in HOSTILE))
    page = visit().go("conversations/hostile")
    expect(page.get_by_role("link", name="Link to message")).to_have_count(len(HOSTILE))
    shown = said(page)
    assert [text for text in HOSTILE if text not in shown] == []
    expect_harmless(page)


def test_ids_and_openings_of_conversations_are_shown_as_they_are(visit: Visits, api: Api) -> None:
    for text in HOSTILE[-49:]:  # one page
        api.say(text, {"role": "user", "content": f"{text}."})
    visitor = visit()
    page = visitor.go("conversations")
    expect(page.get_by_role("main").get_by_role("link")).to_have_count(49)
    shown = said(page)
    assert [text for text in HOSTILE[-49:] if text not in shown] == []
    expect_harmless(page)
    for text in HOSTILE[-49::8]:
        page.goto(f"{api.url}#/conversations/{quote(text, safe='')}")
        expect(page.get_by_role("link", name="Link to message")).to_have_count(1)
        expect_harmless(page)


def test_memories_are_shown_as_they_are(visit: Visits, api: Api) -> None:
    remember_all(api)
    page = visit().go("memories")
    cards = page.get_by_role("article")
    expect(cards).to_have_count(50)
    page.get_by_role("button", name="Load more").click()
    expect(cards).to_have_count(len(HOSTILE))
    for details in page.get_by_text("Details", exact=True).all():
        details.evaluate("summary => summary.click()")
    shown = said(page)
    assert [text for text in HOSTILE if shown.count(text) < 4] == []  # content, key, value, tag
    expect_harmless(page)


def test_forms_hold_texts_as_they_are(visit: Visits, api: Api) -> None:
    for number, text in enumerate(HOSTILE[::6]):
        api.say(f"c{number}", {"role": "user", "content": text})
    page = visit().page
    nothing = api.extract("好的")
    page.route("**/memory/extract", lambda route: route.fulfill(json=nothing))
    for number, text in enumerate(HOSTILE[::6]):
        page.goto(f"{api.url}#/conversations/c{number}")
        page.get_by_role("button", name="Save to long-term memory").click()
        value = page.get_by_role("dialog").get_by_label("Value", exact=True)
        assert value.input_value() == text.replace("\r", "")
        expect_harmless(page)
        page.keyboard.press("Escape")


def test_other_views_show_nothing_else(visit: Visits, api: Api) -> None:
    remember_all(api)
    visitor = visit(size=PHONE)
    page = visitor.go("timeline")
    page.get_by_text("As a table").click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect_harmless(page)
    visitor.go("settings")
    expect(page.get_by_role("term").first).to_be_visible()
    expect_harmless(page)


def test_past_chats_are_shown_as_they_are(visit: Visits) -> None:
    page = visit().go("past-chats")
    page.get_by_role("main").get_by_role("listitem").get_by_role("link").first.click()
    expect(page.get_by_role("link", name="Link to turn")).to_have_count(len(HOSTILE))
    shown = said(page)
    # The index cleans what it reads of control characters; all else stays.
    assert [text for text in HOSTILE if text not in shown and text.isprintable()] == []
    expect_harmless(page)
    page.goto(f"{page.url.partition('#')[0]}#/past-chats?q=script%20alert")
    expect(page.get_by_role("group", name="Why it was found").first).to_be_visible()
    expect_harmless(page)


def test_a_very_long_word_breaks(visit: Visits, api: Api) -> None:
    api.say("long", {"role": "user", "content": LONG_WORD})
    api.remember({"content": LONG_WORD, "key": LONG_WORD[:500]})
    visitor = visit()
    page = visitor.go("conversations/long")
    page.get_by_role("button", name="Show all 100000 characters").click()
    assert LONG_WORD in said(page)
    expect_harmless(page)
    page = visitor.go("memories")
    page.get_by_role("button", name="Show all 100000 characters").click()
    assert LONG_WORD in said(page)
    expect_harmless(page)


def test_an_address_is_no_way_in(visit: Visits, api: Api) -> None:
    visitor = visit()
    visitor.expect_trouble(r"40[04].*")
    for text in HOSTILE[:: rounds(11, thorough=5)]:
        for place in (
            "conversations/{}",
            "memories/{}",
            "memories?query={}",
            "past-chats/{}",
            "past-chats?q={}",
            "{}",
        ):
            visitor.page.goto(f"{api.url}#/{place.format(quote(text, safe=''))}")
            expect(visitor.page.get_by_role("main")).to_be_visible()
        expect_harmless(visitor.page)
