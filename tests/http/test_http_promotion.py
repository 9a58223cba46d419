"""What contexts use again and again becomes long-term, whoever asks for them."""

from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from chatmemory.settings.memory_settings import (
    MemorySettings,
    PromotionSettings,
    Settings,
    StoreSettings,
)
from chatmemory_layers import stacks
from tests.http_api import api

SAID = "I never eat peanuts."
QUESTION = "A snack without peanuts, please?"


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    """A client of a server that promotes what is used in three sessions."""
    store = StoreSettings(backend="in_memory")
    memory = MemorySettings(store=store, promotion=PromotionSettings(after_sessions=3))
    async with api(stacks.configured(Settings(memory=memory))) as client:
        yield client


async def turn(client: httpx.AsyncClient, session: str) -> str:
    said = {"userContent": SAID, "assistantContent": "Noted.", "sessionId": session}
    answer = await client.post("/memories/turn", json=said)
    memory_id: str = answer.json()["outcomes"][0]["id"]
    return memory_id


async def context(client: httpx.AsyncClient, session: str, **more: Any) -> list[str]:
    asked = {"conversationId": session, "userMessage": QUESTION, **more}
    answer = await client.post("/context", json=asked)
    assert answer.status_code == 200, answer.text
    ids: list[str] = answer.json()["memoryIds"]
    return ids


async def kind(client: httpx.AsyncClient, memory_id: str) -> str:
    told: str = (await client.get(f"/memories/{memory_id}")).json()["memoryType"]
    return told


async def test_what_is_used_in_enough_sessions_becomes_long_term(client: httpx.AsyncClient) -> None:
    memory_id = await turn(client, "s0")
    for session in ("s0", "s1", "s1", "s2"):
        assert await context(client, session) == []
    assert await context(client, "s3", peek=True) == []
    assert await kind(client, memory_id) == "short_term"
    assert await context(client, "s3") == []
    assert await kind(client, memory_id) == "long_term"
    assert await context(client, "s4") == [memory_id]


async def test_who_asks_for_memories_alone_tells_what_was_shown(client: httpx.AsyncClient) -> None:
    memory_id = await turn(client, "s0")
    shown = {"memoryIds": [], "query": QUESTION}
    for session, promoted in (("s1", []), ("s2", []), ("s3", [memory_id])):
        answer = await client.post("/memories/uses", json={**shown, "sessionId": session})
        assert answer.json() == {"used": 1, "promoted": promoted}


async def test_a_use_that_is_told_twice_counts_once(client: httpx.AsyncClient) -> None:
    memory_id = await turn(client, "s0")
    shown = {"memoryIds": [memory_id], "sessionId": "s1"}
    for _ in range(2):
        await client.post("/memories/uses", json=shown, headers={"Idempotency-Key": "k"})
    assert (await client.get(f"/memories/{memory_id}")).json()["accessCount"] == 1
