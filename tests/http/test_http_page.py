"""How the page comes to a browser: in few files, in few bytes, and once."""

import re
from collections.abc import AsyncGenerator
from importlib.resources import files
from typing import Final

import httpx
import pytest

from chatmemory.programs.http.app import OPERATIONS
from chatmemory.programs.http.guards.answers import CONTENT_SECURITY_POLICY, LEAST_COMPRESSED_BYTES
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api

PAGE: Final = files("chatmemory.programs.http") / "page"
LINKED: Final = re.compile(r'(?:src|rel="stylesheet" href)="([^"]+)"')


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async with api(stacks.testing()) as client:
        yield client


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
    for part in await linked(client):
        assert part.headers["cache-control"] == "private, max-age=31536000, immutable"
        etag = part.headers["etag"].strip('"')
        assert etag in part.url.path  # another content has another address
    unchanged = await client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


async def test_every_start_gives_the_page_the_same_addresses(client: httpx.AsyncClient) -> None:
    async with api(stacks.testing()) as other:
        assert (await other.get("/")).text == (await client.get("/")).text


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


async def test_what_is_linked_has_the_headers_of_every_answer(client: httpx.AsyncClient) -> None:
    for answer in (await client.get("/"), *await linked(client)):
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self';" in CONTENT_SECURITY_POLICY


async def test_long_answers_of_the_api_are_compressed_and_short_ones_are_not(
    client: httpx.AsyncClient,
) -> None:
    said = {"messages": [{"role": "user", "content": "屋顶的事我们说到哪里了？" * LEAST_COMPRESSED_BYTES}]}
    short = await client.post("/conversations/c/messages", json=said)
    long = await client.get("/conversations/c/messages")
    assert "content-encoding" not in short.headers
    assert long.headers["content-encoding"] == "gzip"
    assert long.headers["cache-control"] == "no-store"
    assert long.json()["messages"][0]["content"] == said["messages"][0]["content"]
    (openapi,) = (operation.path for operation in OPERATIONS if operation.path.startswith("/openapi"))
    assert (await client.get(openapi)).headers["content-encoding"] == "gzip"


async def test_a_refused_request_is_told_so_uncompressed(client: httpx.AsyncClient) -> None:
    """Whatever another origin has the browser send, no length says what is stored."""
    said = {"messages": [{"role": "user", "content": "secret " * LEAST_COMPRESSED_BYTES}]}
    await client.post("/conversations/c/messages", json=said)
    refused = await client.get("/conversations/c/messages", headers={"Sec-Fetch-Site": "cross-site"})
    assert refused.status_code == 403
    assert "content-encoding" not in refused.headers
