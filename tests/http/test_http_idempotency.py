"""A write that is repeated with its ``Idempotency-Key`` happens once, on every stack, and by whatever process."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatmemory.conversation.new_message import NewMessage
from chatmemory.longterm.memories import NewMemory
from chatmemory.programs.operations.made_ids import with_made_ids
from chatmemory.settings.server_settings import ServerSettings, TokenSettings
from chatmemory_layers import stacks
from tests.empty_store import empty_store
from tests.for_each import for_each
from tests.http_api import api

KEY = {"Idempotency-Key": "7b0c1f52-9a9e-4b57-8f0e-0d8a2f6c1e11"}
OTHER = {"Idempotency-Key": "another"}
TOKENS = ServerSettings(
    tokens={
        name: TokenSettings(token=f"a-token-for-{name}", user=name, app="")
        for name in ("mei-mei", "wang-wang")
    }
)
SAID = {"messages": [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "hi"}]}
TURN = {
    "userContent": "今天天气好",
    "assistantContent": "是的",
    "sessionId": "s",
    "dedup": "none",
}
FACTS = {"content": "我喜欢绿茶"}
SAVED: dict[str, Any] = {"memories": [{"content": "我喜欢绿茶"}, {"content": "I work in Berlin"}]}


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def every_client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the API over each stack."""
    match request.param:
        case "in_memory":
            async with api(stacks.testing()) as client:
                yield client
        case "sqlite":
            async with api(stacks.embedded(tmp_path / "记忆.db")) as client:
                yield client
        case _:
            async with empty_store() as dsn, api(stacks.postgres(dsn)) as client:
                yield client


