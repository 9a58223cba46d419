"""How many memories there are, by category, type and source; and the list of what is true no longer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api


async def remember(client: httpx.AsyncClient, *memories: Mapping[str, Any], app: str = "") -> None:
    answer = await client.post("/memories", params={"app": app}, json={"memories": memories, "dedup": "none"})
    assert answer.status_code == 201, answer.text


async def facets(client: httpx.AsyncClient, **filters: str) -> dict[str, Any]:
    answer = await client.get("/memory/facets", params=filters)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return {
        name: value if name == "total" else {one["value"]: one["count"] for one in value}
        for name, value in told.items()
    }


async def some(client: httpx.AsyncClient) -> None:
    await remember(
        client,
        {"id": "a", "content": "Drinks green tea", "category": "preference", "tags": ["food"]},
        {"id": "b", "content": "在北京工作", "category": "fact"},
        {"id": "c", "content": "Ships on Thursdays", "category": "fact", "source": "inferred"},
        {"id": "d", "content": "没有类别", "sessionId": "talk", "memoryType": "short_term"},
    )


async def test_memories_are_counted_by_what_they_are(client: httpx.AsyncClient) -> None:
    await some(client)
    assert await facets(client) == {
        "total": 4,
        "categories": {"fact": 2, None: 1, "preference": 1},
        "memoryTypes": {"long_term": 2, "short_term": 2},
        "sources": {"user_stated": 3, "inferred": 1},
    }


async def test_the_most_frequent_value_comes_first(client: httpx.AsyncClient) -> None:
    await some(client)
    told = (await client.get("/memory/facets")).json()["categories"]
    assert [one["value"] for one in told] == ["fact", None, "preference"]


async def test_a_field_is_counted_under_the_filters_of_the_others(client: httpx.AsyncClient) -> None:
    await some(client)
    assert await facets(client, category="fact", source="inferred") == {
        "total": 1,
        "categories": {"fact": 1},
        "memoryTypes": {"short_term": 1},
        "sources": {"user_stated": 1, "inferred": 1},
    }
    assert (await facets(client, tag="food"))["total"] == 1
    assert (await facets(client, sessionId="talk"))["memoryTypes"] == {"short_term": 1}
    assert await facets(client, sessionId="nowhere") == {
        "total": 0,
        "categories": {},
        "memoryTypes": {},
        "sources": {},
    }


async def test_the_total_is_the_length_of_the_list(client: httpx.AsyncClient) -> None:
    await some(client)
    for filters in ({}, {"category": "fact"}, {"source": "inferred"}, {"superseded": "true"}):
        listed = (await client.get("/memories", params=filters)).json()["memories"]
        assert (await facets(client, **filters))["total"] == len(listed), filters


async def test_what_is_true_no_longer_is_listed_and_counted_when_it_is_asked_for(
    client: httpx.AsyncClient,
) -> None:
    await some(client)
    answer = await client.post("/memories/a/supersede", json={"memory": {"content": "Drinks oolong"}})
    assert answer.status_code == 201
    ended = (await client.get("/memories", params={"superseded": "true"})).json()["memories"]
    assert [memory["id"] for memory in ended] == ["a"]
    assert (await facets(client, superseded="true"))["categories"] == {"preference": 1}
    assert (await facets(client))["total"] == 4
    of_source = (await client.get("/memories", params={"source": "inferred"})).json()["memories"]
    assert [memory["id"] for memory in of_source] == ["c"]


async def test_nobody_counts_what_they_do_not_see(tmp_path: Path) -> None:
    settings = ServerSettings(
        token="the-token-of-all",
        tokens={
            "work": TokenSettings(token="the-token-of-work", user=ServerSettings().user, app="work"),
            "bob": TokenSettings(token="the-token-of-bob", user="bob"),
        },
    )
    async with api(stacks.embedded(tmp_path / "a.db"), settings, token="the-token-of-all") as client:
        await remember(client, {"content": "Drinks green tea"})
        await remember(client, {"content": "Ships on Thursdays"}, app="work")
        await remember(client, {"content": "喜欢爬山"}, app="home")
        totals = {"the-token-of-all": 3, "the-token-of-work": 2, "the-token-of-bob": 0}
        for token, total in totals.items():
            client.headers["Authorization"] = f"Bearer {token}"
            assert (await facets(client))["total"] == total, token


@for_each("filters", [{"source": "gossip"}, {"superseded": "perhaps"}, {"category": "x"}])
async def test_a_filter_that_is_none_is_refused(client: httpx.AsyncClient, filters: dict[str, str]) -> None:
    for path in ("/memories", "/memory/facets"):
        answer = await client.get(path, params=filters)
        assert answer.status_code == 422, answer.text
        assert next(iter(filters)) in answer.json()["detail"]
