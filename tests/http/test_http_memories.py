"""Memories over HTTP, on every stack: save, find, correct, promote, pin and forget."""

from typing import Any
from urllib.parse import quote

import httpx

from tests.for_each import for_each

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


async def test_what_was_saved_is_recalled_with_the_signals_that_found_it(
    client: httpx.AsyncClient,
) -> None:
    memory_id = await save(client, TEA)
    await save(client, "会议在周三下午三点")
    found = (await client.post("/memories/recall", json={"query": "我喜欢喝什么茶?"})).json()
    assert found["mode"] == "hybrid"
    best = found["hits"][0]
    assert best["memory"]["id"] == memory_id
    assert best["signals"]["similarity"] > 0
    assert 0 < best["score"] <= 1
    nothing = await client.post("/memories/recall", json={"query": "茶", "limit": 0})
    assert nothing.json()["hits"] == []


async def test_the_same_again_is_a_duplicate(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA)
    again = await client.post("/memories", json={"memories": [{"content": TEA}]})
    assert again.json()["outcomes"] == [{"of": memory_id, "outcome": "duplicate"}]


async def test_memories_are_listed_by_what_they_are(client: httpx.AsyncClient) -> None:
    await save(client, "a_b 100%", category="fact", tags=["x"], sessionId="会")
    await save(client, "茶", category="preference", memoryType="short_term")
    assert sorted(await listed(client)) == ["a_b 100%", "茶"]
    assert await listed(client, category="fact") == ["a_b 100%"]
    assert await listed(client, memoryType="short_term") == ["茶"]
    assert await listed(client, tag="x", sessionId="会") == ["a_b 100%"]
    assert await listed(client, containing="A_B 100%") == ["a_b 100%"]
    assert await listed(client, containing="a%b") == []
    assert await listed(client, asOf="2000-01-01T00:00:00Z") == []


async def test_a_walk_through_the_list_meets_each_memory_once(client: httpx.AsyncClient) -> None:
    for number in range(5):
        await save(client, f"第{number}条", id=f"m{number}", createdAt="2025-03-14T12:00:00Z")
    met: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = (await client.get("/memories", params=query)).json()
        met += [memory["id"] for memory in page["memories"]]
        if page["next"] is None:
            break
        query["after"] = page["next"]
    assert sorted(met) == [f"m{number}" for number in range(5)]


async def test_a_correction_changes_what_it_names_and_nothing_else(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA, key="饮料", value="绿茶", tags=["tea"])
    changed = await client.patch(at(memory_id), json={"value": "红茶", "key": None})
    assert changed.headers["etag"] == '"2"'
    memory = await read(client, memory_id)
    assert (memory["value"], memory["key"], memory["tags"], memory["content"]) == ("红茶", None, ["tea"], TEA)


async def test_a_stale_correction_is_told_so(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA)
    seen = {"If-Match": (await client.get(at(memory_id))).headers["etag"]}
    assert (await client.patch(at(memory_id), json={"tags": ["a"]}, headers=seen)).status_code == 200
    stale = await client.patch(at(memory_id), json={"tags": ["b"]}, headers=seen)
    assert (stale.status_code, stale.json()["tag"]) == (412, "MemoryChangedError")
    assert (await read(client, memory_id))["tags"] == ["a"]


async def test_a_newer_fact_takes_the_place_of_an_older_one(client: httpx.AsyncClient) -> None:
    old = await save(client, "我住在北京", createdAt="2025-03-14T12:00:00Z")
    moved = await client.post(at(old, "supersede"), json={"memory": {"content": "我住在上海"}})
    assert moved.status_code == 201
    assert await listed(client) == ["我住在上海"]
    assert await listed(client, asOf="2025-04-01T00:00:00Z") == ["我住在北京"]
    assert (await read(client, old))["supersededBy"] == moved.json()["id"]


async def test_a_person_makes_a_memory_long_term(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA, memoryType="short_term")
    question = {"query": "绿茶"}
    assert (await client.post("/memories/recall", json=question)).json()["hits"] == []
    promoted = await client.post(at(memory_id, "promote"), json={})
    assert promoted.json()["memoryType"] == "long_term"
    (hit,) = (await client.post("/memories/recall", json=question)).json()["hits"]
    assert hit["memory"]["id"] == memory_id


async def test_a_memory_is_pinned_and_unpinned(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA)
    for pinned in (True, True, False):
        marked = await client.put(at(memory_id, "pin"), json={"pinned": pinned})
        assert marked.json()["pinned"] is pinned


async def test_a_forgotten_memory_is_gone(client: httpx.AsyncClient) -> None:
    memory_id = await save(client, TEA)
    receipt = (await client.delete(at(memory_id))).json()
    assert (receipt["memories"], receipt["embeddings"]) == (1, 1)
    for method in ("GET", "DELETE"):
        gone = await client.request(method, at(memory_id))
        assert (gone.status_code, gone.json()["tag"]) == (404, "MemoryNotFoundError")
    assert await listed(client) == []


