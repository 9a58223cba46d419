"""The HTTP API for tests, in this process and without a socket; ``tests/http/served.py`` has it in one of its own.

async with api(stacks.testing()) as client:
    answer = await client.get("/memories")
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.programs.http.app import application
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.settings.memory_settings import MemorySettings, Settings, StoreSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.settings.server_settings import ServerSettings
from chatmemory_layers.server.facts import server_facts
from chatmemory_layers.server.served_past_chats import served_past_chats

HERE = "http://127.0.0.1:8642"
IN_MEMORY = StoreSettings(backend="in_memory")
NO_INDEX = Path("/nowhere/past-chats.db")


def said(*texts: str) -> dict[str, Any]:
    """Return the body of a request that adds a message of the user for each text."""
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def problem(answer: httpx.Response) -> str:
    """Return the status and the tag of a refused request, as ``served.Answer.problem`` does."""
    return f"{answer.status_code} {answer.json()['tag']}"


def wrong_places(answer: httpx.Response) -> list[str]:
    """Return the paths of the problems of an invalid request."""
    assert problem(answer) == "422 DataValidationError", answer.text
    return [one["path"] for one in answer.json()["problems"]]


@asynccontextmanager
async def api_client(
    stack: Layer[Any, Any], settings: ServerSettings, *, token: str = ""
) -> AsyncGenerator[httpx.AsyncClient]:
    """Give a client of the application over *stack*, which has every service; it sends *token* with every request."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    closing = anyio.Event()
    async with ManagedRuntime(stack) as runtime:
        transport = httpx.ASGITransport(application(runtime, settings, closing=closing))
        async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=headers) as client:
            yield client
        closing.set()


@asynccontextmanager
async def api(
    stack: Layer[Any, Any],
    settings: ServerSettings | None = None,
    *,
    token: str = "",
    past_chats: Path = NO_INDEX,
) -> AsyncGenerator[httpx.AsyncClient]:
    """Give a client of the application over *stack* and the index *past_chats*, which sends *token* with every request."""
    index = PastChatsSettings(path=str(past_chats))
    known = Settings(
        memory=MemorySettings(store=IN_MEMORY, past_chats=index), server=settings or ServerSettings()
    )
    facts = Layer.succeed(ServerFactsTag, server_facts(known))
    async with api_client(stack | served_past_chats(index) | facts, known.server, token=token) as client:
        yield client
