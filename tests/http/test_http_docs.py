"""Examples, pages to be read, and what the document says of tokens: everything in them is true of the server."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import httpx
import pytest

from chatmemory.errors import ServiceError
from chatmemory.programs.http.app import OPERATIONS
from chatmemory.programs.http.docs_pages import DOCS_PAGE, STYLE
from chatmemory.programs.http.operation import Operation
from chatmemory.programs.http.operations.memories import MEMORIES
from chatmemory.programs.http.problem_words import CURES
from chatmemory.programs.http.problems import KINDS, PROBLEMS_PAGE
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory.settings.server_settings import ServerSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http.test_http_schemathesis import index_histories
from tests.http_api import api

OFTEN = StrategySettings(type="summarize", summarize_every_n=4, keep_last=1)
TOKENS = ServerSettings(token="a-token-for-the-owner")
(MEMORY_ID,) = {operation.example["memoryId"] for operation in MEMORIES if "memoryId" in operation.example}


@pytest.fixture
async def stocked(tmp_path: Path) -> AsyncGenerator[tuple[httpx.AsyncClient, str]]:
    """A client of a server that keeps what the examples name, and the id of a summary, which the server makes."""
    index_histories(tmp_path / "past-chats.db")
    store = stacks.embedded(tmp_path / "a.db", strategy=OFTEN)
    async with api(store, past_chats=tmp_path / "past-chats.db") as client:
        said = {"messages": [{"role": "user", "content": f"Day {day} in Kyoto."} for day in range(6)]}
        report = (await client.post("/conversations/trip-to-kyoto/messages", json=said)).json()
        saved = {"memories": [{"id": MEMORY_ID, "content": "Mei drinks tea."}]}
        assert (await client.post("/memories", json=saved)).status_code == 201
        assert (await client.put("/values/tea", json={"value": "sencha"})).status_code == 200
        assert (await client.put(f"/memories/{MEMORY_ID}/pin", json={"pinned": True})).status_code == 200
        yield client, report["history"]["summaryIds"][0]


def request_of(operation: Operation, **instead: str) -> dict[str, Any]:
    """Return the example of *operation* as httpx sends it."""
    sent: dict[str, Any] = {**operation.example, **instead}
    path = re.sub(r"{(\w+)}", lambda name: quote(sent.pop(name[1]), safe=""), operation.path)
    request: dict[str, Any] = {"method": operation.method, "url": path}
    if "body" in sent:
        request["json"] = sent.pop("body")
    return {**request, "params": sent}


@pytest.mark.parametrize(
    "operation",
    [operation for operation in OPERATIONS if not operation.is_stream],
    ids=lambda operation: operation.name,
)
async def test_the_example_of_an_operation_is_accepted(
    stocked: tuple[httpx.AsyncClient, str], operation: Operation
) -> None:
    client, summary_id = stocked
    instead = {"messageId": summary_id} if "messageId" in operation.example else {}
    answer = await client.request(**request_of(operation, **instead))
    assert answer.status_code == operation.status, answer.text


@for_each("operation", OPERATIONS)
def test_an_operation_with_something_to_send_has_an_example(operation: Operation) -> None:
    assert ("body" in operation.example) is (operation.signature.body is not type(None))
    assert set(operation.path_parameters) <= set(operation.example)


@for_each("needs_token", [True, False])
async def test_the_document_says_whether_a_token_is_needed(*, needs_token: bool) -> None:
    async with api(stacks.testing(), TOKENS if needs_token else None) as client:
        document = (await client.get("/openapi.json")).json()
        answer = await client.get("/memories")
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


def test_every_problem_has_words_that_help() -> None:
    assert set(CURES) == set(KINDS)
    assert {error.__name__ for error in get_args(ServiceError)} < set(CURES)


@for_each("path", ["/nothing", "/memories/unknown", "/conversations/unknown"])
async def test_the_type_of_a_problem_leads_to_its_place_on_a_page(
    client: httpx.AsyncClient, path: str
) -> None:
    page, _, place = (await client.get(path)).json()["type"].partition("#")
    assert f'id="{place}"' in (await client.get(page)).text
