"""What the session service survives: what every adapter does."""

from __future__ import annotations

from typing import ClassVar

import pytest

pytest.importorskip("google.adk.sessions", reason="pip install 'chatmemory-effect[google-adk]'")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.session import Session

from chatmemory.integrations.google_adk import ChatMemorySessionService
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime
from tests.integrations.google_adk.adk_parts import USER, said

PARTS = ("app:last", "user:last", "last")


class TestEndurance(AdapterEndurance):
    """A batch is an event with what it changes of the state, in a session of its writer."""

    program: ClassVar[str] = """
import asyncio, sys
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from chatmemory import ThreadRuntime
from chatmemory.integrations.google_adk import ChatMemorySessionService
from chatmemory_layers.stacks import embedded

service = ChatMemorySessionService(ThreadRuntime(embedded(sys.argv[1])))
name, many = sys.argv[2], int(sys.argv[3])

async def talk():
    session = await service.create_session(app_name=name, user_id="mei", session_id=name)
    for number in range(many):
        delta = {"app:last": number, "user:last": number, "last": number}
        event = Event(author="user", timestamp=number, actions=EventActions(state_delta=delta))
        await service.append_event(session, event)
        print(number, flush=True)

asyncio.run(talk())
"""
    failure: ClassVar[type[Exception]] = RuntimeError

    def adapter(self, runtime: Runtime) -> ChatMemorySessionService:
        return ChatMemorySessionService(runtime)

    async def write(self, adapter: ChatMemorySessionService, name: str, number: int) -> None:
        session = await self.session(adapter, name)
        event = said("x", at=number)
        event.actions = EventActions(state_delta=dict.fromkeys(PARTS, number))
        await adapter.append_event(session, event)

    async def session(self, adapter: ChatMemorySessionService, name: str) -> Session:
        known = {"app_name": name, "user_id": USER, "session_id": name}
        return await adapter.get_session(**known) or await adapter.create_session(**known)

    async def numbers(self, adapter: ChatMemorySessionService, name: str) -> list[int]:
        session = await self.session(adapter, name)
        numbers = [number_of(event) for event in session.events]
        state = dict.fromkeys(PARTS, numbers[-1]) if numbers else {}
        assert session.state == state, "an event and its state are stored together"
        return numbers


def number_of(event: Event) -> int:
    return int(event.actions.state_delta["last"])
