"""Writers of two processes that change the same conversations, memories and items never wait for each other in a circle."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from attrs import evolve

from chatmemory import (
    ChatMemoryService,
    Failure,
    GenericMemoryError,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
    RepositoryError,
)
from chatmemory_layers.embedding.local import hashed
from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.reliability.store import SUMMARIZING, chat_store
from tests.thorough import rounds
from tests.unit.postgres.beside import run_in

TASKS: Final = 16
EACH: Final = 10
SECONDS: Final = rounds(
    0, thorough=20 * 60
)  # an hour on three Pythons; the operations above are done in any case
NAMES: Final = 5
MEI: Final = Namespace("mei")
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


async def operations(
    runtime: ManagedRuntime[Any], chosen: random.Random
) -> list[Callable[[], Awaitable[Any]]]:
    """Return what a task may do, each with names of its own choice."""
    chat = await runtime.service(ChatMemoryService)
    memory = await runtime.service(LongTermMemoryService)
    items = await runtime.service(ItemRepositoryTag)

    def name() -> str:
        return f"c{chosen.randrange(NAMES)}"

    def branch() -> str:
        return f"{name()}/{chosen.randrange(1_000_000)}"

    def memory_id() -> str:
        return f"i{chosen.randrange(NAMES)}"

    def item() -> ItemName:
        return ItemName(("mei", name()), name())

    def fork_and_change() -> Awaitable[Any]:
        new = branch()
        return chat.fork(name(), new).bind(lambda _: chat.remove_newest(new))

    return [
        lambda: chat.add_messages(name(), [NewMessage("user", "hello")] * chosen.randrange(1, 4)),
        lambda: chat.add_messages(name(), [NewMessage("user", "hello")]),
        lambda: chat.remove_newest(name()),
        lambda: chat.undo(name()),
        lambda: chat.clear_messages(name(), with_branches=chosen.random() < 0.5),
        lambda: chat.fork(name(), branch()),
        fork_and_change,
        lambda: memory.remember(
            MEI, [NewMemory(f"I like {one}", id=one) for one in (memory_id(), memory_id())]
        ),
        lambda: memory.put_value(MEI, name(), chosen.randrange(NAMES)),
        lambda: memory.forget(MEI, memory_id()),
        lambda: items.write((ItemPut(item(), "1"), ItemPut(item(), None)), now=NOW),
    ]


async def test_two_processes_that_write_to_the_same_places_never_wait_in_a_circle() -> None:
    ends, failures = time.monotonic() + SECONDS, list[RepositoryError]()

    async def work(runtime: ManagedRuntime[Any], number: int) -> None:
        chosen = random.Random(number)
        possible = await operations(runtime, chosen)
        done = 0
        while done < EACH or time.monotonic() < ends:
            match await chosen.choice(possible)():
                case Failure(GenericMemoryError(reason)) | Failure(RepositoryError() as reason):
                    failures.append(reason)
            done += 1

    async with fresh_database() as dsn:
        strategy = evolve(SUMMARIZING, delete_summarized_messages=True)
        store = chat_store(dsn, strategy, embedder=hashed)
        async with ManagedRuntime(store) as one, ManagedRuntime(store) as other, asyncio.TaskGroup() as group:
            for number in range(TASKS):
                group.create_task(work(one if number % 2 else other, number))
        found = await run_in(dsn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert (failures, [tuple(row) for row in found]) == ([], [(0,)])
