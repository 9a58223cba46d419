"""A process that is killed (kill -9) leaves for each change that was committed its event, and none for any other."""

from collections import defaultdict
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import ManagedRuntime, Success
from chatmemory.events.event import Event
from chatmemory.events.event_log import EventLogTag
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory_layers.embedding.hashed import hashed
from tests.empty_store import empty_store
from tests.reliability.feed import every_change
from tests.reliability.killed import killed_at_random
from tests.reliability.store import chat_store
from tests.reliability.turns import TURNS
from tests.thorough import rounds

KILLS = rounds(1, thorough=6)
LEAVING = {"forgotten", "expired"}


@pytest.fixture(params=["sqlite", "postgres"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "chat.db")
    else:
        async with empty_store() as dsn:
            yield dsn


async def test_each_version_of_a_conversation_has_one_event(address: str) -> None:
    for kill in range(KILLS):
        await killed_at_random("append_for_ever", address, f"run{kill}", "inline", life=range(30, 100))
        async with ManagedRuntime(chat_store(address)) as runtime:
            events = await every_change(address, await runtime.service(EventLogTag))
            memory = await runtime.service(ChatMemoryService)
            versions = defaultdict[str, list[int | None]](list)
            for event in events:
                versions[event.target].append(event.version)
            for conversation_id, told in versions.items():
                conversation = await memory.get_conversation(conversation_id).or_raise()
                assert told == [*range(1, conversation.version + 1)]
        assert any(event.action == "summarized" for event in events)


async def test_each_memory_that_is_there_and_no_other_was_stored_by_an_event(address: str) -> None:
    for kill in range(KILLS):
        user = f"用户{kill}"
        await killed_at_random("remember_for_ever", address, user, life=range(30, 100), writers=len(TURNS))
        async with ManagedRuntime(chat_store(address, embedder=hashed)) as runtime:
            events = await every_change(address, await runtime.service(EventLogTag))
            memory = await runtime.service(LongTermMemoryService)
            assert events
            for (owner, memory_id), told in by_memory(events).items():
                actions = [event.action for event in told]
                assert actions.count("stored") - sum(actions.count(one) for one in LEAVING) in {0, 1}
                namespace = told[-1].owner
                history = await memory.history(namespace, memory_id).or_raise()
                assert [event.number for event in history.events] == [event.number for event in told]
                is_there = isinstance(await memory.get(namespace, memory_id), Success)
                assert is_there is (actions[-1] not in LEAVING), (owner, memory_id, actions)


def by_memory(events: list[Event]) -> dict[tuple[str, str], list[Event]]:
    """Return the events of each memory, in their order."""
    found = defaultdict[tuple[str, str], list[Event]](list)
    for event in events:
        found[event.owner.user, event.target].append(event)
    return found
