"""Memories over HTTP: the routes, what they answer, and the headers; what memories promise is tested at their service."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from chatmemory.longterm.saving.memory_drafts import LEAST_CONFIDENCE
from chatmemory.settings.memory_settings import (
    ExpirySettings,
    MemorySettings,
    PromotionSettings,
    Settings,
    StoreSettings,
)
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api, problem
from tests.invariants.test_002_memory_extraction import ADVICE, FACT, PREFERENCE

TEA = "我喜欢喝绿茶，不喜欢咖啡"


def at(memory_id: str, *rest: str) -> str:
    return "/".join(["/memories", quote(memory_id, safe=""), *rest])


async def save(client: httpx.AsyncClient, content: str, **fields: Any) -> str:
    answer = await client.post("/memories", json={"memories": [{"content": content, **fields}]})
    assert answer.status_code == 201, answer.text
    (outcome,) = answer.json()["outcomes"]
    assert outcome["outcome"] == "stored"
    return str(outcome["id"])


async def read(client: httpx.AsyncClient, memory_id: str) -> Any:
    answer = await client.get(at(memory_id))
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == f'"{answer.json()["version"]}"'
    return answer.json()


async def listed(client: httpx.AsyncClient, **query: Any) -> list[str]:
    answer = await client.get("/memories", params=query)
    assert answer.status_code == 200, answer.text
    return [memory["content"] for memory in answer.json()["memories"]]


async def test_a_memory_is_saved_as_it_was_given(client: httpx.AsyncClient) -> None:
    given: dict[str, Any] = {
        "id": "记/1",
        "content": TEA,
        "key": "饮料偏好",
        "value": {"喜欢": ["绿茶"], "不喜欢": ["咖啡"], "n": 1.5, "none": None},
        "category": "preference",
        "tags": ["tea", "饮料"],
        "confidence": 0.75,
        "sessionId": "会/1",
        "provenance": {"messageIds": ["m1"], "extractor": "person", "path": None},
        "createdAt": "2025-03-14T12:00:00.123456+00:00",
    }
    await save(client, **given)
    memory = await read(client, "记/1")
    assert {name: memory[name] for name in given} == given
    assert (memory["namespace"], memory["version"]) == ({"user": "default", "app": ""}, 1)
    assert (memory["memoryType"], memory["source"], memory["accessCount"]) == ("long_term", "user_stated", 0)


async def test_what_was_saved_is_recalled_with_the_signals_that_found_it_and_saved_once(
    client: httpx.AsyncClient,
) -> None:
    memory_id = await save(client, TEA)
    again = await client.post("/memories", json={"memories": [{"content": TEA}]})
    assert again.json()["outcomes"] == [{"of": memory_id, "outcome": "duplicate"}]
    found = (await client.post("/memories/recall", json={"query": "我喜欢喝什么茶?"})).json()
    assert found["mode"] == "hybrid"
    (best,) = found["hits"]
    assert best["memory"]["id"] == memory_id
    assert best["signals"]["similarity"] > 0
    assert 0 < best["score"] <= 1
    nothing = await client.post("/memories/recall", json={"query": "茶", "limit": 0})
    assert nothing.json()["hits"] == []


async def test_memories_are_listed_by_what_they_are_and_page_by_page(client: httpx.AsyncClient) -> None:
    await save(client, "a_b 100%", category="fact", tags=["x"], sessionId="会")
    await save(client, "茶", category="preference", memoryType="short_term")
    assert await listed(client, category="fact") == ["a_b 100%"]
    assert await listed(client, memoryType="short_term") == ["茶"]
    assert await listed(client, tag="x", sessionId="会") == ["a_b 100%"]
    assert await listed(client, containing="A_B 100%") == ["a_b 100%"]
    assert await listed(client, asOf="2000-01-01T00:00:00Z") == []
    page = (await client.get("/memories", params={"limit": 1})).json()
    rest = (await client.get("/memories", params={"limit": 1, "after": page["next"]})).json()
    met = [memory["content"] for memory in (*page["memories"], *rest["memories"])]
    assert (sorted(met), rest["next"]) == (sorted(await listed(client)), None)


async def test_a_correction_changes_what_it_names_and_a_stale_one_is_told_so(
    client: httpx.AsyncClient,
) -> None:
    memory_id = await save(client, TEA, key="饮料", value="绿茶", tags=["tea"])
    seen = {"If-Match": (await client.get(at(memory_id))).headers["etag"]}
    changed = await client.patch(at(memory_id), json={"value": "红茶", "key": None}, headers=seen)
    assert changed.headers["etag"] == '"2"'
    memory = await read(client, memory_id)
    assert (memory["value"], memory["key"], memory["tags"], memory["content"]) == ("红茶", None, ["tea"], TEA)
    stale = await client.patch(at(memory_id), json={"tags": ["b"]}, headers=seen)
    assert problem(stale) == "412 MemoryChangedError"
    assert await read(client, memory_id) == memory


async def test_a_memory_is_made_long_term_pinned_unpinned_and_forgotten(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA, memoryType="short_term")
    promoted = await client.post(at(memory_id, "promote"), json={})
    assert promoted.json()["memoryType"] == "long_term"
    for pinned in (True, True, False):
        marked = await client.put(at(memory_id, "pin"), json={"pinned": pinned})
        assert marked.json()["pinned"] is pinned
    receipt = (await client.delete(at(memory_id))).json()
    assert (receipt["memories"], receipt["embeddings"]) == (1, 1)
    for method in ("GET", "DELETE"):
        gone = await client.request(method, at(memory_id))
        assert problem(gone) == "404 MemoryNotFoundError"


async def test_a_memory_update_is_read_as_document_002_writes_it_and_saved_as_it_says(
    client: httpx.AsyncClient,
) -> None:
    async def save_updated(update: str, **should_store: bool) -> Any:
        memories = [
            {"key": "城市", "value": f"{update} {should_store}", "category": "fact", "confidence": 0.95}
        ]
        said = {"content": "我搬家了", update: {**should_store, "memories": memories}}
        answer = await client.post("/memories/auto-save", json=said)
        return answer.json().get("outcomes", answer.json().get("problems"))

    assert await save_updated("memory_update", should_store=False) == []
    assert len(await save_updated("memory_update", should_store=True)) == 1
    assert len(await save_updated("update", shouldStore=True)) == 1
    kept = (await client.get("/memories")).json()["memories"]
    assert {memory["key"] for memory in kept} == {"城市"}
    assert {str(memory["value"]).split()[0] for memory in kept} == {"memory_update", "update"}
    (twice,) = await save_updated("update", shouldStore=True, should_store=False)
    assert twice["path"] == "$.body.update.should_store"


async def test_a_context_counts_the_use_of_its_memories_unless_it_is_a_peek(
    client: httpx.AsyncClient,
) -> None:
    memory_id = await save(client, TEA)
    for peek, used in ((True, 0), (False, 1)):
        asked = {"conversationId": "c", "userMessage": "我喜欢喝什么茶?", "peek": peek}
        context = (await client.post("/context", json=asked)).json()
        assert context["memoryIds"] == [memory_id]
        assert TEA in context["messages"][0]["content"]
        assert (await read(client, memory_id))["accessCount"] == used


@for_each("memory_id", ["recall", "turn", "auto-save"])
async def test_a_memory_may_be_called_as_an_operation_is(client: httpx.AsyncClient, memory_id: str) -> None:
    await save(client, TEA, id=memory_id)
    assert (await read(client, memory_id))["content"] == TEA
    assert (await client.delete(at(memory_id))).status_code == 200


async def test_a_use_that_is_told_twice_counts_once_and_says_what_it_promotes() -> None:
    promotion = PromotionSettings(after_sessions=1)
    memory = MemorySettings(store=StoreSettings(backend="in_memory"), promotion=promotion)
    async with api(stacks.configured(Settings(memory=memory))) as client:
        memory_id = await save(client, "I never eat peanuts.", memoryType="short_term", sessionId="s0")
        asked = {"memoryIds": [], "query": "A snack without peanuts, please?", "sessionId": "s1"}
        use: dict[str, Any] = {"json": asked, "headers": {"Idempotency-Key": "k"}}
        first, _again = [await client.post("/memories/uses", **use) for _ in range(2)]
        assert first.json() == {"used": 1, "promoted": [memory_id]}
        assert (await read(client, memory_id))["accessCount"] == 1


async def test_a_newer_statement_ends_the_older_one_and_is_undone(client: httpx.AsyncClient) -> None:
    first = await save(client, "I live in Hangzhou", attribute="residence")
    said = {"memories": [{"content": "I live in Shanghai now"}], "attributes": "read"}
    answer = await client.post("/memories", json=said)
    (outcome,) = answer.json()["outcomes"]
    assert outcome["retired"] == [{"id": first, "attribute": "residence"}]
    assert await listed(client) == ["I live in Shanghai now"]
    undone = await client.post(at(first, "restore"), json={"insteadOf": outcome["id"]})
    assert (undone.status_code, undone.json()["supersededAt"]) == (200, None)
    assert await listed(client) == ["I live in Hangzhou"]
    unknown = await client.post(at("unknown", "restore"), json={})
    assert problem(unknown) == "404 MemoryNotFoundError"
    itself = await client.post(at(first, "restore"), json={"insteadOf": first})
    assert itself.status_code == 422


# --- Facets ---


async def facets(client: httpx.AsyncClient, **filters: str) -> dict[str, Any]:
    answer = await client.get("/memory/facets", params=filters)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return {
        name: value if name == "total" else {one["value"]: one["count"] for one in value}
        for name, value in told.items()
    }


async def some(client: httpx.AsyncClient) -> None:
    memories = [
        {"id": "a", "content": "Drinks green tea", "category": "preference", "tags": ["food"]},
        {"id": "b", "content": "在北京工作", "category": "fact"},
        {"id": "c", "content": "Ships on Thursdays", "category": "fact", "source": "inferred"},
        {"id": "d", "content": "没有类别", "sessionId": "talk", "memoryType": "short_term"},
    ]
    answer = await client.post("/memories", json={"memories": memories})
    assert answer.status_code == 201, answer.text


async def test_memories_are_counted_by_what_they_are_each_field_under_the_filters_of_the_others(
    client: httpx.AsyncClient,
) -> None:
    await some(client)
    assert await facets(client) == {
        "total": 4,
        "categories": {"fact": 2, None: 1, "preference": 1},
        "memoryTypes": {"long_term": 2, "short_term": 2},
        "sources": {"user_stated": 3, "inferred": 1},
    }
    told = (await client.get("/memory/facets")).json()["categories"]
    assert [one["value"] for one in told] == ["fact", None, "preference"]  # the most frequent comes first
    assert await facets(client, category="fact", source="inferred") == {
        "total": 1,
        "categories": {"fact": 1},
        "memoryTypes": {"short_term": 1},
        "sources": {"user_stated": 1, "inferred": 1},
    }
    assert (await facets(client, tag="food"))["total"] == 1
    assert (await facets(client, sessionId="talk"))["memoryTypes"] == {"short_term": 1}
    nothing = {"total": 0, "categories": {}, "memoryTypes": {}, "sources": {}}
    assert await facets(client, sessionId="nowhere") == nothing


async def test_what_is_true_no_longer_is_listed_and_counted_when_it_is_asked_for(
    client: httpx.AsyncClient,
) -> None:
    await some(client)
    answer = await client.post(at("a", "supersede"), json={"memory": {"content": "Drinks oolong"}})
    assert answer.status_code == 201
    assert (await read(client, "a"))["supersededBy"] == answer.json()["id"]
    assert await listed(client, superseded="true") == ["Drinks green tea"]
    assert (await facets(client, superseded="true"))["categories"] == {"preference": 1}
    assert (await facets(client))["total"] == 4
    assert await listed(client, source="inferred") == ["Ships on Thursdays"]


# --- Values, forgetting by origin, and the end of a session ---


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
    assert problem(gone) == "404 ValueNotFoundError"
    assert (await client.delete("/values/城市%2F1")).json() == {"deleted": False}


async def test_an_earlier_value_is_read_as_of_its_time(tmp_path: Path) -> None:
    async with api(stacks.embedded(tmp_path / "a.db")) as client:
        await put(client, "city", "杭州")
        then = datetime.now(UTC).isoformat()
        await put(client, "city", None)
        assert await value(client, "city") is None  # which is a value
        await client.delete("/values/city")
        assert await value(client, "city", asOf=then) == "杭州"
        assert await keys(client) == []
        assert await keys(client, asOf=then) == ["city"]


async def test_values_are_listed_by_how_their_keys_begin_and_each_app_has_its_own(
    client: httpx.AsyncClient,
) -> None:
    for key in ("tea.green", "tea.black", "coffee"):
        await put(client, key, 1)
    await save(client, "no value", sessionId="s")
    assert await keys(client, prefix="tea.") == ["tea.black", "tea.green"]
    page = (await client.get("/values", params={"limit": 2})).json()
    rest = (await client.get("/values", params={"limit": 2, "after": page["next"]})).json()
    assert (len(page["memories"]), len(rest["memories"]), rest["next"]) == (2, 1, None)
    await put(client, "coffee", 2, app="editor")
    assert await keys(client, app="editor") == ["coffee"]
    assert [await value(client, "coffee", app="editor"), await value(client, "coffee")] == [2, 1]
    assert (await client.get("/values/coffee", params={"app": "other"})).status_code == 404


async def test_memories_are_forgotten_by_where_they_come_from_or_all_that_the_token_sees(
    client: httpx.AsyncClient,
) -> None:
    async def forget(body: dict[str, Any]) -> int:
        return (await client.post("/memories/forget", json=body)).json()["memories"]

    await save(client, "a1", sessionId="a", provenance={"messageIds": ["m1"]})
    await save(client, "a2", sessionId="a")
    await save(client, "b1", sessionId="b", provenance={"messageIds": ["m1"], "path": "notes.md"})
    for body in ({}, {"sessionId": None}, {"sessionId": ""}, {"path": ""}):  # nothing is named
        refused = await client.post("/memories/forget", json=body)
        assert problem(refused) == "422 DataValidationError"
    assert await forget({"path": "no.md"}) == 0
    assert await forget({"sessionId": "a", "messageId": "m1"}) == 1
    assert set(await listed(client)) == {"a2", "b1"}
    assert await forget({"messageId": "m1", "path": "notes.md"}) == 1
    assert set(await listed(client)) == {"a2"}
    receipt = await client.post("/memories/forget-all", json={}, params={"app": "other"})
    assert receipt.json()["memories"] == 1  # of no app, which every app sees
    assert set(await listed(client)) == set()


async def test_the_end_of_a_session_says_how_much_it_removes() -> None:
    expiry = ExpirySettings(at_session_end=True)
    memory = MemorySettings(store=StoreSettings(backend="in_memory"), expiry=expiry)
    async with api(stacks.configured(Settings(memory=memory))) as client:
        for session in "st":
            await save(client, f"of {session}", sessionId=session, memoryType="short_term")
        assert (await client.post("/sessions/s/end", json={})).json() == {"removed": 1}
        assert await listed(client) == ["of t"]


# --- ``POST /memory/extract``, as document 002 requires; its scenarios are those of ``tests/invariants`` ---

MEMBERS = {"key", "value", "category", "confidence", "content", "extractor", "note", "proposals"}


async def extracted(client: httpx.AsyncClient, **message: str) -> Any:
    answer = await client.post("/memory/extract", json=message)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == MEMBERS
    return answer.json()


async def test_an_extraction_is_told_with_its_surest_proposal_and_saves_nothing(
    client: httpx.AsyncClient,
) -> None:
    advised = await extracted(client, content=ADVICE, role="assistant")
    assert advised["key"] == "开发工具推荐"
    found = await extracted(client, content=f"{FACT}。{PREFERENCE}")
    confidences = [one["confidence"] for one in found["proposals"]]
    assert confidences == sorted(confidences, reverse=True)
    assert {"用户职业", "工作地点", "编程语言偏好"} <= {one["key"] for one in found["proposals"]}
    assert (found["key"], found["confidence"]) == (found["proposals"][0]["key"], confidences[0])
    assert (await client.get("/memories")).json()["memories"] == []


@for_each("content", ["好的", "嗯", "ok", "thanks!", "", "   "])
async def test_handle_empty_or_meaningless_content(client: httpx.AsyncClient, content: str) -> None:
    found = await extracted(client, content=content)
    assert found["confidence"] < LEAST_CONFIDENCE
    assert (found["key"], found["value"], found["category"]) == ("", content, "fact")
    assert found["proposals"] == []
