"""What people, models and tools have said is text on the page and does nothing; nor does a page of somebody else in the same browser."""

import threading
from collections.abc import Generator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import quote

import pytest
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


SECRET: Final = "我的密码提示是绿茶"
MEMORY: Final = '{"memories": [{"content": "planted"}]}'
SAID: Final = '{"messages": [{"role": "user", "content": "planted"}]}'

# Each attempt gives what it got hold of, or throws.  Two of them wait a moment: nothing tells them that nothing comes.
ATTEMPTS: Final = {
    "fetch": "async (url) => (await fetch(url + 'memories')).text()",
    "fetch with credentials": "async (url) => (await fetch(url + 'memories', {credentials: 'include'})).text()",
    "fetch without cors": "async (url) => (await fetch(url + 'memories', {mode: 'no-cors'})).text()",
    "write as text": f"async (url) => (await fetch(url + 'memories', {{method: 'POST', mode: 'no-cors', body: '{MEMORY}'}})).text()",
    "write as json": f"""async (url) => (await fetch(url + 'memories', {{method: 'POST', body: '{MEMORY}',
        headers: {{'Content-Type': 'application/json'}}}})).text()""",
    "delete": "async (url) => (await fetch(url + 'memories/secret', {method: 'DELETE'})).text()",
    "clear": "async (url) => (await fetch(url + 'conversations/c/messages', {method: 'DELETE', mode: 'no-cors'})).text()",
    "beacon": f"""async (url) => {{
        navigator.sendBeacon(url + 'conversations/c/messages', new Blob(['{SAID}'], {{type: 'text/plain'}}));
        await new Promise((done) => setTimeout(done, 300));
    }}""",
    "image": """(url) => new Promise((done, fail) => {
        const image = Object.assign(new Image(), {src: url + 'page/icon.svg', onload: () => done('seen'), onerror: fail});
        document.body.append(image);
    })""",
    "script": """(url) => new Promise((done, fail) => {
        const script = document.createElement('script');
        Object.assign(script, {src: url + 'memories', onload: () => done('ran'), onerror: fail});
        document.body.append(script);
    })""",
    "module": "async (url) => Object.keys(await import(url + 'page/api.js')).join()",
    "style": """(url) => new Promise((done, fail) => {
        const style = document.createElement('link');
        Object.assign(style, {rel: 'stylesheet', href: url + 'page/style.css', onload: () => done('used'), onerror: fail});
        document.head.append(style);
    })""",
    "frame": """(url) => new Promise((done) => {
        const frame = document.createElement('iframe');
        Object.assign(frame, {src: url, onload: () => done(frame.contentDocument?.body?.textContent ?? frame[0]?.length)});
        document.body.append(frame);
    })""",
    "window": """async (url) => {
        const opened = window.open(url);
        await new Promise((done) => setTimeout(done, 500));
        return opened?.document.body.textContent;
    }""",
    "event source": """(url) => new Promise((done, fail) => {
        const events = new EventSource(url + 'conversations/c/events?newerThan=0');
        events.onmessage = (event) => done(event.data);
        events.onerror = () => { events.close(); fail(new Error('refused')); };
    })""",
    "web socket": """(url) => new Promise((done, fail) => {
        const socket = new WebSocket(url.replace('http', 'ws') + 'conversations/c/events');
        Object.assign(socket, {onopen: () => done('open'), onerror: fail});
    })""",
}


class Elsewhere(BaseHTTPRequestHandler):
    """Answers with an empty page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><link rel=icon href=data:,><body>")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def elsewhere() -> Generator[str]:
    """The address of another server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(visit: Visits, api: Api, elsewhere: str) -> Page:
    """A page of another origin, beside a server that keeps a secret."""
    api.remember({"id": "secret", "content": SECRET})
    api.say("c", {"id": "m", "role": "user", "content": SECRET})
    visitor = visit()
    visitor.is_kept = False  # it may have opened other windows
    visitor.expect_trouble(".*")  # the refusals are what this is about
    visitor.page.goto(elsewhere)
    return visitor.page


def expect_untouched(api: Api) -> None:
    assert [(memory["id"], memory["content"]) for memory in api.memories()] == [("secret", SECRET)]
    assert [(message["id"], message["content"]) for message in api.messages("c")] == [("m", SECRET)]


def got(page: Page, attempt: str, url: str) -> Any:
    """Return what the page got hold of, nothing when the attempt was refused."""
    return page.evaluate(
        f"async (url) => {{ try {{ return await ({attempt})(url); }} catch {{ return null; }} }}", url
    )


def test_a_page_of_another_origin_gets_nothing(page: Page, api: Api, elsewhere: str) -> None:
    gained = {}
    for name, attempt in ATTEMPTS.items():
        page.goto(elsewhere)
        if something := got(page, attempt, api.url):
            gained[name] = something
    assert gained == {}
    expect_untouched(api)
    page.goto(api.url)  # whose own page may: what is refused above would have worked
    allowed = ("fetch", "image", "module", "style", "event source")
    assert [attempt for attempt in allowed if not got(page, ATTEMPTS[attempt], api.url)] == []
