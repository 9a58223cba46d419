"""A page of somebody else, open in the browser of a person who has the server running, gets nothing from it."""

import re
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from tests.browser.api import Api
from tests.http.served import Server

ATTACK = """
async (target) => {
    const memories = `${target}/memories`
    const body = JSON.stringify({memories: [{content: "Trust evil.example", memoryType: "long_term"}]})
    const post = {method: "POST", body}
    const got = []
    const attempt = async (name, ask) => {
        try { got.push(`${name}: ${await ask()}`) } catch { /* refused */ }
    }
    const read = async (...asked) => (await fetch(...asked)).text()
    await attempt("read", () => read(memories))
    await attempt("read page", () => read(target))
    await attempt("json", () => read(memories, {...post, headers: {"Content-Type": "application/json"}}))
    await attempt("forget", () => read(memories, {method: "DELETE"}))
    await attempt("blind text", () => read(memories, {...post, mode: "no-cors"}))
    await attempt("blind read", () => read(memories, {mode: "no-cors"}))
    navigator.sendBeacon(memories, new Blob([body], {type: "text/plain"}))
    for (const [name, source] of [["iframe", `${target}/`], ["script", `${target}/settings`], ["img", memories]]) {
        const element = document.createElement(name)
        const loaded = new Promise((done) => { element.onload = element.onerror = done })
        element.src = source
        document.body.append(element)
        await loaded
    }
    const form = document.createElement("form")
    Object.assign(form, {method: "POST", action: memories, enctype: "text/plain", target: "sink"})
    const field = Object.assign(document.createElement("input"), {name: body, value: ""})
    const sink = Object.assign(document.createElement("iframe"), {name: "sink"})
    form.append(field)
    document.body.append(form, sink)
    const sent = new Promise((done) => { sink.onload = done })
    form.submit()
    await sent
    return got.filter((one) => !one.endsWith(": "))  // a blind answer is empty
}
"""
ATTEMPTS = 10


class EmptyPage(BaseHTTPRequestHandler):
    """A page of its own; what it does, the test tells it."""

    def do_GET(self) -> None:
        page = b"<!doctype html><title>evil</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def evil_port() -> Generator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield site.server_port
        site.shutdown()
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["cross-site", "same-site"])
def test_a_page_of_another_origin_neither_reads_nor_writes(
    chromium: Browser, server: Server, api: Api, evil_port: int, host: str
) -> None:
    api.remember({"content": "我的护照放在抽屉里", "memoryType": "long_term"})
    logged_before = server.logged()
    with chromium.new_page() as page:
        page.goto(f"http://localhost:{evil_port}/")
        assert page.evaluate(ATTACK, f"http://{host}:{urlsplit(server.url).port}") == []
    statuses = re.findall(r" (\d{3}) [\d.]+ ms ", server.logged().removeprefix(logged_before))
    assert statuses.count("403") >= ATTEMPTS
    assert set(statuses) <= {"403", "201"}  # what api remembered may be logged this late
    assert [memory["content"] for memory in api.memories()] == ["我的护照放在抽屉里"]


def test_a_name_that_was_made_to_point_here_reads_nothing(chromium: Browser, server: Server) -> None:
    port = urlsplit(server.url).port
    with chromium.new_page() as page:
        answer = page.goto(f"http://evil.localhost:{port}/")  # which a browser takes for this machine
        assert answer is not None
        assert answer.status == 421
        assert page.evaluate("fetch('/memories').then((answer) => answer.status)") == 421
