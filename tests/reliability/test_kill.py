"""A process that is killed (kill -9) loses nothing that it has acknowledged, and leaves nothing half done behind."""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import anyio

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    EventLogTag,
    ItemRepositoryTag,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MessageRepositoryTag,
    Namespace,
)
from chatmemory.effect import Success
from chatmemory.events.event import Event
from chatmemory.events.event_log import EventLog, changes
from chatmemory_layers.embedding.local import hashed
from tests.forked import Forked
from tests.patience import PATIENCE_SECONDS
from tests.reliability import rounds_of_items, rounds_of_trees
from tests.reliability.numbered import check_batches, check_coverage, full_view, ids_of
from tests.reliability.programs.write_for_ever import ITEMS, TREES, names
from tests.reliability.store import SUMMARIZING, chat_store, finish_history_work, open_memories
from tests.reliability.turns import TURNS, check_turns, disagreements, of_all
from tests.thorough import rounds
from tests.unit.postgres.beside import connected

LONG_ENOUGH = range(30, 100)  # for a summary in each conversation
WRITERS = sum(map(len, names("").values())) + len(TURNS) + len((ITEMS, *TREES))
LEAVING = {"forgotten", "expired"}
"""The actions after which a memory is not there."""


Acknowledged = Counter[str]
"""What was done, by writer."""


def killed_at_random(address: str, run: str) -> Acknowledged:
    """Run ``write_for_ever``, kill it when each writer has an acknowledgement or later, and return what it acknowledged."""
    program = "tests.reliability.programs.write_for_ever"
    with Forked(sys.executable, "-m", program, address, run) as child:
        lines = [child.stdout.readline() for _ in range(random.choice(LONG_ENOUGH))]
        while len({line.split()[0] for line in lines if line}) < WRITERS and lines[-1]:
            lines.append(child.stdout.readline())
        child.kill()
        lines += child.stdout.read().splitlines()
        assert child.wait() == -9, child.stderr.read()
    acknowledged = Acknowledged()
    for line in filter(None, lines):
        writer, number = line.split()
        assert int(number) == acknowledged[writer]
        acknowledged[writer] += 1
    return acknowledged


async def check_run(memory: ChatMemory, run: str, acknowledged: Acknowledged) -> None:
    """Assert that what is stored of a run is what was acknowledged; a batch on its way may be there too, whole."""
    for conversation_id, writers in names(run).items():
        stored = check_batches(await full_view(memory, conversation_id))
        assert stored.keys() <= set(writers)
        for writer in writers:
            assert stored.get(writer, 0) - acknowledged[writer] in {0, 1}


async def check_summaries(memory: ChatMemory, run: str, acknowledged: Acknowledged) -> None:
    """Assert that the summaries of a run cover each acknowledged message once, and that none is due."""
    summaries = 0
    for conversation_id, writers in names(run).items():
        if ids := ids_of({writer: acknowledged[writer] for writer in writers}):
            summaries += await check_coverage(memory, conversation_id, ids)
            conversation = await memory.get_conversation(conversation_id).or_raise()
            assert conversation.open_count < SUMMARIZING.summarize_every_n
    assert summaries > 0


async def test_a_writer_of_everything_leaves_what_was_acknowledged_and_its_events(address: str) -> None:
    runs: dict[str, Acknowledged] = {}
    for kill in range(rounds(1, thorough=9 if "://" in address else 30)):
        run = f"run{kill}"
        runs[run] = killed_at_random(address, run)
        assert await disagreements(address) == []
        await finish_history_work(address)
        async with ManagedRuntime(chat_store(address)) as runtime:
            events = await every_change(address, await runtime.service(EventLogTag))
            chat = await runtime.service(ChatMemoryService)
            for each, acknowledged in runs.items():
                await check_run(chat, each, acknowledged)
            await check_summaries(chat, run, runs[run])
            await check_versions(chat, run, events)
            await check_memory_events(await runtime.service(LongTermMemoryService), Namespace(run), events)
            items = await runtime.service(ItemRepositoryTag)
            await check_rounds(rounds_of_items, items, f"items-{run}", runs[run][ITEMS], events)
            messages = await runtime.service(MessageRepositoryTag)
            for name in TREES:
                await check_rounds(rounds_of_trees, messages, f"{name}-{run}", runs[run][name], events)
        async with open_memories(address, embedder=hashed) as memory:
            for user, acknowledged in runs.items():
                await check_turns(memory, Namespace(user), acknowledged)


