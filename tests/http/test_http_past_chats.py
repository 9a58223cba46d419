"""Past chats over HTTP: the histories of other tools, listed, read, searched and recalled, and never changed."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from chatmemory.effect import ManagedRuntime
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.past_chats import IndexRequest
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory_layers import stacks
from chatmemory_layers.stacks.past_chats import indexing
from tests.http.served import served
from tests.http_api import api
from tests.past_chats_command import HISTORIES, Agent

WITH, WITHOUT, ONLY_READS = "with-past-chats-0001", "without-past-chats-01", "only-reads-past-chats"
TOKENS = ServerSettings(
    tokens={
        "with": TokenSettings(token=WITH, user="mei", past_chats=True),
        "without": TokenSettings(token=WITHOUT, user="mei"),
        "reads": TokenSettings(token=ONLY_READS, user="mei", past_chats=True, read_only=True),
    }
)
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
    with ManagedRuntime(indexing(PastChatsSettings(path=str(path)))) as runtime:
        request = IndexRequest(inputs=(str(HISTORIES),))
        runtime.run_sync(PastChatsIndexService.use(lambda past: past.index(request))).unwrap()
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


async def test_what_is_kept_is_counted(past: httpx.AsyncClient) -> None:
    counted = (await past.get("/past-chats")).raise_for_status().json()
    assert counted["conversations"] == len(await listed(past))
    assert counted["prompts"] == sum(counted["byRole"].values()) > 50
    assert counted["byFormat"]["claude_code"] > 0


async def test_conversations_are_listed_last_said_first(past: httpx.AsyncClient) -> None:
    conversations = await listed(past, limit=5)
    assert conversations == await listed(past)
    times = [each["lastAt"] or "" for each in conversations]
    assert times == sorted(times, reverse=True)
    assert "" in times
    (chinese,) = [each for each in conversations if each["format"] == "claude_ai"]
    assert chinese["opening"].startswith("我们的文档站 atlas 用 SQLite FTS5 做搜索")
    assert chinese["turns"] == 8


async def test_the_list_is_narrowed_to_a_project_or_a_format(past: httpx.AsyncClient) -> None:
    assert {each["project"] for each in await listed(past, project="Relay")} == {"relay"}
    assert {each["format"] for each in await listed(past, format="aider")} == {"aider"}
    assert await listed(past, format="aider", project="nobody") == []


async def test_every_conversation_is_read_from_its_start_whatever_its_id_holds(
    past: httpx.AsyncClient,
) -> None:
    for each in await listed(past):
        path = f"/past-chats/conversations/{quote(each['conversationId'], safe='')}"
        turns: list[dict[str, Any]] = []
        newer_than = -1
        while newer_than is not None:
            answer = await past.get(path, params={"limit": 3, "newerThan": newer_than})
            page = answer.raise_for_status().json()
            turns += page["turns"]
            newer_than = page["next"]
        assert len(turns) == each["turns"]
        assert [turn["turnIndex"] for turn in turns] == sorted(turn["turnIndex"] for turn in turns)
        assert {turn["conversationId"] for turn in turns} == {each["conversationId"]}


async def test_a_search_says_why_a_turn_is_found(past: httpx.AsyncClient) -> None:
    question = {"query": "webhook retries backoff", "limit": 3, "roles": ["assistant"], "projects": ["relay"]}
    found = (await past.post("/past-chats/search", json=question)).raise_for_status().json()
    assert found["mode"] == "hybrid"
    assert 1 <= len(found["hits"]) <= 3
    for hit in found["hits"]:
        assert hit["score"] == pytest.approx(sum(hit["signals"].values()))
        assert (hit["prompt"]["role"], hit["prompt"]["project"]) == ("assistant", "relay")


async def test_a_search_is_narrowed_by_time_and_by_words_alone(past: httpx.AsyncClient) -> None:
    september = {"since": "2025-09-01T00:00:00Z", "until": "2025-10-01T00:00:00+00:00"}
    question = {"query": "database locked timeout", "mode": "lexical", "limit": 200, **september}
    found = (await past.post("/past-chats/search", json=question)).raise_for_status().json()
    assert found["mode"] == "lexical"
    assert {hit["prompt"]["timestamp"][:7] for hit in found["hits"]} == {"2025-09"}


async def test_a_recall_is_a_block_within_its_budget(past: httpx.AsyncClient) -> None:
    task = {"query": "数据库 database is locked", "tokens": 400}
    recalled = (await past.post("/past-chats/recall", json=task)).raise_for_status().json()
    assert recalled["text"].startswith("# Memory Recall\n")
    assert "What worked:" in recalled["text"]
    assert 0 < recalled["tokens"] <= 400
    assert recalled["exchanges"][0]["hit"]["prompt"]["content"]


async def test_what_failed_before_has_names(past: httpx.AsyncClient) -> None:
    task = {"query": "tally fails in production: database is locked", "limit": 50}
    recalled = (await past.post("/past-chats/recall", json=task)).raise_for_status().json()
    failures = [failure for exchange in recalled["exchanges"] for failure in exchange["failures"]]
    assert {frozenset(failure) for failure in failures} == {frozenset({"tried", "report"})}


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_an_index_that_nobody_has_made_is_told_from_one_that_is_damaged(
    tmp_path: Path, method: str, path: str, body: object
) -> None:
    index = tmp_path / "past-chats.db"
    async with api(stacks.testing(), past_chats=index) as client:
        missing = await client.request(method, path, json=body)
        assert (missing.status_code, missing.json()["tag"]) == (404, "PastChatsNotIndexedError")
        assert missing.json()["retryIsSafe"] is True
        assert "pastchats-memory index" in missing.json()["detail"]
        index.write_bytes(b"SQLite format 3\0" + bytes(4080))
        damaged = await client.request(method, path, json=body)
        assert (damaged.status_code, damaged.json()["tag"]) == (500, "GenericMemoryError")


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_a_token_that_is_not_for_past_chats_sees_none(
    index: Path, method: str, path: str, body: object
) -> None:
    expected = {WITH: {200, 404}, ONLY_READS: {200, 404}, WITHOUT: {403}}
    for token, statuses in expected.items():
        async with api(stacks.testing(), TOKENS, token=token, past_chats=index) as client:
            answer = await client.request(method, path, json=body)
            assert answer.status_code in statuses
            if answer.status_code != 200:
                assert answer.json()["tag"] == (
                    "ForbiddenError" if token == WITHOUT else "PromptNotFoundError"
                )


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("conversations?limit=0", "$.query.limit"),
        ("conversations?limit=201", "$.query.limit"),
        ("conversations?after=yesterday", "$.query.after"),
        ("conversations?tool=aider", "$.query.tool"),
        ("conversations/x?newerThan=-2", "$.query.newerThan"),
        ("conversations/x?newerThan=one", "$.query.newerThan"),
        ("conversations/x?limit=1001", "$.query.limit"),
    ],
)
async def test_parameters_that_break_a_rule_are_named(past: httpx.AsyncClient, path: str, wrong: str) -> None:
    refused = await past.get(f"/past-chats/{path}")
    assert refused.status_code == 422
    assert [problem["path"] for problem in refused.json()["problems"]] == [wrong]


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, ["$.body.query"]),
        ({"query": 7}, ["$.body.query"]),
        ({"query": "x", "mode": "magic", "limit": 201}, ["$.body.limit", "$.body.mode"]),
        ({"query": "x", "roles": ["robot"]}, ["$.body.roles[0]"]),
        ({"query": "x", "since": "2025-01-01T00:00:00"}, ["$.body.since"]),
        ({"query": "x", "until": "yesterday"}, ["$.body.until"]),
    ],
)
async def test_questions_that_break_rules_are_refused_with_all_of_them(
    past: httpx.AsyncClient, body: object, wrong: list[str]
) -> None:
    refused = await past.post("/past-chats/search", json=body)
    assert refused.status_code == 422
    assert sorted(problem["path"] for problem in refused.json()["problems"]) == wrong


@pytest.mark.parametrize("query", ["", " ", "\0", "\ud800", '"', "%_'--", "x" * 500_000, "词 " * 100_000])
async def test_text_of_any_kind_is_a_question(past: httpx.AsyncClient, query: str) -> None:
    body = json.dumps({"query": query, "projects": ["\ud800"]})
    for path in ("search", "recall"):
        asked = body if path == "search" else json.dumps({"query": query})
        answer = await past.post(
            f"/past-chats/{path}", content=asked, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 200, answer.text


async def test_many_may_ask_at_once(past: httpx.AsyncClient) -> None:
    questions = [past.post("/past-chats/search", json={"query": f"timeout {n}"}) for n in range(30)]
    pages = [past.get("/past-chats/conversations") for _ in range(10)]
    answers = await asyncio.gather(*questions, *pages)
    assert {answer.status_code for answer in answers} == {200}


def test_what_is_indexed_while_the_server_runs_is_there_at_once(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    with served(tmp_path / "memory.db", "--past-chats", str(agent.db)) as server, httpx.Client() as client:
        assert client.get(f"{server.url}past-chats").status_code == 404
        agent.answer(f"pastchats-memory index {HISTORIES / 'claude-ai'}")
        assert client.get(f"{server.url}past-chats").json()["conversations"] == 1
        agent.answer(f"pastchats-memory index {HISTORIES / 'chatgpt'}")
        assert client.get(f"{server.url}past-chats").json()["conversations"] == 3
        found = client.post(f"{server.url}past-chats/search", json={"query": "全文检索 SQLite"}).json()
        assert found["hits"][0]["prompt"]["format"] == "claude_ai"


async def test_a_number_that_no_turn_can_have_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/past-chats/conversations/x", params={"newerThan": 10**15})
    assert answer.status_code == 422
    assert [problem["path"] for problem in answer.json()["problems"]] == ["$.query.newerThan"]
