"""A page of somebody else, open in the same browser, reads nothing of the server and changes nothing in it."""

import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.api import Api
from tests.browser.chromium import REBOUND
from tests.browser.visiting import Visits

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

FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


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


def test_a_form_of_another_origin_writes_nothing_and_a_name_bound_to_the_server_gets_nothing(
    page: Page, api: Api, elsewhere: str
) -> None:
    for encoding in FORMS:
        page.goto(elsewhere)
        page.evaluate(
            """([action, encoding, json]) => {
                const form = Object.assign(document.createElement("form"), {action, method: "post", enctype: encoding});
                const [name, value] = json.split("planted");
                form.append(Object.assign(document.createElement("input"), {name: name + "planted", value}));
                document.body.append(form);
                form.submit();
            }""",
            [f"{api.url}memories", encoding, MEMORY],
        )
        page.wait_for_url(f"{api.url}memories")
        assert "OriginRefusedError" in page.content()
    expect_untouched(api)
    for path in ("", "memories", "settings", "openapi.json", "page/app.js"):
        answer = page.goto(f"http://{REBOUND}:{urlsplit(api.url).port}/{path}")
        assert answer is not None
        assert answer.status == 421
        assert SECRET not in answer.text()
