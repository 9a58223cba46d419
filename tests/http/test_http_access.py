"""Who sees what: tokens, their namespaces and apps, their conversations, and those that may only look."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from chatmemory.programs.http.app import OPERATIONS
from chatmemory.programs.http.operation import Operation
from chatmemory.settings.server_settings import ServerSettings, SharedSettings, TokenSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api

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


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["tag"]


@for_each("operation", OPERATIONS)
async def test_nothing_but_what_is_open_is_answered_without_a_token(operation: Operation) -> None:
    path = operation.path.replace("{", "").replace("}", "")
    async with api(stacks.testing(), SETTINGS) as stranger:
        answer = await stranger.request(operation.method, path, json={})
        if operation.is_open:
            assert answer.status_code != 401
        else:
            assert problem(answer) == (401, "UnauthorizedError")
            assert answer.headers["www-authenticate"].startswith("Bearer")


@for_each(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic b3duZXI6",
        f"Bearer {OWNER}x",
        f"Bearer {OWNER[:-1]}",
        f"Token {OWNER}",
        OWNER,
    ],
)
async def test_whoever_has_no_token_of_the_settings_is_a_stranger(header: str) -> None:
    async with api(stacks.testing(), SETTINGS) as client:
        answer = await client.get("/memories", headers={"Authorization": header})
        assert problem(answer) == (401, "UnauthorizedError")
        assert OWNER not in answer.text


@for_each("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_may_be_written_in_any_case(scheme: str) -> None:
    async with api(stacks.testing(), SETTINGS) as client:
        answer = await client.get("/memories", headers={"Authorization": f"{scheme} {OWNER}"})
        assert answer.status_code == 200


async def test_a_server_without_tokens_knows_one_user(client: httpx.AsyncClient) -> None:
    await saved(client, "绿茶")
    ignored = await client.get("/memories", headers={"Authorization": "Bearer whatever"})
    assert ignored.json()["memories"][0]["namespace"] == {"user": "default", "app": ""}


async def test_nobody_sees_the_memories_of_another_user(logged_in: As) -> None:
    async with logged_in("owner") as mei:
        memory_id = await saved(mei, "我喜欢绿茶")
    async with logged_in("wang") as wang:
        assert await contents(wang) == []
        for method, rest, body in (
            ("GET", "", None),
            ("PATCH", "", {"tags": []}),
            ("DELETE", "", None),
            ("POST", "/promote", {}),
            ("PUT", "/pin", {"pinned": True}),
            ("POST", "/supersede", {"memory": {"content": "x"}}),
        ):
            answer = await wang.request(method, f"/memories/{memory_id}{rest}", json=body)
            assert problem(answer) == (404, "MemoryNotFoundError")
        assert (await wang.post("/memories/recall", json={"query": "绿茶"})).json()["hits"] == []


@for_each("name", ["user", "namespace"])
async def test_a_user_is_nothing_that_a_request_can_name(client: httpx.AsyncClient, name: str) -> None:
    in_query = await client.get("/memories", params={name: "mei"})
    assert problem(in_query) == (422, "DataValidationError")
    in_body = await client.post("/memories/recall", json={"query": "茶", name: "mei"})
    assert problem(in_body) == (422, "DataValidationError")


async def test_an_app_narrows_what_a_user_sees(logged_in: As) -> None:
    async with logged_in("owner") as mei:
        await saved(mei, "everywhere")
        await saved(mei, "in Word", app="Word")
        await saved(mei, "in Excel", app="Excel")
        assert await contents(mei) == ["everywhere", "in Excel", "in Word"]
        assert await contents(mei, app="Word") == ["everywhere", "in Word"]
    async with logged_in("excel") as excel:
        assert await contents(excel) == ["everywhere", "in Excel"]
        assert await contents(excel, app="Excel") == ["everywhere", "in Excel"]
        for app in ("Word", ""):
            assert problem(await excel.get("/memories", params={"app": app})) == (403, "ForbiddenError")
            assert problem(await save(excel, "x", app=app)) == (403, "ForbiddenError")


async def test_a_token_is_for_conversations_of_its_own_and_those_that_are_shared(logged_in: As) -> None:
    said = {"messages": [{"role": "user", "content": "你好"}]}
    async with logged_in("owner") as mei:
        assert (await mei.post("/conversations/mei%2F1/messages", json=said)).status_code == 201
        assert (await mei.post("/conversations/wang%2F1/messages", json=said)).status_code == 201
    async with logged_in("wang") as wang:
        listed = (await wang.get("/conversations")).json()["conversations"]
        assert [one["conversation"]["conversationId"] for one in listed] == ["wang/1"]
        assert (await wang.get("/conversations/wang%2F1")).status_code == 200
        assert (await wang.post("/conversations/wang%2F1/messages", json=said)).status_code == 201
        refused = await wang.delete("/conversations/wang%2F1/messages")
        assert problem(refused) == (403, "AccessDeniedError")
        for method, rest, refusal in (
            ("GET", "", (404, "ConversationNotFoundError")),
            ("GET", "/messages", (404, "ConversationNotFoundError")),
            ("POST", "/messages", (403, "AccessDeniedError")),
            ("DELETE", "/messages", (404, "ConversationNotFoundError")),
            ("GET", "/events", (404, "ConversationNotFoundError")),
            ("GET", "/summaries/m", (404, "SummaryNotFoundError")),
        ):
            answer = await wang.request(method, f"/conversations/mei%2F1{rest}", json=said)
            assert problem(answer) == refusal
        asked = {"conversationId": "mei/1", "userMessage": "hi"}
        context = (await wang.post("/context", json=asked)).json()
        assert [one["content"] for one in context["messages"]] == ["hi"]


CHANGES = [operation for operation in OPERATIONS if operation.changes]


@for_each("operation", CHANGES)
async def test_who_may_only_look_changes_nothing(operation: Operation) -> None:
    path = operation.path.replace("{", "").replace("}", "")
    async with api(stacks.testing(), SETTINGS, token=TOKENS["reader"]) as reader:
        answer = await reader.request(operation.method, path, json={})
        assert problem(answer) == (403, "ForbiddenError")


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
