"""Who sees what beside ``test_http_matrix.py``: apps, shared conversations, and tokens that may only look."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from chatmemory.programs.http.operation import Operation
from chatmemory.programs.http.operations.every_operation import OPERATIONS
from chatmemory.settings.server_settings import ServerSettings, SharedSettings, TokenSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api, problem, said

OWNER = "the-token-of-the-owner"
TOKENS = {
    "owner": OWNER,
    "wang": "the-token-of-wang",
    "excel": "the-token-of-excel",
    "reader": "the-token-of-a-reader",
}
SETTINGS = ServerSettings(
    user="mei",
    token=OWNER,
    tokens={
        "wang": TokenSettings(
            token=TOKENS["wang"],
            user="wang",
            shared=(SharedSettings(user="mei", conversations="wang/", rights=("read", "write")),),
        ),
        "excel": TokenSettings(token=TOKENS["excel"], user="mei", app="Excel"),
        "reader": TokenSettings(token=TOKENS["reader"], user="mei", read_only=True),
    },
)

As: TypeAlias = Callable[[str], AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def logged_in(tmp_path: Path) -> As:
    """Give the client of a name; all work over one store, one after the other."""

    @asynccontextmanager
    async def client_of(name: str) -> AsyncGenerator[httpx.AsyncClient]:
        async with api(stacks.embedded(tmp_path / "a.db"), SETTINGS, token=TOKENS.get(name, name)) as client:
            yield client

    return client_of


async def save(client: httpx.AsyncClient, content: str, **query: str) -> httpx.Response:
    return await client.post("/memories", json={"memories": [{"content": content}]}, params=query)


async def saved(client: httpx.AsyncClient, content: str, **query: str) -> str:
    answer = await save(client, content, **query)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["outcomes"][0]["id"])


async def contents(client: httpx.AsyncClient, **query: str) -> list[str]:
    return sorted(
        memory["content"] for memory in (await client.get("/memories", params=query)).json()["memories"]
    )


@for_each("name", ["user", "namespace"])
async def test_a_user_is_nothing_that_a_request_can_name(client: httpx.AsyncClient, name: str) -> None:
    in_query = await client.get("/memories", params={name: "mei"})
    assert problem(in_query) == "422 DataValidationError"
    in_body = await client.post("/memories/recall", json={"query": "茶", name: "mei"})
    assert problem(in_body) == "422 DataValidationError"


async def test_an_app_narrows_what_a_user_sees(logged_in: As) -> None:
    async with logged_in("owner") as mei:
        await saved(mei, "everywhere")
        await saved(mei, "in Word", app="Word")
        await saved(mei, "in Excel", app="Excel")
        assert await contents(mei) == ["everywhere", "in Excel", "in Word"]
        assert await contents(mei, app="Word") == ["everywhere", "in Word"]
        assert (await mei.get("/memory/facets", params={"app": "Word"})).json()["total"] == 2
    async with logged_in("excel") as excel:
        assert await contents(excel) == ["everywhere", "in Excel"]
        assert (await excel.get("/memory/facets")).json()["total"] == 2
        assert await contents(excel, app="Excel") == ["everywhere", "in Excel"]
        for app in ("Word", ""):
            assert problem(await excel.get("/memories", params={"app": app})) == "403 ForbiddenError"
            assert problem(await save(excel, "x", app=app)) == "403 ForbiddenError"


async def test_a_token_reads_and_writes_the_conversations_that_are_shared_with_it_and_clears_none(
    logged_in: As,
) -> None:
    async with logged_in("owner") as mei:
        for name in ("mei%2F1", "wang%2F1"):
            assert (await mei.post(f"/conversations/{name}/messages", json=said("你好"))).status_code == 201
    async with logged_in("wang") as wang:
        listed = (await wang.get("/conversations")).json()["conversations"]
        assert [one["conversation"]["conversationId"] for one in listed] == ["wang/1"]
        assert (await wang.post("/conversations/wang%2F1/messages", json=said("你好"))).status_code == 201
        assert problem(await wang.delete("/conversations/wang%2F1/messages")) == "403 AccessDeniedError"


CHANGES = [operation for operation in OPERATIONS if operation.changes]


@for_each("operation", CHANGES)
async def test_who_may_only_look_changes_nothing(operation: Operation) -> None:
    path = operation.path.replace("{", "").replace("}", "")
    async with api(stacks.testing(), SETTINGS, token=TOKENS["reader"]) as reader:
        answer = await reader.request(operation.method, path, json={})
        assert problem(answer) == "403 ForbiddenError"


async def test_who_may_only_look_counts_no_use(logged_in: As) -> None:
    async with logged_in("owner") as mei:
        memory_id = await saved(mei, "我喜欢绿茶")
    async with logged_in("reader") as reader:
        asked = {"conversationId": "c", "userMessage": "绿茶"}
        context = (await reader.post("/context", json=asked)).json()
        assert context["memoryIds"] == [memory_id]
        assert (await reader.get(f"/memories/{memory_id}")).json()["accessCount"] == 0
        assert (await reader.post("/memory/extract", json={"content": "我喜欢绿茶"})).status_code == 200


async def test_what_a_token_may_do_is_told_to_who_has_it(logged_in: As) -> None:
    told: dict[str, Any] = {}
    for name in ("owner", "excel", "reader"):
        async with logged_in(name) as client:
            told[name] = (await client.get("/settings")).json()
    assert [told[name]["readOnly"] for name in told] == [False, False, True]
    assert told["excel"]["namespace"] == {"user": "mei", "app": "Excel"}
    assert told["owner"]["pastChats"]["enabled"]
    assert told["reader"]["pastChats"] == {"enabled": False, "indexed": False, "place": None}
