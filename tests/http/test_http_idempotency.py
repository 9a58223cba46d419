"""A write that is repeated with its ``Idempotency-Key`` happens once: the key decides the ids, and a store keeps each id once."""

from typing import Any

import httpx

from chatmemory.conversation.new_message import NewMessage
from chatmemory.longterm.memories import NewMemory
from chatmemory.programs.operations.made_ids import with_made_ids
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api

KEY = {"Idempotency-Key": "7b0c1f52-9a9e-4b57-8f0e-0d8a2f6c1e11"}
OTHER = {"Idempotency-Key": "another"}


SAID = {"messages": [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "hi"}]}
TURN = {
    "userContent": "今天天气好",
    "assistantContent": "是的",
    "sessionId": "s",
    "dedup": "none",
}
FACTS = {"content": "我喜欢绿茶"}
SAVED: dict[str, Any] = {"memories": [{"content": "我喜欢绿茶"}, {"content": "I work in Berlin"}]}


async def write(client: httpx.AsyncClient, path: str, value: Any, headers: dict[str, str]) -> Any:
    answer = await client.post(path, json=value, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_messages_that_are_sent_again_are_not_there_twice(client: httpx.AsyncClient) -> None:
    first = await write(client, "/conversations/c/messages", SAID, KEY)
    again = await write(client, "/conversations/c/messages", SAID, KEY)
    assert (again["stored"], again["duplicates"]) == ([], first["stored"])
    assert again["version"] == first["version"]
    seen = {"If-Match": (await client.get("/conversations/c")).headers["etag"]}
    for path, headers in (("c", {**OTHER, **seen}), ("另一个", KEY)):  # another key, another conversation
        other = await write(client, f"/conversations/{path}/messages", SAID, headers)
        assert len(other["stored"]) == 2
    lost = await write(client, "/conversations/c/messages", SAID, {**OTHER, **seen})
    assert len(lost["duplicates"]) == 2  # a lost answer is no conflict with its own success


@for_each(("path", "body"), [("/memories", {**SAVED, "dedup": "none"}), ("/memories/turn", TURN)])
async def test_memories_that_are_sent_again_are_not_there_twice(path: str, body: Any) -> None:
    async with api(stacks.testing()) as client:
        first = await write(client, path, body, KEY)
        again = await write(client, path, body, KEY)
        stored = [outcome["id"] for outcome in first["outcomes"]]
        assert [(outcome["outcome"], outcome["of"]) for outcome in again["outcomes"]] == [
            ("duplicate", memory_id) for memory_id in stored
        ]
        assert len((await client.get("/memories")).json()["memories"]) == 2


async def test_a_fact_that_is_replaced_again_was_replaced_already(client: httpx.AsyncClient) -> None:
    saved = await write(client, "/memories", {"memories": [{"content": "我住在北京"}]}, {})
    path = f"/memories/{saved['outcomes'][0]['id']}/supersede"
    first, again = [await write(client, path, {"memory": {"content": "我住在上海"}}, KEY) for _ in range(2)]
    assert again["id"] == first["id"]
    assert len((await client.get("/memories")).json()["memories"]) == 1


OTHER_BODIES: list[tuple[str, Any, Any]] = [
    ("/conversations/c/messages", SAID, {"messages": SAID["messages"][:1]}),
    ("/conversations/c/messages", SAID, {"messages": [{"role": "user", "content": "再见"}]}),
    ("/memories", SAVED, {**SAVED, "memories": [*SAVED["memories"], {"content": "我有一只猫"}]}),
    ("/memories", SAVED, {**SAVED, "dedup": "none"}),
    ("/memories/turn", TURN, {**TURN, "sessionId": "另一个"}),
    ("/memories/auto-save", FACTS, {"content": "我住在上海"}),
]


@for_each(("path", "first", "other"), OTHER_BODIES)
async def test_one_key_means_one_body(path: str, first: Any, other: Any) -> None:
    async with api(stacks.testing()) as client:
        await write(client, path, first, KEY)
        refused = await client.post(path, json=other, headers=KEY)
        assert (refused.status_code, refused.json()["tag"]) == (422, "IdempotencyKeyReusedError")
        await write(client, path, first, KEY)
        await write(client, path, other, OTHER)


async def test_a_request_that_was_wrong_leaves_its_key_free(client: httpx.AsyncClient) -> None:
    wrong = {"messages": [{"role": "user", "content": "nul \0"}]}
    refused = await client.post("/conversations/c/messages", json=wrong, headers=KEY)
    assert (refused.status_code, refused.json()["tag"]) == (422, "DataValidationError")
    report = await write(client, "/conversations/c/messages", SAID, KEY)
    assert len(report["stored"]) == 2


@for_each("key", ["", "a b", "x" * 256, "é"])
async def test_a_key_that_is_none_is_refused(client: httpx.AsyncClient, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode("latin-1"))]
    answer = await client.post("/memories", json=SAVED, headers=headers)
    assert answer.status_code == 422
    assert [problem["path"] for problem in answer.json()["problems"]] == ["$.headers.Idempotency-Key"]


def test_what_has_an_id_keeps_it() -> None:
    drafts = [NewMessage("user", "a", id="m1"), NewMessage("user", "b")]
    named, made = with_made_ids(drafts, "key", "c")
    assert named.id == "m1"
    assert made.id is not None
    assert made.id == with_made_ids(drafts, "key", "c")[1].id
    assert with_made_ids(drafts, None, "c") == tuple(drafts)


def test_keys_and_scopes_that_join_to_the_same_text_stay_apart() -> None:
    draft = [NewMemory("a")]
    ids = {
        with_made_ids(draft, *parts)[0].id for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"))
    }
    assert len(ids) == 4