async def test_a_turn_is_two_short_term_memories(client: httpx.AsyncClient) -> None:
    turn = {"userContent": "你好", "assistantContent": "您好！", "sessionId": "会"}
    saved = await client.post("/memories/turn", json=turn)
    assert (saved.status_code, len(saved.json()["outcomes"])) == (201, 2)
    assert sorted(await listed(client, memoryType="short_term")) == ["你好", "您好！"]


async def test_every_fact_of_a_text_is_saved_for_itself(client: httpx.AsyncClient) -> None:
    said = {"content": "我是一名软件工程师，在北京工作", "sessionId": "会", "messageId": "m1"}
    saved = await client.post("/memories/auto-save", json=said)
    assert saved.status_code == 201
    kept = (await client.get("/memories", params={"category": "fact"})).json()["memories"]
    assert {memory["key"]: memory["value"] for memory in kept} == {
        "用户职业": "软件工程师",
        "工作地点": "北京",
    }
    assert all(memory["confidence"] >= 0.9 and memory["source"] == "user_stated" for memory in kept)


@for_each("should_store", [True, False])
async def test_a_memory_update_is_read_as_document_002_writes_it(
    client: httpx.AsyncClient, *, should_store: bool
) -> None:
    update = {"should_store": should_store, "memories": [{"key": "住在", "value": "上海"}]}
    said = {"content": "我搬家了", "memory_update": update}
    answer = await client.post("/memories/auto-save", json=said)
    assert answer.status_code == 201
    assert len(answer.json()["outcomes"]) == should_store


async def test_a_field_that_is_given_by_both_its_names_is_refused(client: httpx.AsyncClient) -> None:
    said = {"content": "我搬家了", "update": {"shouldStore": True, "should_store": False}}
    answer = await client.post("/memories/auto-save", json=said)
    assert [problem["path"] for problem in answer.json()["problems"]] == ["$.body.update.should_store"]


async def test_a_models_update_is_saved_as_it_says(client: httpx.AsyncClient) -> None:
    fact = {"key": "城市", "value": "上海", "category": "fact", "confidence": 0.95}
    said = {"content": "我搬家了", "update": {"shouldStore": True, "memories": [fact]}}
    assert (await client.post("/memories/auto-save", json=said)).status_code == 201
    (memory,) = (await client.get("/memories")).json()["memories"]
    assert (memory["key"], memory["value"]) == ("城市", "上海")


async def test_a_context_holds_memories_and_the_conversation_and_counts_their_use(
    client: httpx.AsyncClient,
) -> None:
    memory_id = await save(client, TEA)
    messages = [{"role": "user", "content": "早"}, {"role": "assistant", "content": "早上好"}]
    await client.post("/conversations/c/messages", json={"messages": messages})
    asked = {
        "conversationId": "c",
        "userMessage": "我喜欢喝什么茶?",
        "instructions": {"system": "be kind"},
    }
    looked_at = (await client.post("/context", json={**asked, "peek": True})).json()
    assert (await read(client, memory_id))["accessCount"] == 0
    context = (await client.post("/context", json=asked)).json()
    assert context["memoryIds"] == looked_at["memoryIds"] == [memory_id]
    assert [message["role"] for message in context["messages"]] == ["system", "user", "assistant", "user"]
    assert TEA in context["messages"][0]["content"]
    assert (await read(client, memory_id))["accessCount"] == 1


@for_each("memory_id", ["recall", "turn", "auto-save"])
async def test_a_memory_may_be_called_as_an_operation_is(client: httpx.AsyncClient, memory_id: str) -> None:
    await save(client, TEA, id=memory_id)
    assert (await read(client, memory_id))["content"] == TEA
    assert (await client.delete(at(memory_id))).status_code == 200


@for_each(
    ("fields", "path"),
    [
        ({"content": " "}, "content"),
        ({"content": "a\0b"}, "content"),
        ({"content": "a", "confidence": 1.5}, "confidence"),
        ({"content": "a", "tags": ["x", "x"]}, "tags"),
        ({"content": "a", "id": ""}, "id"),
        ({"content": "a", "category": "feeling"}, "category"),
    ],
)
async def test_a_memory_that_breaks_a_rule_is_refused_with_its_place(
    client: httpx.AsyncClient, fields: dict[str, Any], path: str
) -> None:
    refused = await client.post("/memories", json={"memories": [{"content": "fine"}, fields]})
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["path"].endswith(f"memories[1].{path}")
    assert await listed(client) == []


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
    assert (unknown.status_code, unknown.json()["tag"]) == (404, "MemoryNotFoundError")
    itself = await client.post(at(first, "restore"), json={"insteadOf": first})
    assert itself.status_code == 422
