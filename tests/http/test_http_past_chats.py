"""Past chats over HTTP: the histories of other tools, listed, read, searched and recalled, and never changed."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http.test_http_schemathesis import index_histories
from tests.http_api import api, problem, wrong_places

REQUESTS = [
    ("GET", "/past-chats", None),
    ("GET", "/past-chats/conversations", None),
    ("GET", "/past-chats/conversations/chatgpt%3Ax", None),
    ("POST", "/past-chats/search", {"query": "锁"}),
    ("POST", "/past-chats/recall", {"query": "锁"}),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the histories that the examples come with."""
    path = tmp_path_factory.mktemp("past") / "past-chats.db"
    index_histories(path)
    return path


@pytest.fixture
async def past(index: Path) -> AsyncGenerator[httpx.AsyncClient]:
    async with api(stacks.testing(), past_chats=index) as client:
        yield client


async def listed(past: httpx.AsyncClient, **parameters: Any) -> list[dict[str, Any]]:
    """Return all conversations, read page by page."""
    conversations: list[dict[str, Any]] = []
    while True:
        page = (await past.get("/past-chats/conversations", params=parameters)).raise_for_status().json()
        conversations += page["conversations"]
        if page["next"] is None:
            return conversations
        parameters["after"] = page["next"]


async def test_what_is_kept_is_counted_listed_last_said_first_and_narrowed(past: httpx.AsyncClient) -> None:
    conversations = await listed(past, limit=5)
    assert conversations == await listed(past)
    counted = (await past.get("/past-chats")).raise_for_status().json()
    assert counted["conversations"] == len(conversations)
    assert counted["prompts"] == sum(counted["byRole"].values()) > 50
    assert counted["byFormat"]["claude_code"] > 0
    times = [each["lastAt"] or "" for each in conversations]
    assert times == sorted(times, reverse=True)
    (chinese,) = [each for each in conversations if each["format"] == "claude_ai"]
    assert chinese["opening"].startswith("我们的文档站 atlas 用 SQLite FTS5 做搜索")
    assert chinese["turns"] == 8
    assert {each["project"] for each in await listed(past, project="Relay")} == {"relay"}
    assert {each["format"] for each in await listed(past, format="aider")} == {"aider"}
    assert await listed(past, format="aider", project="nobody") == []


async def test_every_conversation_is_read_from_its_start_whatever_its_id_holds(
    past: httpx.AsyncClient,
) -> None:
    for each in await listed(past):
        path = f"/past-chats/conversations/{quote(each['conversationId'], safe='')}"
        turns = (await past.get(path, params={"limit": 1000})).raise_for_status().json()["turns"]
        assert len(turns) == each["turns"]
        assert [turn["turnIndex"] for turn in turns] == sorted(turn["turnIndex"] for turn in turns)
        assert {turn["conversationId"] for turn in turns} == {each["conversationId"]}


async def ask(past: httpx.AsyncClient, operation: str, **body: Any) -> Any:
    return (await past.post(f"/past-chats/{operation}", json=body)).raise_for_status().json()


async def test_a_search_says_why_a_turn_is_found_and_is_narrowed_by_time_and_by_words_alone(
    past: httpx.AsyncClient,
) -> None:
    narrowed = {"limit": 3, "roles": ["assistant"], "projects": ["relay"]}
    found = await ask(past, "search", query="webhook retries backoff", **narrowed)
    assert found["mode"] == "hybrid"
    assert 1 <= len(found["hits"]) <= 3
    for hit in found["hits"]:
        assert (hit["prompt"]["role"], hit["prompt"]["project"]) == ("assistant", "relay")
    september = {"since": "2025-09-01T00:00:00Z", "until": "2025-10-01T00:00:00+00:00"}
    found = await ask(past, "search", query="database locked timeout", mode="lexical", limit=200, **september)
    assert found["mode"] == "lexical"
    assert {hit["prompt"]["timestamp"][:7] for hit in found["hits"]} == {"2025-09"}
    found = await ask(past, "search", query="webhook", projects=["rely"])
    assert found["reason"].endswith("; no turn has the project 'rely': did you mean 'relay'?")


async def test_a_recall_is_a_block_within_its_budget_and_what_failed_before_has_names(
    past: httpx.AsyncClient,
) -> None:
    recalled = await ask(past, "recall", query="数据库 database is locked", tokens=400)
    assert "What worked:" in recalled["text"]
    assert 0 < recalled["tokens"] <= 400
    recalled = await ask(past, "recall", query="tally fails in production: database is locked", limit=50)
    failures = [failure for exchange in recalled["exchanges"] for failure in exchange["failures"]]
    assert {frozenset(failure) for failure in failures} == {frozenset({"tried", "report"})}


async def test_an_index_that_nobody_has_made_is_told_from_one_that_is_damaged(tmp_path: Path) -> None:
    index = tmp_path / "past-chats.db"
    async with api(stacks.testing(), past_chats=index) as client:
        for method, path, body in REQUESTS:
            missing = await client.request(method, path, json=body)
            assert problem(missing) == "404 PastChatsNotIndexedError", path
            assert missing.json()["retryIsSafe"] is True
            assert "pastchats-memory index" in missing.json()["detail"]
        index.write_bytes(b"SQLite format 3\0" + bytes(4080))
        for method, path, body in REQUESTS:
            damaged = await client.request(method, path, json=body)
            assert problem(damaged) == "500 GenericMemoryError", path


WRONG: list[tuple[str, object, list[str]]] = [
    ("conversations?limit=0", None, ["$.query.limit"]),
    ("conversations?limit=201", None, ["$.query.limit"]),
    ("conversations?after=yesterday", None, ["$.query.after"]),
    ("conversations?tool=aider", None, ["$.query.tool"]),
    ("conversations/x?newerThan=-2", None, ["$.query.newerThan"]),
    ("conversations/x?newerThan=one", None, ["$.query.newerThan"]),
    (f"conversations/x?newerThan={10**15}", None, ["$.query.newerThan"]),
    ("conversations/x?limit=1001", None, ["$.query.limit"]),
    ("search", {}, ["$.body.query"]),
    ("search", {"query": 7}, ["$.body.query"]),
    ("search", {"query": "x", "mode": "magic", "limit": 201}, ["$.body.limit", "$.body.mode"]),
    ("search", {"query": "x", "roles": ["robot"]}, ["$.body.roles[0]"]),
    ("search", {"query": "x", "since": "2025-01-01T00:00:00"}, ["$.body.since"]),
    ("search", {"query": "x", "until": "yesterday"}, ["$.body.until"]),
]


@for_each(("path", "body", "wrong"), WRONG)
async def test_all_that_is_wrong_with_a_question_is_named(
    past: httpx.AsyncClient, path: str, body: object, wrong: list[str]
) -> None:
    method = "GET" if body is None else "POST"
    refused = await past.request(method, f"/past-chats/{path}", json=body)
    assert sorted(wrong_places(refused)) == wrong


HOSTILE = ["", " ", "\0", "\ud800", '"', "%_'--", "x" * 500_000, "词 " * 100_000]


@for_each("query", HOSTILE)
async def test_text_of_any_kind_is_a_question(past: httpx.AsyncClient, query: str) -> None:
    for path, more in (("search", {"projects": ["\ud800"]}), ("recall", {})):
        asked = json.dumps({"query": query, **more})  # the client itself could not encode half a character
        answer = await past.post(
            f"/past-chats/{path}", content=asked, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 200, answer.text
