"""Pages to be read, and what the document says of tokens: everything in them is true of the server."""

import json
import re

import httpx

from chatmemory.programs.http.docs_pages import DOCS_PAGE, STYLE
from chatmemory.programs.http.operations.every_operation import OPERATIONS, openapi_text
from chatmemory.programs.http.problems import PROBLEMS_PAGE
from chatmemory.settings.server_settings import ServerSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api

TOKENS = ServerSettings(token="a-token-for-the-owner")


@for_each("needs_token", [True, False])
async def test_the_document_says_whether_a_token_is_needed(*, needs_token: bool) -> None:
    async with api(stacks.testing(), TOKENS if needs_token else None) as client:
        document = (await client.get("/openapi.json")).json()
        answer = await client.get("/memories")
    assert document == json.loads(openapi_text(needs_token=needs_token))
    assert document["security"] == ([{"token": []}] if needs_token else [])
    assert answer.status_code == (401 if needs_token else 200)
    assert document["paths"]["/health"]["get"]["security"] == []
    assert document["servers"][0]["url"] == "/"


async def test_the_pages_are_read_without_a_token_without_a_script_and_without_the_internet() -> None:
    async with api(stacks.testing(), TOKENS) as client:
        for path in (DOCS_PAGE, PROBLEMS_PAGE):
            page = await client.get(path)
            assert page.headers["content-type"].startswith("text/html")
            assert "default-src 'none'" in page.headers["content-security-policy"]
            assert "<script" not in page.text
            assert " style=" not in page.text
            assert set(re.findall(r'(?:src|href)="(?!#)([^"#]+)', page.text)) <= {
                "/",
                DOCS_PAGE,
                PROBLEMS_PAGE,
                STYLE,
                "data:,",
                "/openapi.json",
            }
        assert (await client.get(STYLE)).headers["content-type"].startswith("text/css")


async def test_the_page_of_operations_shows_each_with_a_command_to_try(client: httpx.AsyncClient) -> None:
    page = (await client.get(DOCS_PAGE)).text
    places = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= places
    assert page.count("<pre>curl -X") == len(OPERATIONS)
    assert "Bearer" not in page  # this server has no token


@for_each("path", ["/nothing", "/memories/unknown", "/conversations/unknown"])
async def test_the_type_of_a_problem_leads_to_its_place_on_a_page(
    client: httpx.AsyncClient, path: str
) -> None:
    page, _, place = (await client.get(path)).json()["type"].partition("#")
    assert f'id="{place}"' in (await client.get(page)).text
