"""The parts of the page that only reckon, asked in the browser that runs them; and modules that were linked into one."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given, settings, strategies as st
from playwright.sync_api import Page, expect

from chatmemory.programs.http.page_files import linked
from tests.browser.visiting import Visits, Windows
from tests.thorough import rounds

FOLD: Final = "async (messages) => (await import('/page/conversations/folding.js')).fold(messages)"
PARSE: Final = """async (parts) => {
    const { EventParser } = await import('/page/conversations/events.js');
    const events = [];
    const parser = new EventParser((event) => events.push(event));
    for (const part of parts) parser.feed(part);
    return events;
}"""
CHANGED_WHILE_DRAWN: Final = """async () => {
    const { html, render, useLayoutEffect } = await import('/page/vendor/preact-htm.js');
    const { Observable } = await import('/page/observable.js');
    const word = new Observable("before");
    const Changing = () => useLayoutEffect(() => { word.value = "after"; }, []);
    const Shown = () => html`<p>the word is ${word.use()}</p>`;
    render(html`<${Changing} /><${Shown} />`, document.body.appendChild(document.createElement("div")));
}"""
MISSING_WORDS: Final = """async (name) => {
    const [words] = Object.values(await import(`/page/words/${name}`)).filter((given) => !Array.isArray(given));
    const isSaid = (said) => typeof said === "function" || (typeof said === "string" && said !== "");
    const isWhole = (both) => both.length === 2 && both.every(isSaid) && typeof both[0] === typeof both[1];
    return Object.entries(words).filter(([, both]) => !isWhole(both)).map(([word]) => word);
}"""
WORDS: Final = files("chatmemory.programs.http") / "page" / "words"
STREAM: Final = (
    ": a heartbeat\r\n\r\n"
    'id: 7\nevent: message\ndata: {"seq": 7,\ndata: "content": "在老地方见: 12:30"}\n\n'
    "event: cleared\ndata:\n\n"
    ":\n\n"
    "data: without a name\n\n"
)
APART: Final = {
    "/page/app.js": """/** The entry. */
import {
  Counter,
  counted,
} from "./counting/counter.js";
import { shout } from "./library.js";

const own = "entry";
globalThis.found = [own, counted().own, new Counter().count(), shout("好")];
""",
    "/page/counting/counter.js": """import { shout } from "../library.js";
const own = "counter"; // as the entry has one

export const STEP = 2;
export class Counter {
  count() {
    return shout(String(STEP));
  }
}
export function counted() {
  return { own: declared() };
}
function declared() {
  return own;
}
export async function later() {}
""",
    "/page/library.js": "function e(n){return `${n}!`}var own=0;export{e as shout,own};\n",
}
RUN: Final = (
    "async (text) => { await import(`data:text/javascript,${encodeURIComponent(text)}`); return found; }"
)


@pytest.fixture(scope="module")
def page(windows: Windows) -> Generator[Page]:
    """One page for all: what they ask of it leaves nothing behind that another one sees."""
    with ExitStack() as visits:
        yield Visits(windows, visits)().go("settings")


def test_every_word_is_there_in_both_languages_and_what_changes_meanwhile_is_drawn_again(page: Page) -> None:
    names = [file.name for file in WORDS.iterdir()]
    assert len(names) > 5
    assert {name: missing for name in names if (missing := page.evaluate(MISSING_WORDS, name))} == {}
    page.evaluate(CHANGED_WHILE_DRAWN)
    expect(page.get_by_text("the word is after")).to_be_visible()


@st.composite
def histories(draw: st.DrawFn) -> Sequence[Mapping[str, Any]]:
    """A conversation with summaries as history strategies write them: of the oldest that is open, in the view's order."""
    history: list[dict[str, Any]] = []
    view: list[dict[str, Any]] = []
    for seq in range(1, draw(st.integers(1, 25))):
        role = draw(st.sampled_from(["user", "user", "system", "summary"]))
        covered = [message for message in view if message["role"] != "system"][: draw(st.integers(1, 6))]
        if role == "summary" and not covered:
            continue
        message = _message(seq, role)
        history.append(message)
        if role == "summary":
            message["timestamp"] = max(one["timestamp"] for one in covered)
            for one in covered:
                one["coveredBy"] = message["id"]
            view.insert(view.index(covered[-1]), message)
        else:
            view.append(message)
        view = [one for one in view if one["coveredBy"] is None]
    return history[draw(st.integers(0, len(history))) :]  # older pages that were not loaded


def _message(seq: int, role: str) -> dict[str, Any]:
    timestamp = f"2026-03-01T09:00:{seq:02}+00:00"
    return {"id": f"m{seq}", "seq": seq, "role": role, "timestamp": timestamp, "coveredBy": None}


def _all(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the entries and those inside them, in the order in which they are read."""
    return [one for entry in entries for one in [*_all(entry["covers"] or ()), entry]]


def test_folding_shows_each_message_once_in_its_order_below_the_summary_that_covers_it(page: Page) -> None:
    @settings(max_examples=rounds(20, thorough=100))
    @given(histories())
    def check(history: Sequence[Mapping[str, Any]]) -> None:
        entries = _all(page.evaluate(FOLD, history))
        read = [entry["message"] for entry in entries if entry["message"]]
        assert sorted(message["id"] for message in read) == sorted(message["id"] for message in history)
        said = [message["seq"] for message in read if message["role"] == "user"]
        assert said == sorted(said)
        for entry in entries:
            inside = [one["message"]["id"] for one in entry["covers"] or () if one["message"]]
            covered = [one["id"] for one in history if one["coveredBy"] == entry["summaryId"] is not None]
            assert sorted(inside) == sorted(covered)

    check()
    # A summary of deleted messages stands before what was said after them.
    policy, before, after = _message(1, "system"), _message(5, "user"), _message(6, "user")
    summary = {**_message(9, "summary"), "timestamp": _message(4, "user")["timestamp"]}
    folded = page.evaluate(FOLD, [policy, before, after, summary])
    assert [entry["message"]["id"] for entry in folded] == ["m1", "m9", "m5", "m6"]


def test_events_are_the_same_in_whatever_pieces_they_arrive(page: Page) -> None:
    whole = page.evaluate(PARSE, [STREAM])
    assert [event["event"] for event in whole] == ["message", "cleared", "message"]
    assert whole[0]["id"] == "7"
    assert whole[0]["data"] == '{"seq": 7,\n"content": "在老地方见: 12:30"}'

    @settings(max_examples=rounds(15, thorough=100))
    @given(st.sets(st.integers(1, len(STREAM) - 1), max_size=8))
    def check(cuts: set[int]) -> None:
        edges = [0, *sorted(cuts), len(STREAM)]
        parts = [STREAM[start:end] for start, end in pairwise(edges)]
        assert page.evaluate(PARSE, parts) == whole

    check()


def test_what_was_linked_into_one_module_runs_as_it_did_apart(page: Page) -> None:
    page.goto("about:blank")  # the policy of the page itself allows no script that is made here
    assert page.evaluate(RUN, linked(APART, "/page/app.js")) == ["entry", "counter", "2!", "好!"]
    page.go_back()
