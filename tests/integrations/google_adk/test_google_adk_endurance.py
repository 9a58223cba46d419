"""What the memory service and the session service survive: what every adapter does, and replacements and removals that are cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import ClassVar, NamedTuple

import pytest

pytest.importorskip("google.adk.memory", reason="pip install 'chatmemory-effect[google-adk]'")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.session import Session

from chatmemory import ManagedRuntime, Namespace
from chatmemory.integrations.google_adk import ChatMemoryMemoryService, ChatMemorySessionService
from chatmemory_layers.stacks import embedded
from tests.integrations.adapter_endurance import PATIENCE_SECONDS, AdapterEndurance, Runtime
from tests.integrations.google_adk.adk_parts import APP, USER, said, session, texts
from tests.integrations.long_term import all_kept

PARTS = ("app:last", "user:last", "last")


class Adapter(NamedTuple):
    """The service, and the runtime through which a test sees all that is stored, not the ten best alone."""

    service: ChatMemoryMemoryService
    runtime: Runtime


class TestMemory(AdapterEndurance):
    """A batch is a delta of three events."""

    failure: ClassVar[type[Exception]] = RuntimeError

    def adapter(self, runtime: Runtime) -> Adapter:
        return Adapter(ChatMemoryMemoryService(runtime), runtime)

    async def write(self, adapter: Adapter, name: str, number: int) -> None:
        now = asyncio.get_running_loop().time()  # which never goes back
        events = [said(f"茶 {number} {part}", at=now) for part in "abc"]
        await adapter.service.add_events_to_memory(app_name=APP, user_id=USER, session_id=name, events=events)

    async def numbers(self, adapter: Adapter, name: str) -> list[int]:
        assert await texts(adapter.service, "茶")
        parts: dict[int, set[str]] = {}
        for memory in reversed(await all_kept(adapter.runtime, Namespace(USER, APP), session_id=name)):
            _, number, part = memory.content.split()
            parts.setdefault(int(number), set()).add(part)
        assert all(each == set("abc") for each in parts.values()), "no batch is torn"
        return list(parts)


class TestSessions(AdapterEndurance):
    """A batch is an event with what it changes of the state, in a session of its writer."""

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


BOTH = [said("green tea", "kept"), said("black tea", "gone")]


async def replace(service: ChatMemoryMemoryService, user: str) -> None:
    await service.add_session_to_memory(session(BOTH[:1], user=user))


async def delete(service: ChatMemoryMemoryService, user: str) -> None:
    await service.delete_memory(app_name=APP, user_id=user, memory_id="gone")


async def forget(service: ChatMemoryMemoryService, user: str) -> None:
    await service.forget_session(app_name=APP, user_id=user, session_id="monday")


@pytest.mark.parametrize(
    ("remove", "step", "left", "left_after_all"),
    [
        (replace, 12, ["green tea"], ["black tea", "green tea"]),
        (delete, 16, ["green tea"], ["green tea"]),
        (forget, 8, [], []),
    ],
)
async def test_a_removal_that_is_cancelled_at_any_moment_has_happened_whole_or_not_at_all(
    tmp_path: Path,
    remove: Callable[[ChatMemoryMemoryService, str], Awaitable[None]],
    step: int,
    left: list[str],
    left_after_all: list[str],
) -> None:
    """What was replaced is unknown again, and comes back with its session; what was deleted does not."""
    cancelled = 0
    async with ManagedRuntime(embedded(tmp_path / "a.db", durability="process")) as runtime:
        service = ChatMemoryMemoryService(runtime)
        for steps in count(step=step):
            user = f"mei {steps}"
            await service.add_session_to_memory(session(BOTH, user=user))
            task = asyncio.ensure_future(remove(service, user))
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                break
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE_SECONDS)
            cancelled += task.cancelled()
            end = sorted(await texts(service, "tea", user=user))
            assert end in (["black tea", "green tea"], left)
            await service.add_session_to_memory(session([said("milk")], user="li"))
            assert sorted(await texts(service, "tea", user=user)) == end, "nothing goes late"
            await service.add_session_to_memory(session(BOTH, user=user))
            after_all = left_after_all if end == left else ["black tea", "green tea"]
            assert sorted(await texts(service, "tea", user=user)) == after_all
    assert cancelled
