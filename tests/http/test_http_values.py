"""Values by key, forgetting by origin, and the end of a session over HTTP, on every stack."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatmemory.settings.memory_settings import ExpirySettings, MemorySettings, Settings, StoreSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api


async def put(client: httpx.AsyncClient, key: str, value: Any, **query: str) -> Any:
    answer = await client.put(f"/values/{key}", json={"value": value}, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def value(client: httpx.AsyncClient, key: str, **query: str) -> Any:
    answer = await client.get(f"/values/{key}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["value"]


async def keys(client: httpx.AsyncClient, **query: str) -> list[str]:
    answer = await client.get("/values", params=query)
    return sorted(memory["key"] for memory in answer.json()["memories"])


async def said_in(client: httpx.AsyncClient, session: str, *contents: str, **fields: Any) -> None:
    memories = [{"content": content, "sessionId": session, **fields} for content in contents]
    assert (await client.post("/memories", json={"memories": memories})).status_code == 201


async def contents(client: httpx.AsyncClient) -> set[str]:
    return {memory["content"] for memory in (await client.get("/memories")).json()["memories"]}


async def test_a_value_is_set_read_replaced_and_deleted(client: httpx.AsyncClient) -> None:
    first = await put(client, "城市%2F1", {"name": "杭州"})
    again = await put(client, "城市%2F1", {"name": "杭州"})
    second = await put(client, "城市%2F1", ["上海", None])
    assert (first["outcome"], again["outcome"]) == ("stored", "duplicate")
    assert second["superseded"] == [first["id"]]
    assert await value(client, "城市%2F1") == ["上海", None]
    deleted = await client.delete("/values/城市%2F1")
    assert deleted.json() == {"deleted": True}
    gone = await client.get("/values/城市%2F1")
    assert (gone.status_code, gone.json()["tag"]) == (404, "ValueNotFoundError")
    assert (await client.delete("/values/城市%2F1")).json() == {"deleted": False}


async def test_an_earlier_value_is_read_as_of_its_time(tmp_path: Path) -> None:
    async with api(stacks.embedded(tmp_path / "a.db")) as client:
        await put(client, "city", "杭州")
        then = datetime.now(UTC).isoformat()
        await put(client, "city", "上海")
        assert await value(client, "city", asOf=then) == "杭州"
        await client.delete("/values/city")
        assert await value(client, "city", asOf=then) == "杭州"
        assert await keys(client) == []
        assert await keys(client, asOf=then) == ["city"]


async def test_a_null_is_a_value(client: httpx.AsyncClient) -> None:
    await put(client, "none", None)
    assert await value(client, "none") is None
    assert await keys(client) == ["none"]


async def test_values_are_listed_by_how_their_keys_begin(client: httpx.AsyncClient) -> None:
    for key in ("tea.green", "tea.black", "coffee"):
        await put(client, key, 1)
    await said_in(client, "s", "no value")
    assert await keys(client) == ["coffee", "tea.black", "tea.green"]
    assert await keys(client, prefix="tea.") == ["tea.black", "tea.green"]
    page = (await client.get("/values", params={"limit": 2})).json()
    rest = (await client.get("/values", params={"limit": 2, "after": page["next"]})).json()
    assert (len(page["memories"]), len(rest["memories"]), rest["next"]) == (2, 1, None)


async def test_each_app_has_values_of_its_own(client: httpx.AsyncClient) -> None:
    await put(client, "theme", "dark", app="editor")
    await put(client, "theme", "light")
    assert await value(client, "theme", app="editor") == "dark"
    assert await value(client, "theme") == "light"
    assert (await client.get("/values/theme", params={"app": "other"})).status_code == 404


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ({"sessionId": "a"}, {"b1"}),
        ({"messageId": "m1"}, {"a2"}),
        ({"sessionId": "a", "messageId": "m1"}, {"a2", "b1"}),
        ({"path": "notes.md"}, {"a1", "a2", "b1"}),
    ],
)
async def test_memories_are_forgotten_by_where_they_come_from(
    client: httpx.AsyncClient, body: dict[str, Any], left: set[str]
) -> None:
    await said_in(client, "a", "a1", provenance={"messageIds": ["m1"]})
    await said_in(client, "a", "a2")
    await said_in(client, "b", "b1", provenance={"messageIds": ["m1"]})
    receipt = (await client.post("/memories/forget", json=body)).json()
    assert await contents(client) == left
    assert receipt["memories"] == 3 - len(left)


async def test_nothing_is_forgotten_where_nothing_is_named(client: httpx.AsyncClient) -> None:
    await said_in(client, "a", "a1")
    for body in ({}, {"sessionId": None}, {"sessionId": ""}, {"path": ""}):
        refused = await client.post("/memories/forget", json=body)
        assert (refused.status_code, refused.json()["tag"]) == (422, "DataValidationError")
    assert await contents(client) == {"a1"}


async def test_all_that_the_token_sees_is_forgotten(client: httpx.AsyncClient) -> None:
    await said_in(client, "a", "a1", "a2")
    receipt = await client.post("/memories/forget-all", json={}, params={"app": "other"})
    assert receipt.json()["memories"] == 2  # of no app, which every app sees
    assert await contents(client) == set()


@for_each(("at_session_end", "left"), [(True, {"long", "other"}), (False, {"long", "other", "short"})])
async def test_the_end_of_a_session_removes_what_the_configuration_says(
    *, at_session_end: bool, left: set[str]
) -> None:
    memory = MemorySettings(
        store=StoreSettings(backend="in_memory"), expiry=ExpirySettings(at_session_end=at_session_end)
    )
    async with api(stacks.configured(Settings(memory=memory))) as client:
        await said_in(client, "s", "short", memoryType="short_term")
        await said_in(client, "s", "long", memoryType="long_term")
        await said_in(client, "t", "other", memoryType="short_term")
        ended = await client.post("/sessions/s/end", json={})
        assert ended.json() == {"removed": 3 - len(left)}
        assert await contents(client) == left
