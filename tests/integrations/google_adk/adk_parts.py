"""Events, sessions and questions for memory services of Google ADK."""

from collections.abc import Iterable
from typing import Any

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

APP = "harbor"
USER = "mei"
WHOSE: dict[str, Any] = {"app_name": APP, "user_id": USER}
NOON = 1_780_000_000.25
"""A time with a fraction, 28 May 2026."""


def said(text: str, event_id: str = "", *, author: str = "user", at: float = NOON) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(id=event_id, author=author, content=content, timestamp=at)


def session(
    events: Iterable[Event], session_id: str = "monday", *, app: str = APP, user: str = USER
) -> Session:
    return Session(id=session_id, app_name=app, user_id=user, events=list(events))


def entry(text: str, **fields: Any) -> MemoryEntry:
    return MemoryEntry(content=types.Content(role="user", parts=[types.Part(text=text)]), **fields)


async def add(service: BaseMemoryService, *texts: str, session_id: str = "monday") -> None:
    await service.add_session_to_memory(session([said(text) for text in texts], session_id))


async def found(
    service: BaseMemoryService, query: str, *, app: str = APP, user: str = USER
) -> list[MemoryEntry]:
    response = await service.search_memory(app_name=app, user_id=user, query=query)
    return response.memories


async def texts(service: BaseMemoryService, query: str, *, app: str = APP, user: str = USER) -> list[str]:
    return [text_of(one) for one in await found(service, query, app=app, user=user)]


def text_of(memory: MemoryEntry) -> str:
    return " ".join(part.text for part in memory.content.parts or () if part.text)
