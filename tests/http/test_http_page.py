"""How the page comes to a browser: in few files, in few bytes, and once."""

import asyncio
import re
from importlib.resources import files
from typing import Final

import httpx

from chatmemory.programs.http.guards.answers import CONTENT_SECURITY_POLICY, LEAST_COMPRESSED_BYTES
from chatmemory.programs.http.operations.every_operation import OPERATIONS
from chatmemory_layers import stacks
from chatmemory_layers.server.http_connection import WholeAnswer
from tests.for_each import for_each
from tests.http_api import api, said

PAGE: Final = files("chatmemory.programs.http") / "page"
LINKED: Final = re.compile(r'(?:src|rel="stylesheet" href)="([^"]+)"')


async def linked(client: httpx.AsyncClient) -> list[httpx.Response]:
    """Return the stylesheet and the script that the page names."""
    return [await client.get(path) for path in LINKED.findall((await client.get("/")).text)]


async def test_the_page_is_one_stylesheet_and_one_script(client: httpx.AsyncClient) -> None:
    style, script = await linked(client)
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    for name in ("style.css", "pieces/pieces.css", "timeline/timeline.css"):
        assert (PAGE / name).read_text() in style.text
    assert "function LanguageSwitch()" in script.text
    assert re.search(r"^(?:import|export)\b", script.text, re.MULTILINE) is None


async def test_what_the_page_names_is_kept_and_the_page_itself_asked_for_again(
    client: httpx.AsyncClient,
) -> None:
    page = await client.get("/")
    assert page.headers["cache-control"] == "private, no-cache"
    parts = await linked(client)
    for part in parts:
        assert part.headers["cache-control"] == "private, max-age=31536000, immutable"
        etag = part.headers["etag"].strip('"')
        assert etag in part.url.path  # another content has another address
    for answer in (page, *parts):
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
    unchanged = await client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    async with api(stacks.testing()) as other:  # every start gives the page the same addresses
        assert (await other.get("/")).text == page.text


@for_each("path", ["/page/app.js", "/page/words/shell.js", "/page/vendor/LICENSES.txt"])
async def test_what_the_page_is_made_of_can_be_read(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.text == (PAGE / path.removeprefix("/page/")).read_text()
    assert answer.headers["cache-control"] == "private, no-cache"


async def test_the_page_is_compressed_for_those_who_take_it_so(client: httpx.AsyncClient) -> None:
    taken = await linked(client)
    client.headers["Accept-Encoding"] = "identity"
    whole = await linked(client)
    assert [answer.headers["content-encoding"] for answer in taken] == ["gzip", "gzip"]
    assert ["content-encoding" in answer.headers for answer in whole] == [False, False]
    assert all("private" in answer.headers["cache-control"] for answer in taken)  # no cache mixes the two
    assert [answer.content for answer in taken] == [answer.content for answer in whole]
    compressed, uncompressed = (
        sum(int(answer.headers["content-length"]) for answer in answers) for answers in (taken, whole)
    )
    assert compressed * 3 < uncompressed


async def test_long_answers_of_the_api_are_compressed_and_short_and_refused_ones_are_not(
    client: httpx.AsyncClient,
) -> None:
    text = "屋顶的事我们说到哪里了？" * LEAST_COMPRESSED_BYTES
    short = await client.post("/conversations/c/messages", json=said(text))
    long = await client.get("/conversations/c/messages")
    assert "content-encoding" not in short.headers
    assert long.headers["content-encoding"] == "gzip"
    assert long.headers["cache-control"] == "no-store"
    assert long.json()["messages"][0]["content"] == text
    (openapi,) = (operation.path for operation in OPERATIONS if operation.path.startswith("/openapi"))
    assert (await client.get(openapi)).headers["content-encoding"] == "gzip"
    # Whatever another origin has the browser send, no length says what is stored.
    refused = await client.get("/conversations/c/messages", headers={"Sec-Fetch-Site": "cross-site"})
    assert (refused.status_code, "content-encoding" in refused.headers) == (403, False)


# --- The head of an answer leaves with what follows it, and never later than the turn after it ---

HEAD, BODY = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n", "屋顶".encode()


class Wire(asyncio.Transport):
    """Keeps what is sent, each time in one piece."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


async def test_head_and_body_leave_together_and_a_connection_that_closes_loses_no_head() -> None:
    for ending, sent in (("write", HEAD + BODY), ("close", HEAD)):
        wire = Wire()
        answer = WholeAnswer(wire, asyncio.get_running_loop())
        answer.write(HEAD)
        if ending == "write":
            answer.write(BODY)
        else:
            answer.close()
            assert answer.is_closing()
        assert wire.sent == [sent]
        await asyncio.sleep(0)  # the next turn of the loop
        assert wire.sent == [sent]


async def test_a_stream_begins_before_anything_is_in_it() -> None:
    wire = Wire()
    answer = WholeAnswer(wire, asyncio.get_running_loop())
    answer.write(HEAD)
    await asyncio.sleep(0)  # the next turn of the loop
    assert wire.sent == [HEAD]
    answer.write(b"one")
    answer.write(b"two")
    assert wire.sent == [HEAD, b"one", b"two"]
