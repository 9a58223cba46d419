"""Work that is cancelled at a random moment is done whole or not at all, and the store goes on as if nothing happened."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, closing, suppress
from itertools import count
from pathlib import Path

import anyio
import pytest
from attrs import evolve

from chatmemory import ChatMemory, ManagedRuntime
from tests.patience import PATIENCE_SECONDS
from tests.reliability.numbered import (
    check_batches,
    check_coverage,
    full_view,
    ids_of,
    numbered_batch,
)
from tests.reliability.store import SUMMARIZING, chat_store, finish_history_work, open_store
from tests.thorough import rounds
from tests.unit.postgres.beside import connected

ROUNDS = rounds(4, thorough=30)
WRITERS = 4
MOST_ADDS = 12  # that are acknowledged before a round is cancelled
MOST_TURNS = 20  # of the event loop, from the last of them to the cancellation
MOST_OPENING_SECONDS = 0.02  # of an opening, to its cancellation: any moment of it
POLL_SECONDS = 0.01  # between two looks

# Of those that are not this one.
COUNT_CONNECTIONS = """
SELECT count(*) AS all, count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS in_transaction
FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""

Work = Callable[[], Coroutine[object, object, None]]
Moment = Callable[[], Coroutine[object, object, None]]
Canceller = Callable[[Work, Moment], Coroutine[object, object, None]]


async def cancel_task(work: Work, until: Moment) -> None:
    """Cancel as asyncio does it, twice in a row."""
    task, waiting = asyncio.create_task(work()), asyncio.create_task(until())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    if task.done():  # it failed
        waiting.cancel()
        await task
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def cancel_scope(work: Work, until: Moment) -> None:
    """Cancel as anyio does it: again and again, until the task has left the scope."""
    async with anyio.create_task_group() as group:
        group.start_soon(work)
        await until()
        group.cancel_scope.cancel()


async def so_many(acknowledged: asyncio.Semaphore, times: int) -> None:
    """Wait until something was acknowledged so many *times*, and for some turns of the event loop."""
    for _ in range(times):
        await acknowledged.acquire()
    for _ in range(random.randrange(MOST_TURNS)):
        await asyncio.sleep(0)


@pytest.fixture(params=[cancel_task, cancel_scope])
def cancel(request: pytest.FixtureRequest) -> Canceller:
    return request.param


async def connections(address: str) -> tuple[int, int]:
    """Count the connections that the store has, and those in the middle of a transaction."""
    if address.startswith("postgresql:"):
        async with connected(address) as connection:
            row = await connection.fetchrow(COUNT_CONNECTIONS)
        return row["all"], row["in_transaction"]
    files = [link.resolve() for link in Path("/proc/self/fd").iterdir()].count(Path(address))  # noqa: ASYNC240  no disk
    with closing(sqlite3.connect(address, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return files, 1
    return files, 0


async def becomes(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait until *is_so*: what was cancelled may still be on its way."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await is_so():  # noqa: ASYNC110  threads and servers send no signal
            await asyncio.sleep(POLL_SECONDS)


def own_threads() -> int:
    """Count threads, without those that anyio keeps until the event loop ends: they wait for whoever comes next."""
    return sum(thread.name != "AnyIO worker thread" for thread in threading.enumerate())


@asynccontextmanager
async def nothing_is_left(address: str) -> AsyncGenerator[None]:
    """Assert that the block leaves no task, no thread and no connection behind."""
    tasks, threads = asyncio.all_tasks(), own_threads()
    yield

    async def is_clean() -> bool:
        is_idle = asyncio.all_tasks() <= tasks and own_threads() <= threads
        return is_idle and await connections(address) == (0, 0)

    await becomes(is_clean)


async def cancel_while_adding(memory: ChatMemory, round_: int, cancel: Canceller) -> None:
    """Let writers add to the conversation of the round, and cancel them after some of their adds."""
    acknowledged = asyncio.Semaphore(0)

    async def add_batches(writer: int) -> None:
        for number in count():
            await memory.add_messages(f"round{round_}", numbered_batch(f"writer{writer}", number)).or_raise()
            acknowledged.release()

    async def add_all() -> None:
        async with asyncio.TaskGroup() as writers:
            for writer in range(WRITERS):
                writers.create_task(add_batches(writer))

    await cancel(add_all, lambda: so_many(acknowledged, round_ % MOST_ADDS))


async def assert_usable(memory: ChatMemory, address: str) -> None:
    async def is_unlocked() -> bool:
        return (await connections(address))[1] == 0

    await becomes(is_unlocked)
    async with asyncio.timeout(PATIENCE_SECONDS):
        stored = check_batches(await full_view(memory, "after"))
        await memory.add_messages("after", numbered_batch("after", stored.get("after", 0))).or_raise()


@pytest.mark.parametrize("execution", ["inline", "background"])
async def test_a_cancelled_summary_costs_no_message(address: str, cancel: Canceller, execution: str) -> None:
    strategy = evolve(SUMMARIZING, execution=execution)
    async with nothing_is_left(address), open_store(address, strategy) as memory:
        for round_ in range(ROUNDS):
            await cancel_while_adding(memory, round_, cancel)
            await assert_usable(memory, address)
        assert check_batches(await full_view(memory, "after")) == {"after": ROUNDS}
    await finish_history_work(address)
    summaries = 0
    async with open_store(address) as memory:
        for round_ in range(ROUNDS):
            conversation_id = f"round{round_}"
            stored = check_batches(await full_view(memory, conversation_id))
            if stored:
                summaries += await check_coverage(memory, conversation_id, ids_of(stored))
    assert summaries > 0


async def test_opening_that_is_cancelled_leaves_nothing_open(address: str, cancel: Canceller) -> None:
    async def open_and_add() -> None:
        async with ManagedRuntime(chat_store(address)):
            await anyio.sleep_forever()

    async def until() -> None:
        await asyncio.sleep(random.uniform(0, MOST_OPENING_SECONDS))

    for _ in range(ROUNDS):
        async with nothing_is_left(address):
            await cancel(open_and_add, until)
    async with open_store(address) as memory:
        await assert_usable(memory, address)
