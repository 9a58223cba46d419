"""Past chats that are longer than what the page asks for at once, and one that tries to be more than text."""

import json
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.api import Api
from tests.browser.hostile_texts import HOSTILE
from tests.browser.test_hostile_text import expect_harmless, expect_said
from tests.browser.visiting import Visits
from tests.past_chats_command import PROGRAM
from tests.thorough import rounds

TURNS: Final = 260
LINKS: Final = "Link to turn"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a chat of 260 turns in the index, and one that says every hostile text in a project of a hostile name."""
    folder = tmp_path_factory.mktemp("served")
    turns = (
        f"## {'Assistant' if number % 2 else 'User'}\n\n第 {number} 轮：改第 {number} 行。\n"
        for number in range(TURNS)
    )
    long, hostile = folder / "long.md", folder / "hostile.jsonl"
    long.write_text("\n".join(["# A long chat", "", *turns]), encoding="utf-8")
    said = (json.dumps(hostile_turn(number, text)) for number, text in enumerate(HOSTILE))
    hostile.write_text("\n".join(said), encoding="utf-8")
    index = (PROGRAM, "index", "--db", folder / "pastchats.db", long, hostile)
    subprocess.run(index, check=True, capture_output=True)
    return folder


def hostile_turn(number: int, text: str) -> dict[str, object]:
    about = {"sessionId": "hostile", "cwd": "/<img src=x onerror=alert(1)>", "uuid": f"u{number}"}
    time = f"2025-09-22T13:{number // 60:02}:{number % 60:02}Z"
    return {"type": "user", **about, "timestamp": time, "message": {"role": "user", "content": text}}


def numbers(page: Page) -> list[int]:
    links = page.get_by_role("main").get_by_role("link", name=LINKS)
    return [int(text.removeprefix("#")) for text in links.all_inner_texts()]


def press_until(page: Page, name: str, end: str) -> None:
    """Ask for more until there is no more."""
    more = page.get_by_role("button", name=name)
    while page.get_by_text(end).count() == 0:
        before = len(numbers(page))
        more.click()
        page.wait_for_function(f"() => document.querySelectorAll('main [href*=\"turn=\"]').length > {before}")


def test_a_long_chat_is_read_from_its_middle_to_both_ends(visit: Visits, api: Api) -> None:
    chats = api.client.get("/past-chats/conversations").json()["conversations"]
    [chat] = [chat for chat in chats if chat["turns"] == TURNS]
    page = visit().go(f"past-chats/{quote(chat['conversationId'], safe='')}?turn=150")
    wanted = page.locator("[aria-current=location]")
    expect(wanted).to_be_in_viewport()
    expect(wanted).to_have_text("#150")
    press_until(page, "Earlier turns", "The chat begins here.")
    press_until(page, "Later turns", "The chat ends here.")
    assert numbers(page) == list(range(TURNS))


def test_texts_of_past_chats_are_shown_as_they_are_and_an_address_is_no_way_in(visit: Visits) -> None:
    visitor = visit()
    visitor.expect_trouble(r"40[04].*")
    page = visitor.go("past-chats")
    page.get_by_role("main").get_by_role("listitem").get_by_role("link", name="Claude Code").click()
    expect(page.get_by_role("link", name=LINKS)).to_have_count(len(HOSTILE))
    # The index cleans what it reads of control characters; all else stays.
    expect_said(page, [text for text in HOSTILE if text.isprintable()])
    expect_harmless(page)
    visitor.go("past-chats?q=script%20alert")
    expect(page.get_by_role("group", name="Why it was found").first).to_be_visible()
    expect_harmless(page)
    for text in HOSTILE[:: rounds(11, thorough=5)]:
        for place in ("past-chats/{}", "past-chats?q={}"):
            visitor.go(place.format(quote(text, safe="")))
            expect(page.get_by_role("main")).to_be_visible()
        expect_harmless(page)


def test_turns_that_were_edited_away_hide_none_before_them(visit: Visits) -> None:
    kept = [*range(5), *range(400, 430)]

    def answer(route: Route) -> None:
        asked = parse_qs(urlsplit(route.request.url).query)
        newer_than, limit = int(asked["newerThan"][0]), int(asked["limit"][0])
        page = [index for index in kept if index > newer_than][:limit]
        is_end = not page or page[-1] == kept[-1]
        route.fulfill(json={"turns": list(map(turn, page)), "next": None if is_end else page[-1]})

    visitor = visit()
    visitor.page.route("**/past-chats/conversations/edited?*", answer)
    page = visitor.go("past-chats/edited?turn=415")
    expect(page.locator("[aria-current=location]")).to_be_in_viewport()
    press_until(page, "Earlier turns", "The chat begins here.")
    assert numbers(page) == kept


def turn(index: int) -> dict[str, object]:
    said = {"id": index, "turnIndex": index, "conversationId": "edited", "content": f"turn {index}"}
    who = {"role": "user", "speaker": None, "timestamp": None}
    return {**said, **who, "source": "a.jsonl", "format": "claude_code"}
