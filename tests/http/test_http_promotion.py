"""What contexts use again and again becomes long-term, whoever asks for them, on every stack."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatmemory.settings.memory_settings import (
    MemorySettings,
    PostgresSettings,
    PromotionSettings,
    Settings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory_layers import stacks
from tests.empty_store import empty_store
from tests.http_api import api

SAID = "I never eat peanuts."
QUESTION = "A snack without peanuts, please?"


@pytest.fixture(params=["in_memory", "sqlite", "postgres"])
async def client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of a server that promotes what is used in three sessions."""
    async with AsyncExitStack() as opened:
        dsn = await opened.enter_async_context(empty_store()) if request.param == "postgres" else ""
        store = StoreSettings(
            backend=request.param,
            sqlite=SqliteSettings(path=str(tmp_path / "a.db")),
            postgres=PostgresSettings(dsn=dsn),
        )
        memory = MemorySettings(store=store, promotion=PromotionSettings(after_sessions=3))
        yield await opened.enter_async_context(api(stacks.configured(Settings(memory=memory))))


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
