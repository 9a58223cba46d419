"""The MCP server over streamable HTTP: the same tools, behind the guards of the HTTP API."""

import json
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from chatmemory.settings.server_settings import token_hash
from chatmemory_layers.server.mcp_main import mcp_stack
from tests.forked import run_forked
from tests.http.served import Server, started
from tests.http.test_http_audit import expect_pruning
from tests.integrations.mcp.mcp_clients import (
    command,
    environment,
    refused,
    remember_all,
    store_turn,
    told,
    write_histories,
)

TOKENS = f"""
[server.tokens.ada]
hash = "{token_hash("ada-ada-ada-ada-ada")}"
user = "ada"
conversations = "ada/"
pastChats = true

[server.tokens.eve]
token = "eve-eve-eve-eve-eve"
user = "eve"
readOnly = true
"""
HEAD = ("Host: localhost", "Content-Type: application/json", "Accept: application/json, text/event-stream")
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)


def served(folder: Path, *options: str) -> AbstractContextManager[Server]:
    return started(*command(folder, "--http", "--port", "0", *options))


@asynccontextmanager
async def with_token(url: str, token: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def asked(server: Server, *lines: str, body: bytes = LIST, path: str = "/mcp") -> int | str:
    """Return the status of a request, and the tag of its problem document if it is one."""
    answer = server.asked(f"POST {path} HTTP/1.1", *lines, f"Content-Length: {len(body)}", body=body)
    is_problem = answer.headers["content-type"] == "application/problem+json"
    return answer.problem if is_problem else answer.status


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools_are_the_same_over_http(tmp_path: Path, mode: str) -> None:
    chats = write_histories(tmp_path / "chats", 40)
    with served(tmp_path, "--allow-index", str(chats)) as server:
        async with Client(server.url, mode=mode) as client:
            (memory_id,) = await remember_all(client, ["他喜欢喝龙井茶"])
            found = await told(client, "recall", query="龙井茶")
            await store_turn(client, "c", "嗨", "你好")
            listed = (await client.list_resources()).resources
            (contents,) = (await client.read_resource(listed[0].uri)).contents
            offered = {prompt.name for prompt in (await client.list_prompts()).prompts}
            indexed = await told(client, "index_paths", paths=[str(chats)], format="claude_code")
            problem = await refused(client, "forget", memoryId="none")
        place, _, tag = problem["type"].partition("#")
        page = server.asked(f"GET {place} HTTP/1.1", "Host: localhost").body.decode()
    assert [memory["id"] for memory in found["memories"]] == [memory_id]
    assert "你好" in contents.text
    assert f"chatmemory://memories/{memory_id}" in [one.uri for one in listed]
    assert offered == {"recall_before_task", "what_do_you_know", "save_this"}
    assert indexed["turns"]["new"] == 40
    assert f'id="{tag}"' in page, "a problem names a page where there is one"
    assert "<nav>" not in page


async def test_a_token_decides_whose_memory_it_is(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS, encoding="utf-8")
    with served(tmp_path, "--config", str(tmp_path / "tokens.toml")) as server:
        async with with_token(server.url, "ada-ada-ada-ada-ada") as ada:
            await remember_all(ada, ["Ada's PIN is on the fridge"])
            problem = await refused(
                ada, "store_turn", eventId="1", conversationId="eve/1", userContent="a", assistantContent="b"
            )
        async with with_token(server.url, "eve-eve-eve-eve-eve") as eve:
            found = await told(eve, "recall", query="PIN on the fridge")
            names = {tool.name for tool in (await eve.list_tools()).tools}
        assert asked(server, *HEAD) == "401 UnauthorizedError"
        assert asked(server, *HEAD, "Authorization: Bearer ada") == "401 UnauthorizedError"
        _, log = server.terminated()
    assert problem["tag"] == "AccessDeniedError"
    assert found["memories"] == []
    assert names == {"recall", "search", "list_memories", "get_context"}
    for line in (
        *("chatmemory.mcp remember: answered by ada, ", "chatmemory.mcp recall: answered by eve, "),
        *("POST /mcp 200 by ada ", "POST /mcp 401 by (nobody) ", "wrong token from 127.0.0.1: number 1"),
        "server.tokens.eve.token is in plain text in the configuration",
    ):
        assert line in log
    assert not [token for token in ("ada-ada-ada", "eve-eve-eve") if token in log]


def test_its_guards_are_those_of_the_http_api(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        port = urlsplit(server.url).port
        assert asked(server, *HEAD) == 200
        assert asked(server, "Host: evil.example", *HEAD[1:]) == "421 HostRefusedError"
        assert asked(server, *HEAD, "Origin: http://evil.example") == "403 OriginRefusedError"
        assert asked(server, *HEAD, "Origin: null") == "403 OriginRefusedError"
        assert asked(server, HEAD[0], "Content-Type: text/plain") == "415 UnsupportedMediaTypeError"
        assert asked(server, *HEAD, body=b" " * 2_000_000) == "413 ContentTooLargeError"
        assert asked(server, *HEAD, body=b"[" * 100_000) == 400
        assert asked(server, *HEAD, path="/memories") == "404 NotFoundError"
        assert server.asked("GET /mcp HTTP/1.1", "Host: localhost").problem == "405 MethodNotAllowedError"
        ours = (f"Host: localhost:{port}", *HEAD[1:], f"Origin: http://localhost:{port}")
        assert asked(server, *ours, body=LIST) == 200
        code, log = server.terminated()
    assert code == 0
    assert "Traceback" not in log


def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    ended = run_forked(*command(tmp_path, "--http", "--port", "0", "--host", "0.0.0.0"))
    assert ended.returncode == 7
    assert "token" in ended.stderr
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.parametrize(("days", "kept"), [(90, False), (0, True)])
async def test_what_is_too_old_goes_when_a_server_starts_and_day_by_day(
    tmp_path: Path, days: int, *, kept: bool
) -> None:
    await expect_pruning(mcp_stack, tmp_path / "a.db", days, kept=kept)