async def check_versions(memory: ChatMemory, run: str, events: Sequence[Event]) -> None:
    """Assert that each version of a conversation has its event, and that no other version has one."""
    for conversation_id in names(run):
        conversation = await memory.get_conversation(conversation_id).or_raise()
        told = [event.version for event in events if event.target == conversation_id]
        assert told == [*range(1, conversation.version + 1)]


async def check_memory_events(memory: LongTermMemory, user: Namespace, events: Sequence[Event]) -> None:
    """Assert that each memory that is there, and no other, was stored by an event and not forgotten by a later one."""
    of_memory = defaultdict[tuple[Namespace, str], list[Event]](list)
    for event in events:
        if event.kind == "memory" and event.owner in {user, of_all(user)}:
            of_memory[event.owner, event.target].append(event)
    assert of_memory
    for (owner, memory_id), told in of_memory.items():
        actions = [event.action for event in told]
        assert actions.count("stored") - sum(actions.count(one) for one in LEAVING) in {0, 1}
        history = await memory.history(owner, memory_id).or_raise()
        assert [event.number for event in history.events] == [event.number for event in told]
        is_there = isinstance(await memory.get(owner, memory_id), Success)
        assert is_there is (actions[-1] not in LEAVING), (owner, memory_id, actions)


async def check_rounds(
    steps: Any, repository: Any, talk: str, acknowledged: int, events: Sequence[Event]
) -> None:
    """Assert that the last round is whole, and that the one on its way is as after one of its steps.

    *steps* is ``rounds_of_items`` or ``rounds_of_trees``.
    """

    async def state(talk: str) -> tuple[list[Any], list[Any]]:
        return await steps.shown(repository, talk), steps.told(events, talk)

    if acknowledged:
        last = f"{talk}-{acknowledged - 1}"
        assert await state(last) == (await states_of_a_round(steps, last))[-1]
    states = await states_of_a_round(steps, f"{talk}-{acknowledged}")
    assert await state(f"{talk}-{acknowledged}") in states
    assert len(states) == len({str(one) for one in states})  # so that each step would be noticed


async def states_of_a_round(steps: Any, talk: str) -> list[tuple[list[Any], list[Any]]]:
    """Return what a store without a disk shows and tells before the round and after each of its steps."""
    async with ManagedRuntime(chat_store("memory")) as runtime:
        tag = ItemRepositoryTag if steps is rounds_of_items else MessageRepositoryTag
        repository: Any = await runtime.service(tag)
        log = await runtime.service(EventLogTag)

        async def state() -> tuple[list[Any], list[Any]]:
            return await steps.shown(repository, talk), steps.told(await every_change("memory", log), talk)

        return [await state(), *[await state() async for _ in steps.steps_of(repository, talk)]]


SNAPSHOT = "pg_current_snapshot()"


async def every_change(address: str, log: EventLog) -> list[Event]:
    """Return the whole feed.

    On PostgreSQL it ends before the oldest transaction that is open anywhere on the server, in a test beside this one too:
    what has been committed by now is there as soon as all are over that had begun before.
    """
    if "://" in address:
        await transactions_are_over(address)
    return await changes(log).run_collect().or_raise()


async def transactions_are_over(dsn: str) -> None:
    """Wait for the end of every transaction of the server that writes now."""
    async with connected(dsn) as connection:
        now = await connection.fetchval(f"SELECT pg_snapshot_xmax({SNAPSHOT})::text")
        with anyio.fail_after(PATIENCE_SECONDS):
            while await connection.fetchval(f"SELECT pg_snapshot_xmin({SNAPSHOT}) < '{now}'::xid8"):  # noqa: ASYNC110  another process ends it
                await anyio.sleep(0.02)