async def write(client: httpx.AsyncClient, path: str, value: Any, headers: dict[str, str]) -> Any:
    answer = await client.post(path, json=value, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_messages_that_are_sent_again_are_not_there_twice(every_client: httpx.AsyncClient) -> None:
    first = await write(every_client, "/conversations/c/messages", SAID, KEY)
    again = await write(every_client, "/conversations/c/messages", SAID, KEY)
    assert (again["stored"], again["duplicates"]) == ([], first["stored"])
    assert again["version"] == first["version"]
    other = await write(every_client, "/conversations/c/messages", SAID, OTHER)
    assert len(other["stored"]) == 2


async def test_a_lost_answer_is_no_conflict_with_its_own_success(every_client: httpx.AsyncClient) -> None:
    await write(every_client, "/conversations/c/messages", SAID, {})
    seen = {"If-Match": (await every_client.get("/conversations/c")).headers["etag"]}
    first = await write(every_client, "/conversations/c/messages", SAID, {**KEY, **seen})
    again = await write(every_client, "/conversations/c/messages", SAID, {**KEY, **seen})
    assert again["duplicates"] == first["stored"]


async def test_memories_that_are_sent_again_are_not_there_twice(every_client: httpx.AsyncClient) -> None:
    saved = {**SAVED, "dedup": "none"}
    first = await write(every_client, "/memories", saved, KEY)
    again = await write(every_client, "/memories", saved, KEY)
    stored = [outcome["id"] for outcome in first["outcomes"]]
    assert [(outcome["outcome"], outcome["of"]) for outcome in again["outcomes"]] == [
        ("duplicate", memory_id) for memory_id in stored
    ]
    assert len((await every_client.get("/memories")).json()["memories"]) == 2


async def test_a_fact_that_is_replaced_again_was_replaced_already(every_client: httpx.AsyncClient) -> None:
    (old,) = (await write(every_client, "/memories", {"memories": [{"content": "我住在北京"}]}, {}))[
        "outcomes"
    ]
    path = f"/memories/{old['id']}/supersede"
    newer = {"memory": {"content": "我住在上海"}}
    first = await write(every_client, path, newer, KEY)
    again = await write(every_client, path, newer, KEY)
    assert again["id"] == first["id"]
    assert len((await every_client.get("/memories")).json()["memories"]) == 1


OTHER_BODIES: list[tuple[str, Any, Any]] = [
    ("/conversations/c/messages", SAID, {"messages": SAID["messages"][:1]}),
    ("/conversations/c/messages", SAID, {"messages": [{"role": "user", "content": "再见"}]}),
    ("/memories", SAVED, {**SAVED, "memories": [*SAVED["memories"], {"content": "我有一只猫"}]}),
    ("/memories", SAVED, {**SAVED, "dedup": "none"}),
    ("/memories/turn", TURN, {**TURN, "sessionId": "另一个"}),
    ("/memories/auto-save", FACTS, {"content": "我住在上海"}),
]


@pytest.mark.parametrize(("path", "first", "other"), OTHER_BODIES, ids=lambda part: str(part)[:40])
async def test_one_key_means_one_body(
    every_client: httpx.AsyncClient, path: str, first: Any, other: Any
) -> None:
    await write(every_client, path, first, KEY)
    refused = await every_client.post(path, json=other, headers=KEY)
    assert (refused.status_code, refused.json()["tag"]) == (422, "IdempotencyKeyReusedError")
    await write(every_client, path, first, KEY)
    await write(every_client, path, other, OTHER)


async def test_a_turn_that_is_sent_again_with_its_key_is_not_there_twice(
    every_client: httpx.AsyncClient,
) -> None:
    first = await write(every_client, "/memories/turn", TURN, KEY)
    again = await write(every_client, "/memories/turn", TURN, KEY)
    assert [outcome["of"] for outcome in again["outcomes"]] == [one["id"] for one in first["outcomes"]]
    assert len((await every_client.get("/memories")).json()["memories"]) == 2


async def test_a_request_that_was_wrong_leaves_its_key_free(every_client: httpx.AsyncClient) -> None:
    wrong = {"messages": [{"role": "user", "content": "nul \0"}]}
    refused = await every_client.post("/conversations/c/messages", json=wrong, headers=KEY)
    assert (refused.status_code, refused.json()["tag"]) == (422, "DataValidationError")
    report = await write(every_client, "/conversations/c/messages", SAID, KEY)
    assert len(report["stored"]) == 2


async def test_the_order_of_names_in_a_body_makes_no_other_request(client: httpx.AsyncClient) -> None:
    said = {"role": "user", "content": "你好", "metadata": {"a": 1, "b": 2}}
    turned = {"metadata": {"b": 2, "a": 1}, "content": "你好", "role": "user"}
    await write(client, "/conversations/c/messages", {"messages": [said]}, KEY)
    again = await write(client, "/conversations/c/messages", {"messages": [turned]}, KEY)
    assert len(again["duplicates"]) == 1


async def test_a_key_belongs_to_who_sends_it(tmp_path: Path) -> None:
    store = stacks.embedded(tmp_path / "a.db")
    for name in ("mei-mei", "wang-wang"):
        async with api(store, TOKENS, token=f"a-token-for-{name}") as client:
            saved = await write(client, "/memories", SAVED, KEY)
            assert [outcome["outcome"] for outcome in saved["outcomes"]] == ["stored", "stored"]


async def test_a_key_belongs_to_its_conversation(every_client: httpx.AsyncClient) -> None:
    for conversation_id in ("一", "二"):
        report = await write(every_client, f"/conversations/{conversation_id}/messages", SAID, KEY)
        assert len(report["stored"]) == 2


async def test_a_repetition_is_recognized_after_the_server_was_started_anew(tmp_path: Path) -> None:
    async with api(stacks.embedded(tmp_path / "a.db")) as client:
        first = await write(client, "/conversations/c/messages", SAID, KEY)
    async with api(stacks.embedded(tmp_path / "a.db")) as client:
        again = await write(client, "/conversations/c/messages", SAID, KEY)
        assert again["duplicates"] == first["stored"]


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
